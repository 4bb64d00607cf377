#include "model/causal/FeedForward.hpp"

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "model/causal/LayerKernels.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {

namespace {

constexpr std::int64_t most_dense_rows = 128;  // up to here a device takes as long for one expert as for this many rows
constexpr std::int64_t numbers_in_16_bytes = 8;
constexpr std::int64_t most_experts_in_a_byte = 256;
constexpr double constant_inner = 8;  // a power of two: dividing a bias by it loses nothing

at::Tensor activated(const BodySettings& settings, const at::Tensor& inner) {
  return settings.gated ? activate_gated(inner, settings.activation) : activate_rows(inner, settings.activation);
}

// The operator for products of groups is written for the instructions of Hopper and of Blackwell's large cards (10.0,
// 10.3); elsewhere it loops and waits for the host.
bool has_grouped_products(const at::Device& device, at::ScalarType type) {
  if (device.is_cuda()) {
    const auto generation = parallel::current_gpu().capability / 10;
    return type == at::kBFloat16 && (generation == 9 || generation == 10);
  }
  return device.is_cpu() || type == at::kBFloat16;
}

ExpertStack stacked_upright(std::vector<FeedForward>& experts, Linear FeedForward::*part) {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const auto& expert : experts) {
    const auto& linear = expert.*part;
    if (linear.weight().size(0) % numbers_in_16_bytes != 0 || linear.weight().size(1) % numbers_in_16_bytes != 0) {
      return {};
    }
    weights.push_back(linear.weight());
    biases.push_back(linear.bias());
  }
  const auto all = at::stack(weights);
  for (std::size_t i = 0; i < experts.size(); ++i) {
    experts[i].*part = Linear(all[static_cast<std::int64_t>(i)], biases[i]);
  }
  return {all.transpose(1, 2), biases.front().defined() ? at::stack(biases) : at::Tensor()};
}

}  // namespace

at::Tensor run_feed_forward(const FeedForward& layer, const BodySettings& settings, const at::Tensor& input,
                            const at::Tensor& residual) {
  const bool at_once = kernels_on(input.device()) == Kernels::operators;
  const auto active = settings.gated ? apply_gated(layer.inner, input, settings.activation)
                      : at_once      ? layer.inner.apply_activated(input, settings.activation)
                                     : activate_rows(layer.inner.apply(input), settings.activation);
  return residual.defined() ? layer.outer.apply_and_add(active, residual) : layer.outer.apply(active);
}

void put_bias_into_weight(FeedForward& layer, Activation activation) {
  const auto& inner = layer.inner;
  const auto& outer = layer.outer;
  if (activation == Activation::silu || !inner.bias().defined() || !outer.bias().defined()) {
    return;
  }
  const auto options = inner.weight().options();
  const auto constants = at::zeros({numbers_in_16_bytes}, options);  // one, and what keeps rows aligned
  constants.slice(0, 0, 1).fill_(constant_inner);
  const auto columns = at::outer(outer.bias().div(constant_inner), constants.div(constant_inner));
  const auto rows = at::zeros({numbers_in_16_bytes, inner.weight().size(1)}, options);
  layer.inner = Linear(at::cat({inner.weight(), rows}), at::cat({inner.bias(), constants}));
  layer.outer = Linear(at::cat({outer.weight(), columns}, 1), {});
}

// Which experts each row has, and what they weigh there: [rows, per_token].
struct ExpertMixture::Choice {
  at::Tensor experts;
  at::Tensor weights;  // float32
};

// Pairs of a row and one of its experts, by expert, then row.
struct ExpertMixture::Order {
  at::Tensor experts;  // [pairs], sorted
  at::Tensor pairs;    // [pairs] which pair of the choice stands there
};

// What the experts said: a row for every pair of a row and one of its experts, in any order.
struct ExpertMixture::Answers {
  at::Tensor rows;    // [answers, hidden]
  at::Tensor places;  // [rows, per_token] where a row's answers stand
};

