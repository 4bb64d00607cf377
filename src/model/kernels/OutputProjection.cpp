#include "model/kernels/OutputProjection.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <utility>

#include "model/kernels/Kernels.hpp"
#include "model/kernels/Tiles.hpp"

namespace stereosweep::model {

namespace {

constexpr std::int64_t rows_at_once = 4096;  // of the weight, widened to float32

// For float16, and for processors and widths that have no bfloat16 products with float32 answers.
at::Tensor project_widened(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
  const auto wide = input.to(at::kFloat);
  auto out = at::empty({input.size(0), weight.size(0)}, wide.options());
  for (std::int64_t begin = 0; begin < weight.size(0); begin += rows_at_once) {
    const auto end = std::min(weight.size(0), begin + rows_at_once);
    out.slice(1, begin, end)
        .copy_(at::linear(wide, weight.slice(0, begin, end).to(at::kFloat), bias.slice(0, begin, end)));
  }
  return out;
}

}  // namespace

OutputProjection::OutputProjection(const at::Tensor& weight, at::Tensor bias, Products products)
    : bias_(std::move(bias)) {
  if (weight.scalar_type() == at::kFloat) {
    linear_ = Linear(weight, bias_, products);
  } else if (weight.scalar_type() == at::kBFloat16 && products == Products::fastest &&
             kernels_on(weight.device()) == Kernels::own_kernels && tiles::take(weight.size(1))) {
    weight_ = tiles::pack(weight);
    form_ = Form::tiles;
  } else {
    weight_ = weight;
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
  if (weight_.is_cuda()) {
    return at::mm(rounded, weight_.t(), at::kFloat).add_(bias_);
  }
  return project_widened(rounded, weight_, bias_);
}

}  // namespace stereosweep::model
