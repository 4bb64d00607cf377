#include "model/CausalPass.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/Check.hpp"
#include "base/Profile.hpp"
#include "model/FeedForwardLayers.hpp"
#include "model/Normalize.hpp"
#include "model/RowCount.hpp"
#include "model/Segments.hpp"
#include "model/TreeTiles.hpp"

namespace stereosweep::model {
namespace {

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(end - begin));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

parallel::DeviceNumber number_of(at::ScalarType type) {
  return type == at::kFloat      ? parallel::DeviceNumber::float32
         : type == at::kBFloat16 ? parallel::DeviceNumber::bfloat16
                                 : parallel::DeviceNumber::float16;
}

at::Tensor on_device(std::span<const std::int32_t> values, const at::Device& device) {
  Staging staging;
  const auto list = staging.add(values);
  staging.send(device);
  return staging.at(list);
}

}  // namespace

CausalPass::CausalPass(const CausalSpecification& specification, const CausalWeights& weights,
                       std::span<const at::Tensor> routers, const PassSettings& settings, TreeAttention& attention,
                       const TokenTree& tree)
    : specification_(specification),
      weights_(weights),
      routers_(routers),
      settings_(settings),
      attention_(attention),
      tree_(tree),
      first_row_(attention.rows()) {
  attention_.grow(tree);
  std::int64_t positions = 0;
  for (const auto& branch : tree.branches) {
    positions = std::max<std::int64_t>(positions, branch.depth + branch.length);
  }
  if (specification.position == PositionKind::rotary) {
    for (const auto& rotary : specification.rotaries) {
      turns_.push_back(turns_of(rotary, positions));
      if (settings.kernels == Kernels::operators) {
        const auto device = weights.words.device();
        turns_.back() = {turns_.back().cosines.to(device), turns_.back().sines.to(device)};
      }
    }
  }
}

CausalPass::Group CausalPass::group_of(std::vector<std::int64_t> rows) const {
  Group group;
  const auto device = weights_.words.device();
  const auto branches = branches_of(tree_, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& branch = tree_.branches[branches[i]];
    group.positions.push_back(static_cast<std::int32_t>(branch.depth + rows[i] - branch.first));
  }
  group.size = filled_rows(std::ssize(rows), device);
  group.rows = std::move(rows);
  if (settings_.kernels == Kernels::operators && !turns_.empty()) {
    const auto index = on_device(group.positions, device);
    for (const auto& turns : turns_) {
      group.turns.push_back({turns.cosines.index_select(0, index), turns.sines.index_select(0, index)});
    }
  }
  return group;
}

// Groups of about equal sizes, so that the last one is not a small product.
std::vector<CausalPass::Group> CausalPass::groups_of(std::span<const std::int64_t> rows) const {
  std::vector<Group> groups;
  const auto count = std::ssize(rows);
  const auto pieces = (count + settings_.rows_at_once - 1) / settings_.rows_at_once;
  const auto length = pieces == 0 ? 0 : filled_rows((count + pieces - 1) / pieces, weights_.words.device());
  for (std::int64_t begin = 0; begin < count; begin += length) {
    const auto piece = rows.subspan(begin, std::min(length, count - begin));
    groups.push_back(group_of({piece.begin(), piece.end()}));
  }
  return groups;
}

at::Tensor CausalPass::embed(const Group& group) const {
  const auto device = weights_.words.device();
  std::vector<std::int32_t> ids(static_cast<std::size_t>(group.size), tree_.ids.front());
  std::vector<std::int32_t> places(static_cast<std::size_t>(group.size), 0);
  for (std::size_t i = 0; i < group.rows.size(); ++i) {
    ids[i] = tree_.ids[group.rows[i]];
    places[i] = static_cast<std::int32_t>(group.positions[i] + specification_.first_position);
  }
  auto states = at::embedding(weights_.words, on_device(ids, device));
  if (specification_.embedding_scale != 1) {
    auto scale = at::empty({1}, at::TensorOptions(at::kFloat)).fill_(specification_.embedding_scale);
    states.mul_(scale.to(states.scalar_type()).to(device));
  }
  if (specification_.position == PositionKind::learned) {
    states.add_(at::embedding(weights_.positions, on_device(places, device)));
  }
  return states;
}

