#include "model/FeedForwardLayers.hpp"

#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/Activate.hpp"
#include "model/Kernels.hpp"
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

namespace {

// The same as `route` where the numbers are. A pair is a row with one of its experts; a row's pairs stand in the order
// of their experts.
struct Pairs {
  at::Tensor rows;                   // [pairs] sorted by expert, then row
  std::vector<std::int64_t> counts;  // of each expert
  at::Tensor places;                 // [rows, per_token] where a row's pairs stand in `rows`
  at::Tensor weights;                // [rows, per_token] float32
};

Pairs pair_up(const at::Tensor& logits, const Experts& experts) {
  // Stable: of equal chances the lower number comes first.
  const auto [chances, numbers] = at::sort(at::softmax(logits, -1), /*stable=*/true, -1, /*descending=*/true);
  const auto [chosen, order] = at::sort(numbers.slice(1, 0, experts.per_token), /*stable=*/true, 1, false);
  const auto few = chances.slice(1, 0, experts.per_token);
  Pairs pairs;
  pairs.weights = (experts.renormalize ? few.div(few.sum(1, true)) : few).gather(1, order);
  const auto by_expert = at::argsort(chosen.flatten(), /*stable=*/true, 0, false);
  pairs.rows = by_expert.div(experts.per_token, "floor");
  pairs.places = at::argsort(by_expert, /*stable=*/true, 0, false).view({-1, experts.per_token});
  const auto each = at::arange(experts.count, chosen.options()).unsqueeze(1);
  const auto counts = chosen.flatten().unsqueeze(0).eq(each).sum(1).to(at::kCPU);
  pairs.counts.assign(counts.const_data_ptr<std::int64_t>(), counts.const_data_ptr<std::int64_t>() + experts.count);
  return pairs;
}

// No row waits for the host; a layer does once, for the numbers of rows.
at::Tensor mix_with_operators(const CausalLayer& layer, const at::Tensor& router,
                              const CausalSpecification& specification, const at::Tensor& input) {
  const auto pairs = pair_up(at::linear(input.to(at::kFloat), router), specification.experts);
  std::vector<at::Tensor> answers;
  std::int64_t begin = 0;
  for (std::size_t expert = 0; expert < pairs.counts.size(); ++expert) {
    const auto end = begin + pairs.counts[expert];
    if (begin < end) {
      const auto rows = input.index_select(0, pairs.rows.slice(0, begin, end));
      answers.push_back(feed_forward(layer.experts[expert], specification, rows, {}));
    }
    begin = end;
  }
  const auto all = at::cat(answers);
  auto sums = at::zeros(input.sizes(), input.options().dtype(at::kFloat));
  for (std::int64_t i = 0; i < specification.experts.per_token; ++i) {
    sums.addcmul_(all.index_select(0, pairs.places.select(1, i)), pairs.weights.select(1, i).unsqueeze(1));
  }
  return sums.to(input.scalar_type());
}

}  // namespace

at::Tensor mix_experts(const CausalLayer& layer, const at::Tensor& router, const CausalSpecification& specification,
                       const at::Tensor& input) {
  if (kernels_on(input.device()) == Kernels::operators) {
    return mix_with_operators(layer, router, specification, input);
  }
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
