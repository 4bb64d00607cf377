#include "model/Linear.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <utility>

namespace stereosweep::model {

Linear::Linear(at::Tensor weight, at::Tensor bias) : weight_(std::move(weight)), bias_(std::move(bias)) {}

at::Tensor Linear::apply(const at::Tensor& input) const { return at::linear(input, weight_, bias_); }

at::Tensor Linear::apply_activated(const at::Tensor& input, Activation activation) const {
  return activate(apply(input), activation);
}

at::Tensor Linear::apply_and_add(const at::Tensor& input, const at::Tensor& residual) const {
  return apply(input).add_(residual);
}

at::Tensor activate(const at::Tensor& input, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu(input, "none");
    case Activation::gelu_tanh:
      return at::gelu(input, "tanh");
    case Activation::relu:
      break;
  }
  return at::relu(input);
}

}  // namespace stereosweep::model