at::Tensor CausalPass::normalized(const at::Tensor& states, const Norm& norm) const {
  const base::profile::Span span("norms");
  const NormRule rule{specification_.norm, specification_.norm_epsilon};
  return settings_.kernels == Kernels::own_kernels ? normalize(states, norm, rule)
                                                   : normalize_with_operators(states, norm, rule);
}

at::Tensor CausalPass::before_attention(const CausalLayer& layer, const at::Tensor& states) const {
  const bool normed = layer.attention_norm && specification_.residual != Residual::after_adding;
  return normed ? normalized(states, *layer.attention_norm) : states;
}

Projected CausalPass::project(const CausalLayer& layer, const at::Tensor& normed) const {
  const auto queries = layer.query_key_value ? specification_.num_heads * specification_.head_width : 0;
  const auto keys = specification_.num_key_heads * specification_.head_width;
  const auto all = layer.query_key_value ? layer.query_key_value->apply(normed) : layer.key_value->apply(normed);
  return split(all, queries, keys);
}

// Norm and turn of queries or keys, in place.
void CausalPass::turn(int number, const at::Tensor& rows, std::int64_t heads, const std::optional<Norm>& norm,
                      const Group& group) const {
  const base::profile::Span span("norms and turns of queries and keys");
  if (norm && specification_.query_key_norm != QueryKeyNorm::none) {
    const auto parts = specification_.query_key_norm == QueryKeyNorm::per_head ? heads : 1;
    const NormRule rule{specification_.norm, specification_.norm_epsilon};
    normalize_parts(rows, parts, *norm, rule);
  }
  const auto rotary = specification_.layers[number].rotary;
  if (specification_.position != PositionKind::rotary || rotary < 0) {
    return;
  }
  const auto& settings = specification_.rotaries[rotary];
  if (settings_.kernels == Kernels::own_kernels) {
    rotate_on_cpu(rows, heads, settings, turns_[rotary], group.positions);
  } else {
    rotate_with_operators(rows, heads, settings, group.turns[rotary]);
  }
}

void CausalPass::keep(int number, const Projected& projected, const Group& group) {
  turn(number, projected.key, specification_.num_key_heads, weights_.layers[number].key_norm, group);
  attention_.keep(number, group.rows.front(), std::ssize(group.rows), projected.key, projected.value);
}

at::Tensor CausalPass::attend(int number, const at::Tensor& query, Group& group) {
  turn(number, query, specification_.num_heads, weights_.layers[number].query_norm, group);
  const auto window = specification_.layers[number].window;
  auto& queries = group.queries[window];
  if (queries == nullptr) {
    queries = attention_.choose(tree_, group.rows, window);
  }
  const base::profile::Span span("attention");
  const float divisor = specification_.scale_by_layer ? static_cast<float>(number + 1) : 1.0F;
  return attention_.attend(number, *queries, query, specification_.attention_scale / divisor);
}

// What the slices of a product put out, added up: the same bits on every rank (CPU: in float32, in rank order).
at::Tensor CausalPass::summed(at::Tensor part) const {
  if (!settings_.group) {
    return part;
  }
  if (!part.is_cpu()) {
    part = part.contiguous();
    settings_.group->sum_on_device(part.mutable_data_ptr(), part.numel(), number_of(part.scalar_type()),
                                   nullptr);  // torch's default stream: no other is used here
    return part;
  }
  const auto numbers = part.to(at::kFloat).contiguous();
  settings_.group->sum({numbers.mutable_data_ptr<float>(), static_cast<std::size_t>(numbers.numel())});
  return numbers.to(part.scalar_type());
}

// The feed-forward layer of `input`, its own output norm included, plus `residual`.
at::Tensor CausalPass::feed(int number, const at::Tensor& input, const at::Tensor& residual) const {
  const base::profile::Span span("feed-forward");
  const auto& layer = weights_.layers[number];
  const NormRule rule{specification_.norm, specification_.norm_epsilon};
  const bool mixed = specification_.experts.count > 0;
  if (layer.feed_forward_output_norm) {
    const auto answer = summed(mixed ? mix_experts(layer, routers_[number], specification_, input)
                                     : feed_forward(layer.feed_forward, specification_, input, {}));
    return normalize_and_add(answer, *layer.feed_forward_output_norm, rule, residual);
  }
  if (settings_.group) {
    return summed(mixed ? mix_experts(layer, routers_[number], specification_, input)
                        : feed_forward(layer.feed_forward, specification_, input, {}))
        .add_(residual);
  }
  return mixed ? mix_experts(layer, routers_[number], specification_, input).add_(residual)
               : feed_forward(layer.feed_forward, specification_, input, residual);
}

