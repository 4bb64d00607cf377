#include "model/WidenedProducts.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>

namespace stereosweep::model::widened {
namespace {

constexpr std::int64_t numbers_at_once = 1 << 20;  // of the weight: 4 MB in float32 stay in the caches
constexpr std::int64_t least_columns = 64;         // fewer make a slow product

}  // namespace

at::Tensor linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias, const Finish& finish) {
  const auto columns = weight.size(0);
  const auto wide = input.to(at::kFloat);
  const auto wide_bias = bias.defined() ? bias.to(at::kFloat) : at::Tensor();
  auto out = at::empty({input.size(0), columns}, input.options());
  const auto step = std::max(least_columns, numbers_at_once / weight.size(1));
  for (std::int64_t begin = 0; begin < columns; begin += step) {
    const auto end = std::min(columns, begin + step);
    auto sums = at::linear(wide, weight.slice(0, begin, end).to(at::kFloat),
                           wide_bias.defined() ? wide_bias.slice(0, begin, end) : wide_bias);
    out.slice(1, begin, end).copy_(finish ? finish(sums, begin, end) : sums);
  }
  return out;
}

}  // namespace stereosweep::model::widened
