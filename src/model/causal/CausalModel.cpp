#include "model/causal/CausalModel.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/Check.hpp"
#include "base/process/Profile.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/causal/CausalWeights.hpp"
#include "model/causal/LayerKernels.hpp"
#include "model/causal/TreeAttention.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {
namespace {

at::Tensor feed_forward(const FeedForward& layer, const CausalSpecification& specification, const at::Tensor& input,
                        const at::Tensor& residual) {
  const auto inner = layer.inner.apply(input);
  const auto active = specification.gated ? activate_gated(inner, specification.activation)
                                          : activate_rows(inner, specification.activation);
  return residual.defined() ? layer.outer.apply_and_add(active, residual) : layer.outer.apply(active);
}

// Which rows each expert computes, and what they weigh there. A pair is a row with one of its experts; a row's pairs
// stand in the order of their experts.
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
at::Tensor mix_experts(const CausalLayer& layer, const at::Tensor& router, const CausalSpecification& specification,
                       const at::Tensor& input) {
  const auto pairs = pair_up(at::linear(input.to(at::kFloat), router), specification.experts);
  std::vector<at::Tensor> answers;
  std::int64_t begin = 0;
  for (std::size_t expert = 0; expert < pairs.counts.size(); ++expert) {
    const auto count = pairs.counts[expert];
    if (count > 0) {
      auto rows = pairs.rows.slice(0, begin, begin + count);
      if (const auto spare = filled_rows(count, input.device()) - count; spare > 0) {
        rows = at::cat({rows, rows.slice(0, 0, 1).expand({spare})});
      }
      const auto answer = feed_forward(layer.experts[expert], specification, input.index_select(0, rows), {});
      answers.push_back(answer.slice(0, 0, count));
    }
    begin += count;
  }
  const auto all = at::cat(answers);
  auto sums = at::zeros(input.sizes(), input.options().dtype(at::kFloat));
  for (std::int64_t i = 0; i < specification.experts.per_token; ++i) {
    const auto part = all.index_select(0, pairs.places.select(1, i));
    const auto weights = pairs.weights.select(1, i).unsqueeze(1);
    if (kernels_on(input.device()) == Kernels::operators) {
      sums.addcmul_(part, weights);
    } else {
      sums.add_(part.to(at::kFloat).mul(weights));  // addcmul_ does not round the product
    }
  }
  return sums.to(input.scalar_type());
}

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

// Rows of one product: on one core 512 rows of float32 keep a layer's numbers in the caches. In bfloat16 products are
// so fast that reading the weights for 512 rows took 3 % of the time; float16 weights are widened for each product.
// Experts share the rows out.
constexpr std::int64_t rows_in_float32 = 512;
constexpr std::int64_t rows_in_16_bits = 1024;
constexpr std::int64_t most_rows_at_once = 2048;
constexpr std::int64_t rows_on_device = 16384;
// A float32 head that shares the word embeddings' memory stays as it is where a packed copy would be larger than this.
constexpr std::int64_t most_copied_bytes = std::int64_t{1} << 29;

PassSettings completed(PassSettings settings, const CausalSpecification& specification, const at::Tensor& words) {
  if (settings.rows_at_once == 0) {
    const auto spread = specification.experts.count > 0
                            ? specification.experts.count / std::max<std::int64_t>(1, specification.experts.per_token)
                            : 1;
    const auto rows_per_thread = words.scalar_type() == at::kFloat ? rows_in_float32 : rows_in_16_bits;
    settings.rows_at_once = kernels_on(words.device()) == Kernels::own_kernels
                                ? std::min(most_rows_at_once, rows_per_thread * at::get_num_threads() * spread)
                                : rows_on_device;
  }
  return settings;
}

void check_tree(const TokenTree& tree, const ModelShape& shape) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tree.branches.size(); ++i) {
    const auto& branch = tree.branches[i];
    STEREOSWEEP_ASSERT(branch.first == total && branch.length > 0, "branches lie one after the other");
    STEREOSWEEP_ASSERT(branch.parent >= -1 && branch.parent < static_cast<std::int64_t>(i), "a parent comes first");
    const auto depth = branch.parent < 0 ? 0 : tree.branches[branch.parent].depth + tree.branches[branch.parent].length;
    STEREOSWEEP_ASSERT(branch.depth == depth, "the depth is the sum of the ancestors' lengths");
    STEREOSWEEP_ASSERT(depth + branch.length <= shape.max_tokens, "length " + std::to_string(depth + branch.length));
    total += branch.length;
  }
  STEREOSWEEP_ASSERT(total > 0 && total == std::ssize(tree.ids), "the branches' lengths do not sum to the ids");
  for (const auto id : tree.ids) {
    STEREOSWEEP_ASSERT(id >= 0 && id < shape.ids, "token id " + std::to_string(id));
  }
}