at::Tensor CausalPass::finish(int number, const at::Tensor& states, const at::Tensor& normed,
                              const at::Tensor& mixed) const {
  const auto& layer = weights_.layers[number];
  at::Tensor attended;
  if (layer.attention_output_norm) {
    const NormRule rule{specification_.norm, specification_.norm_epsilon};
    attended =
        normalize_and_add(summed(layer.attention_output.apply(mixed)), *layer.attention_output_norm, rule, states);
  } else if (settings_.group) {
    attended = summed(layer.attention_output.apply(mixed)).add_(states);
  } else {
    attended = layer.attention_output.apply_and_add(mixed, states);
  }
  switch (specification_.residual) {
    case Residual::parallel:
      return feed(number, layer.feed_forward_norm ? normalized(states, *layer.feed_forward_norm) : normed, attended);
    case Residual::after_adding: {
      const auto middle = layer.attention_norm ? normalized(attended, *layer.attention_norm) : attended;
      const auto sum = feed(number, middle, middle);
      return layer.feed_forward_norm ? normalized(sum, *layer.feed_forward_norm) : sum;
    }
    case Residual::sequential:
      break;
  }
  return feed(number, layer.feed_forward_norm ? normalized(attended, *layer.feed_forward_norm) : attended, attended);
}

void CausalPass::run_layer(int number) {
  const auto& layer = weights_.layers[number];
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const auto normed = before_attention(layer, states_[i]);
    auto projected = project(layer, normed);
    if (!projected.query.defined()) {
      projected.query = layer.query->apply(normed);
    }
    keep(number, projected, groups_[i]);
    states_[i] = finish(number, states_[i], normed, attend(number, projected.query, groups_[i]));
  }
}

// Keys and values of all rows, everything else for the rows that are asked.
at::Tensor CausalPass::run_last_layer(int number, std::span<const std::int64_t> rows) {
  const auto& layer = weights_.layers[number];
  std::vector<at::Tensor> states;
  std::vector<at::Tensor> queries;
  std::size_t done = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto projected = project(layer, before_attention(layer, states_[i]));
    keep(number, projected, groups_[i]);
    std::vector<std::int32_t> picked;
    for (; done < rows.size() && rows[done] <= groups_[i].rows.back(); ++done) {
      picked.push_back(static_cast<std::int32_t>(rows[done] - groups_[i].rows.front()));
    }
    const auto index = on_device(picked, weights_.words.device());
    states.push_back(states_[i].index_select(0, index));
    if (projected.query.defined()) {
      queries.push_back(projected.query.index_select(0, index));
    }
    states_[i] = at::Tensor();
  }
  if (rows.empty()) {
    return at::empty({0, specification_.hidden}, weights_.words.options());
  }
  const auto all_states = at::cat(states);
  const auto all_queries = queries.empty() ? at::Tensor() : at::cat(queries);
  std::vector<at::Tensor> answers;
  std::int64_t begin = 0;
  for (auto& group : groups_of(rows)) {
    const auto count = std::ssize(group.rows);
    auto places = range(begin, begin + count);
    places.resize(static_cast<std::size_t>(group.size), begin);
    const auto index = on_device(std::vector<std::int32_t>(places.begin(), places.end()), weights_.words.device());
    const auto few = all_states.index_select(0, index);
    const auto normed = before_attention(layer, few);
    const auto query = all_queries.defined() ? all_queries.index_select(0, index) : layer.query->apply(normed);
    answers.push_back(finish(number, few, normed, attend(number, query, group)).slice(0, 0, count));
    begin += count;
  }
  return answers.size() == 1 ? answers.front() : at::cat(answers);
}

at::Tensor CausalPass::run(int layers, std::span<const std::int64_t> rows) {
  if (layers == 0) {
    std::vector<at::Tensor> answers;
    for (const auto& group : groups_of(rows)) {
      answers.push_back(embed(group).slice(0, 0, std::ssize(group.rows)));
    }
    return at::cat(answers);
  }
  groups_ = groups_of(range(first_row_, std::ssize(tree_.ids)));
  for (const auto& group : groups_) {
    states_.push_back(embed(group));
  }
  for (int number = 0; number + 1 < layers; ++number) {
    run_layer(number);
  }
  return run_last_layer(layers - 1, rows);
}

}  // namespace stereosweep::model
