#include "model/kernels/Linear.hpp"

#include <ATen/ops/_addmm_activation.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "model/kernels/PackedProducts.hpp"
#include "model/kernels/Tiles.hpp"

namespace stereosweep::model {
namespace {

// Products of float16 matrices on the CPU: the weight stays float16 in memory and is widened to float32 some MB at a
// time, in front of a float32 product. Sums are float32 and are rounded once, at the end.
constexpr std::int64_t numbers_at_once = 1 << 20;  // of the weight: 4 MB in float32 stay in the caches
constexpr std::int64_t least_columns = 64;         // fewer make a slow product
constexpr std::int64_t vocabulary_at_once = 4096;  // columns of logits

constexpr std::int64_t vocabulary_unit = 8;  // rows of a device's output matrix are a multiple of it

/// What happens to columns begin to end of the sums [rows, end - begin] float32 before they are rounded.
using Finish = std::function<at::Tensor(const at::Tensor& sums, std::int64_t begin, std::int64_t end)>;

std::int64_t columns_at_once(const at::Tensor& weight) {
  return std::max(least_columns, numbers_at_once / weight.size(1));
}

// finish(x W^T + b) in the dtype of `input`, `step` columns at a time; bias may be undefined, `finish` null.
at::Tensor multiply_widened(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                            std::int64_t step, const Finish& finish = nullptr) {
  const auto columns = weight.size(0);
  const auto wide = input.to(at::kFloat);
  const auto wide_bias = bias.defined() ? bias.to(at::kFloat) : at::Tensor();
  auto out = at::empty({input.size(0), columns}, input.options());
  for (std::int64_t begin = 0; begin < columns; begin += step) {
    const auto end = std::min(columns, begin + step);
    auto sums = at::linear(wide, weight.slice(0, begin, end).to(at::kFloat),
                           wide_bias.defined() ? wide_bias.slice(0, begin, end) : wide_bias);
    out.slice(1, begin, end).copy_(finish ? finish(sums, begin, end) : sums);
  }
  return out;
}

// Whether torch's product with a bias can end with it. Its GELU is the one with tanh on a device, and the other one on
// the CPU.
bool ends_products(Activation activation, const at::Device& device) {
  return activation == Activation::relu || (activation == Activation::gelu_tanh && !device.is_cpu());
}

}  // namespace

Linear::Linear(at::Tensor weight, at::Tensor bias, Products products)
    : weight_(std::move(weight)), bias_(std::move(bias)), out_(weight_.size(0)) {
  if (kernels_on(weight_.device()) == Kernels::operators) {
    form_ = Form::operators;
    turned_ = weight_.t();
    if (out_ % 2 == 0) {
      halves_ = weight_.unflatten(0, {2, -1}).transpose(1, 2);
    }
    return;
  }
  if (products == Products::plain) {
    return;
  }
  if (weight_.scalar_type() == at::kFloat && mkl::works(weight_)) {
    weight_ = mkl::pack(weight_);
    form_ = Form::mkl;
  } else if (products == Products::few_rows && weight_.scalar_type() == at::kBFloat16 &&
             tiles::take_rounded(weight_.size(1))) {
    weight_ = tiles::pack(weight_);
    bias_ = bias_.defined() ? bias_.to(at::kFloat) : at::zeros({out_}, at::TensorOptions(at::kFloat));
    form_ = Form::tiles;
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
    case Form::tiles:
      return tiles::multiply_rounded(input, weight_, bias_, {});
    case Form::widened:
      return multiply_widened(input, weight_, bias_, columns_at_once(weight_));
    case Form::operators:  // as at::linear does it, which looks for other ways first
      return bias_.defined() ? at::addmm(bias_, input, turned_) : at::mm(input, turned_);
    case Form::plain:
      break;
  }
  return at::linear(input, weight_, bias_);
}

at::Tensor Linear::apply_in_halves(const at::Tensor& input) const {
  if (form_ != Form::operators || bias_.defined()) {
    return apply(input).unflatten(1, {2, -1}).transpose(0, 1);
  }
  return at::bmm(input.expand({2, -1, -1}), halves_);
}

at::Tensor Linear::apply_activated(const at::Tensor& input, Activation activation) const {
  switch (form_) {
    case Form::onednn:
      return onednn::linear_activated(input, weight_, bias_, activation);
    case Form::tiles:
      return activate(tiles::multiply(input, weight_, bias_), activation).to(input.scalar_type());
    case Form::widened:
      return multiply_widened(
          input, weight_, bias_, columns_at_once(weight_),
          [activation](const at::Tensor& sums, std::int64_t, std::int64_t) { return activate(sums, activation); });
    case Form::operators:
      if (bias_.defined() && ends_products(activation, input.device())) {
        return at::_addmm_activation(bias_, input, turned_, 1, 1, activation == Activation::gelu_tanh);
      }
      [[fallthrough]];
    default:
      return activate(apply(input), activation);
  }
}

at::Tensor Linear::apply_and_add(const at::Tensor& input, const at::Tensor& residual) const {
  switch (form_) {
    case Form::onednn:
      return onednn::linear_and_add(input, weight_, bias_, residual);
    case Form::tiles:
      return tiles::multiply_rounded(input, weight_, bias_, residual);
    case Form::widened:
      return multiply_widened(input, weight_, bias_, columns_at_once(weight_),
                              [&](const at::Tensor& sums, std::int64_t begin, std::int64_t end) {
                                return sums.add(residual.slice(1, begin, end));
                              });
    case Form::operators:
      // A product either adds a bias or adds to what is there, not both.
      return bias_.defined() ? residual.add_(apply(input)) : residual.addmm_(input, turned_);
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
    case Activation::clipped_silu:
      break;
  }
  return at::silu(input);
}

OutputProjection::OutputProjection(const at::Tensor& weight, at::Tensor bias, Products products)
    : vocabulary_(weight.size(0)), bias_(std::move(bias)) {
  if (weight.scalar_type() == at::kFloat) {
    linear_ = Linear(weight, bias_, products);
  } else if (weight.scalar_type() == at::kBFloat16 && products == Products::fastest &&
             kernels_on(weight.device()) == Kernels::own_kernels && tiles::take(weight.size(1))) {
    weight_ = tiles::pack(weight);
    form_ = Form::tiles;
  } else {
    const auto missing = (vocabulary_unit - vocabulary_ % vocabulary_unit) % vocabulary_unit;
    weight_ = weight.is_cpu() || missing == 0 ? weight : at::constant_pad_nd(weight, {0, 0, 0, missing});
    form_ = Form::rounded_operands;
  }
}

at::Tensor OutputProjection::apply(const at::Tensor& input) const {
  if (form_ == Form::float32) {
    return linear_.apply(input);
  }
  const auto rounded = input.to(weight_.scalar_type());
  if (form_ == Form::tiles) {
    return tiles::multiply(rounded, weight_, bias_);
  }
  if (!weight_.is_cpu()) {
    auto logits = at::mm(rounded, weight_.t(), at::kFloat).narrow(1, 0, vocabulary_);
    if (!bias_.defined()) {
      return logits;
    }
    return logits.is_contiguous() ? logits.add_(bias_) : logits.add(bias_);  // contiguous: topk copies other matrices
  }
  // For float16, and for processors and widths that have no bfloat16 products with float32 answers.
  return multiply_widened(rounded.to(at::kFloat), weight_, bias_, vocabulary_at_once);
}

void OutputProjection::share(at::Tensor& words) const {
  if (form_ == Form::rounded_operands) {
    words = weight_.narrow(0, 0, vocabulary_);
  }
}

}  // namespace stereosweep::model