struct KeptTree : CausalModel::Memory {
  explicit KeptTree(std::unique_ptr<TreeAttention> kept) : attention(std::move(kept)) {}
  std::int64_t rows() const override { return attention->rows(); }
  void keep_only(std::span<const std::int32_t> rows) override { attention->keep_only(rows); }
  std::int64_t slots_in_use() const override { return attention->slots_in_use(); }
  std::unique_ptr<TreeAttention> attention;
};

OutputProjection make_head(const CausalSpecification& specification, CausalWeights& weights) {
  if (!weights.head.defined()) {
    return {};
  }
  const auto bias = weights.head_bias.defined()
                        ? weights.head_bias
                        : at::zeros({weights.head.size(0)}, weights.head.options().dtype(at::kFloat));
  const bool shared =
      specification.tied_head && weights.head.scalar_type() == at::kFloat && weights.head.is_alias_of(weights.words);
  const bool large = static_cast<std::int64_t>(weights.head.nbytes()) > most_copied_bytes;
  OutputProjection head(weights.head, bias, shared && large ? Products::plain : Products::fastest);
  weights.head = at::Tensor();
  return head;
}

// One forward pass of a causal model over new rows of a tree. Rows go through a layer some hundred at a time: what a
// layer computes stays in the caches, memory does not grow with the batch, and products have few shapes. Only the
// residual stream and the keys and values are kept whole.
class CausalPass {
 public:
  /// Everything is borrowed. `routers` [layer]: float32. The tree's rows from attention.rows() on are new.
  CausalPass(const CausalSpecification& specification, const CausalWeights& weights,
             std::span<const at::Tensor> routers, const PassSettings& settings, TreeAttention& attention,
             const TokenTree& tree)
      : specification_(specification),
        weights_(weights),
        routers_(routers),
        settings_(settings),
        attention_(attention),
        tree_(tree),
        rule_{specification.norm, specification.norm_epsilon},
        first_row_(attention.rows()) {
    attention_.grow(tree);
    if (specification.position == PositionKind::rotary) {
      for (const auto& rotary : specification.rotaries) {
        const auto angles = rotary_angles(rotary, longest_path(tree));
        angles_.push_back({angles.cosines.to(weights.words.device()), angles.sines.to(weights.words.device())});
      }
    }
  }

