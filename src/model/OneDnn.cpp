#include "model/OneDnn.hpp"

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/sin.h>

#include <optional>
#include <string_view>

#include "base/Log.hpp"

namespace stereosweep::model::onednn {
namespace {

using Pack = at::Tensor(const at::Tensor&, std::optional<std::int64_t>);
using Pointwise = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&, std::string_view,
                             c10::List<std::optional<at::Scalar>>, std::optional<std::string_view>);
using Binary = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                          std::string_view);

template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).typed<Signature>();
}

at::Tensor pointwise(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                     std::string_view attribute, std::optional<std::string_view> algorithm) {
  static const auto handle = find<Pointwise>("mkldnn::_linear_pointwise", "");
  return handle.call(input, packed, bias, attribute, c10::List<std::optional<at::Scalar>>(), algorithm);
}

// A small product, right or not; an operator that is missing or refuses this processor throws.
bool try_out(at::ScalarType type) {
  const auto wave = [&](std::int64_t rows, std::int64_t columns) {
    return at::arange(rows * columns, at::TensorOptions(at::kFloat)).sin().view({rows, columns}).to(type);
  };
  try {
    const auto input = wave(5, 32);
    const auto weight = wave(48, 32);
    const auto bias = wave(1, 48).view({48});
    const auto residual = wave(5, 48);
    const auto packed = pack(weight);
    const auto expected = at::linear(input.to(at::kFloat), weight.to(at::kFloat), bias.to(at::kFloat));
    const double tolerance = type == at::kFloat ? 1e-5 : 2e-2;
    return at::allclose(linear(input, packed, bias).to(at::kFloat), expected, tolerance, tolerance) &&
           at::allclose(linear_and_add(input, packed, bias, residual).to(at::kFloat),
                        expected.add(residual.to(at::kFloat)), tolerance, tolerance);
  } catch (const c10::Error& error) {
    base::log(base::LogLevel::debug, std::string("prepacked products are not used: ") + error.what_without_backtrace());
    return false;
  }
}

}  // namespace

bool works(at::ScalarType type) {
  static const bool in_float32 = try_out(at::kFloat);
  static const bool in_bfloat16 = try_out(at::kBFloat16);
  return type == at::kFloat ? in_float32 : type == at::kBFloat16 && in_bfloat16;
}

at::Tensor pack(const at::Tensor& weight) {
  static const auto handle = find<Pack>("mkldnn::_reorder_linear_weight", "");
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
      break;
  }
  return pointwise(input, packed, bias, "swish", std::nullopt);
}

at::Tensor linear_and_add(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                          const at::Tensor& residual) {
  static const auto handle = find<Binary>("mkldnn::_linear_pointwise", "binary");
  return handle.call(input, residual, packed, bias, "add");
}

}  // namespace stereosweep::model::onednn
