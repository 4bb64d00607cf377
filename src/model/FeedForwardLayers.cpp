#include "model/FeedForwardLayers.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/Activate.hpp"
#include "model/RowCount.hpp"

namespace stereosweep::model {
namespace {

struct Share {
  std::vector<std::int64_t> rows;
  std::vector<float> weights;
};

// Which rows each expert computes, and what they weigh there.
std::vector<Share> route(const at::Tensor& logits, const Experts& experts) {
  const auto probabilities = at::softmax(logits, -1).to(at::kCPU).contiguous();
  std::vector<Share> shares(static_cast<std::size_t>(experts.count));
  std::vector<std::int64_t> order(static_cast<std::size_t>(experts.count));
  for (std::int64_t row = 0; row < probabilities.size(0); ++row) {
    const float* chances = probabilities.const_data_ptr<float>() + row * experts.count;
    std::iota(order.begin(), order.end(), 0);
    const auto chosen_end = order.begin() + experts.per_token;
    std::partial_sort(order.begin(), chosen_end, order.end(), [&](std::int64_t left, std::int64_t right) {
      return chances[left] != chances[right] ? chances[left] > chances[right] : left < right;
    });
    float sum = 0;
    for (auto expert = order.begin(); expert != chosen_end; ++expert) {
      sum += chances[*expert];
    }
    for (auto expert = order.begin(); expert != chosen_end; ++expert) {
      shares[*expert].rows.push_back(row);
      shares[*expert].weights.push_back(experts.renormalize ? chances[*expert] / sum : chances[*expert]);
    }
  }
  return shares;
}

template <class Number>
at::Tensor tensor_of(const std::vector<Number>& values, std::int64_t size, at::ScalarType type) {
  auto tensor = at::zeros({size}, at::TensorOptions(type));
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<Number>());
  return tensor;
}

}  // namespace

at::Tensor feed_forward(const FeedForward& layer, const CausalSpecification& specification, const at::Tensor& input,
                        const at::Tensor& residual) {
  const auto inner = layer.inner.apply(input);
  const auto active = specification.gated ? activate_gated(inner, specification.activation)
                                          : activate_rows(inner, specification.activation);
  return residual.defined() ? layer.outer.apply_and_add(active, residual) : layer.outer.apply(active);
}

at::Tensor mix_experts(const CausalLayer& layer, const at::Tensor& router, const CausalSpecification& specification,
                       const at::Tensor& input) {
  const auto shares = route(at::linear(input.to(at::kFloat), router), specification.experts);
  const auto device = input.device();
  auto sums = at::zeros(input.sizes(), input.options().dtype(at::kFloat));
  for (std::size_t expert = 0; expert < shares.size(); ++expert) {
    const auto& share = shares[expert];
    const auto count = std::ssize(share.rows);
    if (count == 0) {
      continue;
    }
    const auto size = filled_rows(count, device);
    const auto rows = tensor_of(share.rows, size, at::kLong).to(device);
    const auto weights = tensor_of(share.weights, count, at::kFloat).to(device);
    const auto answers = feed_forward(layer.experts[expert], specification, input.index_select(0, rows), {});
    sums.index_add_(0, rows.slice(0, 0, count), answers.slice(0, 0, count).to(at::kFloat).mul(weights.unsqueeze(1)));
  }
  return sums.to(input.scalar_type());
}

}  // namespace stereosweep::model