  /// The given new rows (sorted, distinct) after the first `layers` layers, before the final norm: [rows, hidden].
  at::Tensor run(int layers, std::span<const std::int64_t> rows) {
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

  at::Tensor normalized(const at::Tensor& states, const Norm& norm) const {
    const base::profile::Span span("norms");
    return settings_.kernels == Kernels::own_kernels ? normalize(states, norm, rule_)
                                                     : normalize_with_operators(states, norm, rule_);
  }

 private:
  // Rows that go through a layer together. Products have `size` rows; those beyond the real ones fill up.
  struct Group {
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> positions;
    std::int64_t size = 0;
    std::map<std::int64_t, std::unique_ptr<TreeAttention::Queries>> queries;  // by window
    std::vector<RotaryAngles> angles;                                         // by rotary
  };

  Group group_of(std::vector<std::int64_t> rows) const {
    Group group;
    const auto device = weights_.words.device();
    const auto branches = branches_of(tree_, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& branch = tree_.branches[branches[i]];
      group.positions.push_back(static_cast<std::int32_t>(branch.depth + rows[i] - branch.first));
    }
    group.size = filled_rows(std::ssize(rows), device);
    group.rows = std::move(rows);
    if (!angles_.empty()) {
      const auto index = on_device(group.positions, device);
      for (const auto& angles : angles_) {
        group.angles.push_back({angles.cosines.index_select(0, index), angles.sines.index_select(0, index)});
      }
    }
    return group;
  }

  // Groups of about equal sizes, so that the last one is not a small product.
  std::vector<Group> groups_of(std::span<const std::int64_t> rows) const {
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

  at::Tensor embed(const Group& group) const {
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

  at::Tensor before_attention(const CausalLayer& layer, const at::Tensor& states) const {
    const bool normed = layer.attention_norm && specification_.residual != Residual::after_adding;
    return normed ? normalized(states, *layer.attention_norm) : states;
  }

  Projected project(const CausalLayer& layer, const at::Tensor& normed) const {
    const auto queries = layer.query_key_value ? specification_.num_heads * specification_.head_width : 0;
    const auto keys = specification_.num_key_heads * specification_.head_width;
    const auto all = layer.query_key_value ? layer.query_key_value->apply(normed) : layer.key_value->apply(normed);
    return split(all, queries, keys);
  }

  // Norm and turn of queries or keys, in place.
  void turn(int number, const at::Tensor& rows, std::int64_t heads, const std::optional<Norm>& norm,
            const Group& group) const {
    const base::profile::Span span("norms and turns of queries and keys");
    if (norm && specification_.query_key_norm != QueryKeyNorm::none) {
      const auto parts = specification_.query_key_norm == QueryKeyNorm::per_head ? heads : 1;
      normalize_parts(rows, parts, *norm, rule_);
    }
    const auto rotary = specification_.layers[number].rotary;
    if (specification_.position != PositionKind::rotary || rotary < 0) {
      return;
    }
    const auto& settings = specification_.rotaries[rotary];
    if (settings_.kernels == Kernels::own_kernels) {
      rotate_on_cpu(rows, heads, settings, group.angles[rotary]);
    } else {
      rotate_with_operators(rows, heads, settings, group.angles[rotary]);
    }
  }

  void keep(int number, const Projected& projected, const Group& group) {
    turn(number, projected.key, specification_.num_key_heads, weights_.layers[number].key_norm, group);
    attention_.keep(number, group.rows.front(), std::ssize(group.rows), projected.key, projected.value);
  }

  at::Tensor attend(int number, const at::Tensor& query, Group& group) {
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
  at::Tensor summed(at::Tensor part) const {
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
  at::Tensor feed(int number, const at::Tensor& input, const at::Tensor& residual) const {
    const base::profile::Span span("feed-forward");
    const auto& layer = weights_.layers[number];
    const auto compute = [&](const at::Tensor& added) {
      return specification_.experts.count > 0 ? mix_experts(layer, routers_[number], specification_, input)
                                              : feed_forward(layer.feed_forward, specification_, input, added);
    };
    if (layer.feed_forward_output_norm) {
      return normalize_and_add(summed(compute({})), *layer.feed_forward_output_norm, rule_, residual);
    }
    return settings_.group || specification_.experts.count > 0 ? summed(compute({})).add_(residual) : compute(residual);
  }

  at::Tensor finish(int number, const at::Tensor& states, const at::Tensor& normed, const at::Tensor& mixed) const {
    const auto& layer = weights_.layers[number];
    at::Tensor attended;
    if (layer.attention_output_norm) {
      attended =
          normalize_and_add(summed(layer.attention_output.apply(mixed)), *layer.attention_output_norm, rule_, states);
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

  void run_layer(int number) {
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
  at::Tensor run_last_layer(int number, std::span<const std::int64_t> rows) {
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

  const CausalSpecification& specification_;
  const CausalWeights& weights_;
  std::span<const at::Tensor> routers_;
  PassSettings settings_;
  TreeAttention& attention_;
  const TokenTree& tree_;
  NormRule rule_;
  std::int64_t first_row_;
  std::vector<RotaryAngles> angles_;  // by rotary: all positions of the tree, on the device
  std::vector<Group> groups_;
  std::vector<at::Tensor> states_;  // [group] of [size, hidden]
};

// The one decoder that every causal family is a setting of.
class CausalBody : public CausalModel {
 public:
  CausalBody(CausalSpecification specification, CausalWeights weights, PassSettings settings)
      : specification_(std::move(specification)), weights_(std::move(weights)) {
    const c10::InferenceMode guard;
    const auto device = weights_.words.device();
    if (kernels_on(device) == Kernels::operators) {
      settings.kernels = Kernels::operators;
    }
    settings_ = completed(settings, specification_, weights_.words);
    shape_ = {static_cast<int>(weights_.layers.size()),
              specification_.hidden,
              weights_.head.defined() ? weights_.head.size(0) : specification_.vocabulary,
              weights_.words.size(0),
              specification_.max_tokens,
              weights_.head.defined(),
              settings_.kernels,
              dtype_of(weights_.words.scalar_type())};
    head_ = make_head(specification_, weights_);
    for (auto& layer : weights_.layers) {
      routers_.push_back(layer.router.defined() ? layer.router.to(at::kFloat) : at::Tensor());
    }
  }

  const ModelShape& shape() const override { return shape_; }

  at::Tensor hidden(const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const override {
    const c10::InferenceMode guard;
    check_tree(tree, shape_);
    check_rows(rows, 0, std::ssize(tree.ids));
    STEREOSWEEP_ASSERT(layer >= 0 && layer <= shape_.num_layers, "layer " + std::to_string(layer));
    if (rows.empty()) {
      return at::empty({0, shape_.hidden}, weights_.words.options());
    }
    return run(*attention({}), tree, layer, rows);
  }

  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override {
    const c10::InferenceMode guard;
    return rows_of(weights_.words, ids);
  }

  at::Tensor logits(const at::Tensor& hidden) const override {
    const c10::InferenceMode guard;
    STEREOSWEEP_ASSERT(shape_.has_head, "the model has no head: ask shape().has_head first");
    auto logits = head_.apply(hidden);
    if (specification_.logits_scale != 1) {
      logits.mul_(specification_.logits_scale);
    }
    if (specification_.logits_softcap != 0) {
      logits.div_(specification_.logits_softcap).tanh_().mul_(specification_.logits_softcap);
    }
    return logits;
  }

  std::unique_ptr<Memory> remember(std::int64_t most_rows) const override {
    return std::make_unique<KeptTree>(attention({std::max(1, shape_.num_layers), most_rows, Placement::by_branch}));
  }

  at::Tensor extend(Memory& memory, const TokenTree& tree, std::span<const std::int64_t> rows) const override {
    const c10::InferenceMode guard;
    auto* kept = dynamic_cast<KeptTree*>(&memory);
    STEREOSWEEP_ASSERT(kept != nullptr, "a memory belongs to the model that made it");
    check_tree(tree, shape_);
    check_rows(rows, memory.rows(), std::ssize(tree.ids));
    STEREOSWEEP_ASSERT(memory.rows() < std::ssize(tree.ids), "the tree must have grown");
    return run(*kept->attention, tree, shape_.num_layers, rows);
  }

 private:
  std::unique_ptr<TreeAttention> attention(const KeptSize& size) const {
    AttentionRule rule;
    rule.num_heads = specification_.num_heads;
    rule.num_key_heads = specification_.num_key_heads;
    rule.width = specification_.head_width;
    rule.softcap = specification_.attention_softcap;
    if (specification_.position == PositionKind::alibi) {
      rule.slopes = specification_.alibi_slopes;
      rule.alibi_is_scaled = specification_.alibi_is_scaled;
    }
    return make_tree_attention(rule, size, weights_.words.options(), settings_.kernels);
  }

  at::Tensor run(TreeAttention& attention, const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const {
    CausalPass pass(specification_, weights_, routers_, settings_, attention, tree);
    const auto states = pass.run(layer, rows);
    return layer == shape_.num_layers && weights_.final_norm ? pass.normalized(states, *weights_.final_norm) : states;
  }

  CausalSpecification specification_;
  CausalWeights weights_;
  std::vector<at::Tensor> routers_;  ///< [layer] float32; undefined without experts
  PassSettings settings_;
  ModelShape shape_;
  OutputProjection head_;
};

}  // namespace

std::unique_ptr<CausalModel> make_causal_model(CausalSpecification specification, CausalWeights weights,
                                               PassSettings settings) {
  return std::make_unique<CausalBody>(std::move(specification), std::move(weights), std::move(settings));
}

std::unique_ptr<CausalModel> CausalModel::load(const base::FileSet& files, query::Dtype dtype, query::Device device,
                                               std::shared_ptr<parallel::TensorGroup> group) {
  const c10::InferenceMode guard;
  const auto whole = read_causal_specification(files);
  const auto slice = group ? TensorSlice{group->rank(), group->size()} : TensorSlice{};
  const auto options = choose_options(dtype, device);
  auto weights = load_causal_weights(files, whole, options, slice);
  if (group && options.device().is_cuda()) {
    group->join_devices();
  }
  PassSettings settings;
  settings.group = std::move(group);
  return make_causal_model(slice_of(whole, slice), std::move(weights), settings);
}

}  // namespace stereosweep::model