ExpertMixture::ExpertMixture(const at::Tensor& router, const at::Tensor& router_bias, std::vector<FeedForward> experts,
                             const BodySettings& settings)
    : settings_(settings),
      kernels_(kernels_on(router.device())),
      router_bias_(router_bias.defined() ? router_bias.to(at::kFloat) : router_bias),
      experts_(std::move(experts)) {
  const auto count = settings.experts.count;
  const auto type = count <= most_experts_in_a_byte ? at::kByte : at::kShort;  // a device sorts eight bits in each pass
  numbers_ = at::arange(count, router.options().dtype(type));
  if (kernels_ == Kernels::own_kernels) {
    router_ = router.to(at::kFloat);
    return;
  }
  scores_ = OutputProjection(router, router_bias_);
  inner_ = stacked_upright(experts_, &FeedForward::inner);
  outer_ = stacked_upright(experts_, &FeedForward::outer);
  in_groups_ = has_grouped_products(router.device(), router.scalar_type());
}

ExpertMixture::Way ExpertMixture::way_for(std::int64_t rows) const {
  if (!inner_.weight.defined() || !outer_.weight.defined()) {
    return Way::one_by_one;
  }
  return rows <= most_dense_rows ? Way::dense : in_groups_ ? Way::together : Way::one_by_one;
}

ExpertMixture::Choice ExpertMixture::choose(const at::Tensor& input) const {
  const auto logits =
      kernels_ == Kernels::own_kernels ? at::linear(input.to(at::kFloat), router_, router_bias_) : scores_.apply(input);
  // Stable: of equal chances the lower number comes first.
  const auto [chances, numbers] = at::sort(at::softmax(logits, -1), /*stable=*/true, -1, /*descending=*/true);
  const auto few = chances.slice(1, 0, settings_.experts.per_token);
  return {numbers.slice(1, 0, settings_.experts.per_token),
          settings_.experts.renormalize ? few.div(few.sum(1, true)) : few};
}

ExpertMixture::Order ExpertMixture::order_of(const Choice& choice) const {
  const auto keys = choice.experts.flatten().to(numbers_.scalar_type());
  const auto [experts, pairs] = at::sort(keys, /*stable=*/true, 0, /*descending=*/false);
  return {experts, pairs};
}

// Where each pair of the choice stands in the order: [rows, per_token].
at::Tensor ExpertMixture::places_in(const Order& order) const {
  const auto places = at::empty_like(order.pairs);
  put_rows(places, order.pairs, at::arange(order.pairs.size(0), order.pairs.options()));
  return places.view({-1, settings_.experts.per_token});
}

// Nobody waits for the host.
ExpertMixture::Answers ExpertMixture::answer_together(const at::Tensor& input, const Choice& choice) const {
  const auto order = order_of(choice);
  const auto ends = at::searchsorted(order.experts, numbers_, /*out_int32=*/true, /*right=*/true);
  const auto rows = input.index_select(0, order.pairs.div(settings_.experts.per_token, "floor"));
  const auto multiply = [&](const at::Tensor& some, const ExpertStack& stack) {
    const auto product = at::_grouped_mm(some, stack.weight, ends);
    return stack.bias.defined() ? product.add_(stack.bias.index_select(0, order.experts.to(at::kInt))) : product;
  };
  return {multiply(activated(settings_, multiply(rows, inner_)), outer_), places_in(order)};
}

ExpertMixture::Answers ExpertMixture::answer_densely(const at::Tensor& input, const Choice& choice) const {
  const auto rows = input.size(0);
  const auto multiply = [](const at::Tensor& some, const ExpertStack& stack) {
    return stack.bias.defined() ? at::baddbmm(stack.bias.unsqueeze(1), some, stack.weight)
                                : at::bmm(some, stack.weight);
  };
  const auto inner = multiply(input.unsqueeze(0).expand({settings_.experts.count, rows, input.size(1)}), inner_);
  const auto active = activated(settings_, inner.flatten(0, 1)).unflatten(0, {settings_.experts.count, rows});
  const auto row = at::arange(rows, choice.experts.options()).unsqueeze(1);
  return {multiply(active, outer_).flatten(0, 1), row.add(choice.experts, rows)};
}

