#include "model/MklPacked.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sin.h>

#include <optional>
#include <string>

#include "base/Log.hpp"

namespace stereosweep::model::mkl {
namespace {

using Pack = at::Tensor(const at::Tensor&, std::int64_t);
using Multiply = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                            std::int64_t);

constexpr std::int64_t usual_rows = 512;  // a hint to MKL: the order of the weight is the same for other numbers

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

// Products of several numbers of rows with one packed weight, right or not.
bool try_out() {
  const auto wave = [](std::int64_t rows, std::int64_t columns) {
    return at::arange(rows * columns, at::TensorOptions(at::kFloat)).sin().view({rows, columns});
  };
  try {
    const auto weight = wave(48, 32);
    const auto bias = wave(1, 48).view({48});
    const auto packed = pack(weight);
    for (const auto rows : {std::int64_t{1}, std::int64_t{5}, std::int64_t{64}, usual_rows + 32}) {
      const auto input = wave(rows, 32);
      if (!at::allclose(linear(input, packed, bias), at::linear(input, weight, bias), 1e-5, 1e-5)) {
        return false;
      }
    }
    return true;
  } catch (const c10::Error& error) {
    base::log(base::LogLevel::debug,
              std::string("MKL's packed products are not used: ") + error.what_without_backtrace());
    return false;
  }
}

}  // namespace

bool works() {
  static const bool tried = try_out();
  return tried;
}

at::Tensor pack(const at::Tensor& weight) {
  static const auto handle = find<Pack>("mkl::_mkl_reorder_linear_weight");
  return handle.call(weight.contiguous(), usual_rows);
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias) {
  static const auto handle = find<Multiply>("mkl::_mkl_linear");
  // The operator takes the sizes of the product from the plain weight, and its numbers only where the number of rows is
  // not the one given last: a shape without memory does.
  const auto shape = at::empty({1, 1}, input.options()).expand({bias.size(0), input.size(1)});
  return handle.call(input, packed, shape, bias, input.size(0));
}

}  // namespace stereosweep::model::mkl
