#include "model/Linear.hpp"

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include <utility>

#include "model/Kernels.hpp"
#include "model/MklPacked.hpp"
#include "model/OneDnn.hpp"
#include "model/WidenedProducts.hpp"

namespace stereosweep::model {

Linear::Linear(at::Tensor weight, at::Tensor bias, Products products)
    : weight_(std::move(weight)), bias_(std::move(bias)), out_(weight_.size(0)) {
  if (products == Products::plain || kernels_on(weight_.device()) == Kernels::operators) {
    return;
  }
  if (weight_.scalar_type() == at::kFloat && mkl::works(weight_)) {
    weight_ = mkl::pack(weight_);
    form_ = Form::mkl;
  } else if (onednn::works(weight_.scalar_type())) {
    weight_ = onednn::pack(weight_);
    form_ = Form::onednn;
  } else if (weight_.scalar_type() == at::kHalf) {
    form_ = Form::widened;
  }
}

at::Tensor Linear::apply(const at::Tensor& input) const {
  switch (form_) {
    case Form::mkl:
      return mkl::linear(input, weight_, bias_, out_);
    case Form::onednn:
      return onednn::linear(input, weight_, bias_);
    case Form::widened:
      return widened::linear(input, weight_, bias_);
    case Form::plain:
      break;
  }
  return at::linear(input, weight_, bias_);
}

at::Tensor Linear::apply_activated(const at::Tensor& input, Activation activation) const {
  switch (form_) {
    case Form::onednn:
      return onednn::linear_activated(input, weight_, bias_, activation);
    case Form::widened:
      return widened::linear(input, weight_, bias_, [activation](const at::Tensor& sums, std::int64_t, std::int64_t) {
        return activate(sums, activation);
      });
    default:
      return activate(apply(input), activation);
  }
}

at::Tensor Linear::apply_and_add(const at::Tensor& input, const at::Tensor& residual) const {
  switch (form_) {
    case Form::onednn:
      return onednn::linear_and_add(input, weight_, bias_, residual);
    case Form::widened:
      return widened::linear(input, weight_, bias_, [&](const at::Tensor& sums, std::int64_t begin, std::int64_t end) {
        return sums.add(residual.slice(1, begin, end));
      });
    default:
      return apply(input).add_(residual);
  }
}

at::Tensor activate(const at::Tensor& input, Activation activation) {
  switch (activation) {
    case Activation::gelu:
      return at::gelu(input, "none");
    case Activation::gelu_tanh:
      return at::gelu(input, "tanh");
    case Activation::relu:
      return at::relu(input);
    case Activation::silu:
      break;
  }
  return at::silu(input);
}

}  // namespace stereosweep::model