ExpertMixture::Answers ExpertMixture::answer_one_by_one(const at::Tensor& input, const Choice& choice) const {
  const auto order = order_of(choice);
  const auto row_of_pair = order.pairs.div(settings_.experts.per_token, "floor");
  const auto counts = order.experts.unsqueeze(0).eq(numbers_.unsqueeze(1)).sum(1).to(at::kCPU);
  std::vector<at::Tensor> answers;
  std::int64_t begin = 0;
  for (std::size_t expert = 0; expert < experts_.size(); ++expert) {
    const auto count = counts.const_data_ptr<std::int64_t>()[expert];
    if (count > 0) {
      auto rows = row_of_pair.slice(0, begin, begin + count);
      if (const auto spare = filled_rows(count, input.device()) - count; spare > 0) {
        rows = at::cat({rows, rows.slice(0, 0, 1).expand({spare})});
      }
      const auto answer = run_feed_forward(experts_[expert], settings_, input.index_select(0, rows), {});
      answers.push_back(answer.slice(0, 0, count));
    }
    begin += count;
  }
  return {at::cat(answers), places_in(order)};
}

at::Tensor ExpertMixture::mix_with_operators(const at::Tensor& input, const at::Tensor& residual) const {
  const auto choice = choose(input);
  const auto way = way_for(input.size(0));
  const auto answers = way == Way::together ? answer_together(input, choice)
                       : way == Way::dense  ? answer_densely(input, choice)
                                            : answer_one_by_one(input, choice);
  const auto parts = answers.rows.index_select(0, answers.places.flatten()).unflatten(0, answers.places.sizes());
  // The last sum rounds to the model's type, the others are float32, because the weights are.
  auto out = at::empty(input.sizes(), input.options());
  auto sum = residual;
  for (std::int64_t i = 0; i < settings_.experts.per_token; ++i) {
    const bool is_last = i + 1 == settings_.experts.per_token;
    const auto part = parts.select(1, i);
    const auto weight = choice.weights.slice(1, i, i + 1);
    if (is_last) {
      sum.defined() ? at::addcmul_out(out, sum, part, weight) : at::mul_out(out, part, weight);
    } else {
      sum = sum.defined() ? at::addcmul(sum, part, weight) : part.mul(weight);
    }
  }
  return out;
}

// Answers add up in the order of their experts' numbers.
at::Tensor ExpertMixture::mix_on_cpu(const at::Tensor& input) const {
  const auto by_chance = choose(input);
  const auto [experts, order] = at::sort(by_chance.experts, /*stable=*/true, 1, false);
  const auto weights = by_chance.weights.gather(1, order);
  const auto answers = answer_one_by_one(input, {experts, weights});
  auto sums = at::zeros(input.sizes(), input.options().dtype(at::kFloat));
  for (std::int64_t i = 0; i < settings_.experts.per_token; ++i) {
    const auto part = answers.rows.index_select(0, answers.places.select(1, i));
    sums.add_(part.to(at::kFloat).mul(weights.select(1, i).unsqueeze(1)));  // addcmul_ does not round the product
  }
  return sums.to(input.scalar_type());
}

at::Tensor ExpertMixture::apply(const at::Tensor& input, const at::Tensor& residual) const {
  if (kernels_ == Kernels::operators) {
    return mix_with_operators(input, residual);
  }
  const auto mixed = mix_on_cpu(input);
  return residual.defined() ? mixed.add_(residual) : mixed;
}

}  // namespace stereosweep::model
