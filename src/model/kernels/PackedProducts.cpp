#include "model/kernels/PackedProducts.hpp"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/Log.hpp"

namespace stereosweep::model {

namespace {

template <class Signature>
c10::TypedOperatorHandle<Signature> operator_of(const char* name, const char* overload = "") {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

at::Tensor wave(std::int64_t rows, std::int64_t columns, at::ScalarType type) {
  return at::arange(rows * columns, at::TensorOptions(at::kFloat)).sin().view({rows, columns}).to(type);
}

// What `is_right` says of some products; an operator that is missing or refuses this processor throws.
bool try_out(const char* library, const auto& is_right) {
  try {
    if (is_right()) {
      return true;
    }
    base::log(base::LogLevel::warning, std::string(library) + "'s packed products are wrong here and not used");
  } catch (const c10::Error&) {  // the processor or the library has none
  }
  return false;
}

}  // namespace

namespace onednn {

namespace {

using Pack = at::Tensor(const at::Tensor&, std::optional<std::int64_t>);
using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                             c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);
using Binary = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                          std::string_view);

at::Tensor pointwise(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                     std::string_view attribute, std::optional<std::string_view> algorithm) {
  static const auto handle = operator_of<Pointwise>("mkldnn::_linear_pointwise");
  return handle.call(input, packed, bias, attribute, c10::List<std::optional<at::Scalar>>(), algorithm);
}

bool is_right(at::ScalarType type) {
  const auto input = wave(5, 32, type);
  const auto weight = wave(48, 32, type);
  const auto bias = wave(1, 48, type).view({48});
  const auto residual = wave(5, 48, type);
  const auto packed = pack(weight);
  const auto expected = at::linear(input.to(at::kFloat), weight.to(at::kFloat), bias.to(at::kFloat));
  const double tolerance = type == at::kFloat ? 1e-5 : 2e-2;
  return at::allclose(linear(input, packed, bias).to(at::kFloat), expected, tolerance, tolerance) &&
         at::allclose(linear_and_add(input, packed, bias, residual).to(at::kFloat),
                      expected.add(residual.to(at::kFloat)), tolerance, tolerance);
}

}  // namespace

bool works(at::ScalarType type) {
  static const bool in_float32 = try_out("oneDNN", [] { return is_right(at::kFloat); });
  static const bool in_bfloat16 = try_out("oneDNN", [] { return is_right(at::kBFloat16); });
  return type == at::kFloat ? in_float32 : type == at::kBFloat16 && in_bfloat16;
}

at::Tensor pack(const at::Tensor& weight) {
  static const auto handle = operator_of<Pack>("mkldnn::_reorder_linear_weight");
  return handle.call(weight, std::nullopt);
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias) {
  return pointwise(input, packed, bias, "none", std::nullopt);
}

at::Tensor linear_activated(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                            Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return pointwise(input, packed, bias, "gelu", "none");
    case Activation::gelu_tanh:
      return pointwise(input, packed, bias, "gelu", "tanh");
    case Activation::relu:
      return pointwise(input, packed, bias, "relu", std::nullopt);
    case Activation::silu:
    case Activation::clipped_silu:
      break;
  }
  return pointwise(input, packed, bias, "swish", std::nullopt);
}

at::Tensor linear_and_add(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                          const at::Tensor& residual) {
  static const auto handle = operator_of<Binary>("mkldnn::_linear_pointwise", "binary");
  return handle.call(input, residual, packed, bias, "add");
}

}  // namespace onednn

namespace mkl {

namespace {

using Reorder = at::Tensor(const at::Tensor&, std::int64_t);
using Multiply = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                            std::int64_t);

constexpr std::int64_t usual_rows = 512;

// Products of several numbers of rows with the packed weight. MKL promises nothing for a number of rows other than the
// packed one, so every shape is tried on the processor that will use it.
bool is_right(const at::Tensor& weight) {
  const auto packed = pack(weight);
  const auto bias = at::ones({weight.size(0)}, weight.options());
  for (const auto rows : {std::int64_t{1}, std::int64_t{32}, std::int64_t{96}, usual_rows + 32}) {
    const auto input = wave(rows, weight.size(1), at::kFloat);
    const auto expected = at::linear(input, weight, bias);
    const auto error = linear(input, packed, bias, weight.size(0)).sub(expected).abs().max().item().toFloat();
    if (!(error <= 1e-5F * expected.abs().max().item().toFloat())) {
      return false;
    }
  }
  return true;
}

// MKL's wide kernels are for Intel's processors: on a Zen 4 its products reach 60 to 98 GFLOP/s, oneDNN's 105 to 110.
bool made_for_this_processor() {
#if defined(__x86_64__)
  return __builtin_cpu_is("intel") != 0;
#else
  return false;
#endif
}

}  // namespace

bool works(const at::Tensor& weight) {
  if (!made_for_this_processor()) {
    return false;
  }
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, std::int64_t>, bool> tried;
  const std::lock_guard lock(mutex);
  const std::pair shape(weight.size(0), weight.size(1));
  if (!tried.contains(shape)) {
    tried[shape] = try_out("MKL", [&] { return is_right(weight); });
  }
  return tried[shape];
}

at::Tensor pack(const at::Tensor& weight) {
  static const auto handle = operator_of<Reorder>("mkl::_mkl_reorder_linear_weight");
  return handle.call(weight.contiguous(), usual_rows);
}

at::Tensor linear(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias, std::int64_t out) {
  static const auto handle = operator_of<Multiply>("mkl::_mkl_linear");
  // The operator takes the sizes of the product from the plain weight, and its numbers only where the number of rows is
  // not the one given last: a shape without memory does.
  const auto shape = at::empty({1, 1}, input.options()).expand({out, input.size(1)});
  return handle.call(input, packed, shape, bias, input.size(0));
}

}  // namespace mkl

}  // namespace stereosweep::model
