#include "model/causal/CausalModel.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "base/process/Profile.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/causal/FeedForward.hpp"
#include "model/causal/LayerKernels.hpp"
#include "model/causal/attention/TreeAttention.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/Segments.hpp"
#include "model/kernels/SideStream.hpp"

namespace stereosweep::model {
namespace {

std::vector<std::int64_t> range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(end - begin));
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
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

Products products_of_head(const BodyWeights& weights) {
  const auto& head = weights.head;
  const bool large = head.defined() && head.scalar_type() == at::kFloat &&
                     static_cast<std::int64_t>(head.nbytes()) > most_copied_bytes;
  return large && head.is_alias_of(weights.words) ? Products::plain : Products::fastest;
}

// What the passes of a model share beside its weights: made once, on the device.
struct Constants {
  float embedding_scale = 1;              // rounded to the model's dtype
  std::deque<RotaryTable> rotaries;       // of the specification's
  std::vector<ExpertMixture> experts;     // [layer]; empty without experts
  std::vector<Norm> head_norms;           // [layer] of all heads of queries, then of keys; empty: they are normed apart
  std::optional<SideStream> side_stream;  // of a slice on a device
};

// One forward pass of a causal model over new rows of a tree. Rows go through a layer some hundred at a time: what a
// layer computes stays in the caches, memory does not grow with the batch, and products have few shapes. Only the
// residual stream and the keys and values are kept whole.
class CausalPass {
 public:
  /// Everything is borrowed. The tree's rows from attention.rows() on are new.
  CausalPass(const CausalSpecification& specification, const BodyWeights& weights, Constants& constants,
             const PassSettings& settings, TreeAttention& attention, const TokenTree& tree)
      : specification_(specification),
        weights_(weights),
        constants_(constants),
        settings_(settings),
        attention_(attention),
        tree_(tree),
        rule_{specification.norm, specification.norm_epsilon},
        first_row_(attention.rows()) {
    attention_.grow(tree);
    for (auto& rotary : constants.rotaries) {
      angles_.push_back(rotary.at_least(longest_path(tree)));
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
      states_.push_back({embed(group)});
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
    const auto least = constants_.side_stream && count >= settings_.least_rows_of_halves ? 2 : 0;
    const auto pieces = std::max<std::int64_t>(least, (count + settings_.rows_at_once - 1) / settings_.rows_at_once);
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
    if (constants_.embedding_scale != 1) {
      states.mul_(constants_.embedding_scale);
    }
    if (!specification_.names.positions.empty()) {
      states.add_(at::embedding(weights_.positions, on_device(places, device)));
    }
    return weights_.embedding_norm ? normalized(states, *weights_.embedding_norm) : states;
  }

  at::Tensor before_attention(const Layer& layer, const at::Tensor& states) const {
    const bool normed = layer.attention_norm && specification_.residual != Residual::after_adding;
    return normed ? normalized(states, *layer.attention_norm) : states;
  }

  // Queries where one product puts them out with keys and values, which are kept.
  at::Tensor project(int number, const at::Tensor& normed, const Group& group) const {
    const auto& layer = weights_.layers[number];
    const auto queries = layer.query_key_value ? specification_.num_heads * specification_.head_width : 0;
    const auto keys = specification_.num_key_heads * specification_.head_width;
    const auto all = layer.query_key_value ? layer.query_key_value->apply(normed) : layer.key_value->apply(normed);
    const auto projected = split(all, queries, keys);
    turn(number, projected, group);
    attention_.keep(number, group.rows.front(), std::ssize(group.rows), projected.key, projected.value);
    return projected.query;
  }

  // Norm and turn of queries, of keys, or of both where they lie beside each other, in place.
  void turn(int number, const Projected& projected, const Group& group) const {
    const base::profile::Span span("norms and turns of queries and keys");
    const auto queries = projected.query.defined() ? specification_.num_heads : 0;
    const auto keys = projected.key.defined() ? specification_.num_key_heads : 0;
    normalize_heads(number, projected);
    const auto kind = specification_.layers[number].rotary;
    if (!constants_.rotaries.empty() && kind >= 0) {
      constants_.rotaries[kind].turn(projected.turning(), queries + keys, group.angles[kind]);
    }
  }

  void normalize_heads(int number, const Projected& projected) const {
    const auto& layer = weights_.layers[number];
    const auto queries = specification_.num_heads;
    const auto keys = specification_.num_key_heads;
    if (specification_.query_key_norm == QueryKeyNorm::none) {
      return;
    }
    const bool by_head = specification_.query_key_norm == QueryKeyNorm::per_head;
    if (by_head && projected.query.defined() && projected.key.defined() && !constants_.head_norms.empty()) {
      normalize_parts(projected.turning(), queries + keys, constants_.head_norms[number], rule_);
      return;
    }
    if (projected.query.defined()) {
      normalize_parts(projected.query, by_head ? queries : 1, *layer.query_norm, rule_);
    }
    if (projected.key.defined()) {
      normalize_parts(projected.key, by_head ? keys : 1, *layer.key_norm, rule_);
    }
  }

  at::Tensor attend(int number, const at::Tensor& query, Group& group) {
    const auto window = specification_.layers[number].window;
    auto& queries = group.queries[window];
    if (queries == nullptr) {
      queries = attention_.choose(tree_, group.rows, window);
    }
    const base::profile::Span span("attention");
    const float divisor = specification_.scale_by_layer ? static_cast<float>(number + 1) : 1.0F;
    return attention_.attend(number, *queries, query, specification_.attention_scale / divisor);
  }

  // What a part of a layer puts out, on its way to the residual stream.
  struct Addition {
    at::Tensor sum;  // with the residual where that is undefined
    at::Tensor residual = {};
    const Norm* norm = nullptr;  // of the sum, before it is added
    const Norm* norm_after = nullptr;
    at::Tensor input = {};  // of the feed-forward layer, where it is not what was attended
    SideWork ready = {};    // the sum is still being made
  };

  // What the slices of a product put out, added up in float32: the same bits on every rank (CPU: in rank order). On a
  // device beside what this rank computes next, where other rows follow.
  Addition sum_of_slices(const at::Tensor& part) const {
    if (!settings_.group) {
      return {part};
    }
    Addition addition{part.to(at::kFloat).contiguous()};
    auto* const first = addition.sum.mutable_data_ptr<float>();
    const auto count = addition.sum.numel();
    if (part.is_cpu()) {
      settings_.group->sum({first, static_cast<std::size_t>(count)});
      addition.sum = addition.sum.to(part.scalar_type());
    } else if (run_in_turn_) {
      addition.ready =
          constants_.side_stream->run([&](void* stream) { settings_.group->sum_on_device(first, count, stream); });
    } else {  // on torch's default stream
      settings_.group->sum_on_device(first, count, nullptr);
    }
    return addition;
  }

  // `product(residual)` adds to the residual stream by itself, `product({})` does not.
  template <class Product>
  Addition add(Product&& product, const std::optional<Norm>& norm, const at::Tensor& residual) const {
    if (!settings_.group && !norm && specification_.residual_scale == 1) {
      return {product(residual)};
    }
    auto addition = sum_of_slices(product(at::Tensor()));
    addition.residual = residual;
    addition.norm = norm ? &*norm : nullptr;
    return addition;
  }

  // The residual stream behind it. On a device the sum of slices and the residual are rounded once.
  at::Tensor take(Addition addition) const {
    addition.ready.reset();
    auto states = std::move(addition.sum);
    if (addition.residual.defined()) {
      const auto& residual = addition.residual;
      const auto type = residual.scalar_type();
      if (addition.norm != nullptr) {
        states = normalize_and_add(states.to(type), *addition.norm, rule_, residual);
      } else if (specification_.residual_scale != 1) {
        states = states.to(type).mul_(specification_.residual_scale).add_(residual);
      } else if (states.scalar_type() == type) {
        states.add_(residual);
      } else {
        states = at::add_out(addition.sum = at::empty_like(residual), states, residual);
      }
    }
    return addition.norm_after != nullptr ? normalized(states, *addition.norm_after) : states;
  }

  // The feed-forward layer of `input`, its own output norm included, plus `residual`.
  Addition feed(int number, const at::Tensor& input, const at::Tensor& residual) const {
    const base::profile::Span span("feed-forward");
    const auto& layer = weights_.layers[number];
    return add(
        [&](const at::Tensor& added) {
          return constants_.experts.empty() ? run_feed_forward(layer.feed_forward, specification_, input, added)
                                            : constants_.experts[number].apply(input, added);
        },
        layer.feed_forward_output_norm, residual);
  }

  // A layer's input plus what attention put out. The input's own memory may take the sum: `states` must not be read
  // afterwards.
  Addition add_attention(int number, const at::Tensor& states, const at::Tensor& normed,
                         const at::Tensor& mixed) const {
    const auto& layer = weights_.layers[number];
    at::Tensor input;
    if (specification_.residual == Residual::parallel) {
      input = layer.feed_forward_norm ? normalized(states, *layer.feed_forward_norm)
              : layer.attention_norm  ? normed
                                      : states.clone();
    }
    auto attended = add(
        [&](const at::Tensor& added) {
          return added.defined() ? layer.attention_output.apply_and_add(mixed, added)
                                 : layer.attention_output.apply(mixed);
        },
        layer.attention_output_norm, states);
    attended.input = input;
    return attended;
  }

  Addition finish(int number, Addition middle) const {
    const auto& layer = weights_.layers[number];
    const auto both = std::move(middle.input);
    const auto attended = take(std::move(middle));
    if (specification_.residual == Residual::parallel) {
      return feed(number, both, attended);
    }
    const bool after = specification_.residual == Residual::after_adding;
    const auto& norm = after ? layer.attention_norm : layer.feed_forward_norm;
    const auto input = norm ? normalized(attended, *norm) : attended;
    auto sum = feed(number, input, after ? input : attended);
    sum.norm_after = after && layer.feed_forward_norm ? &*layer.feed_forward_norm : nullptr;
    return sum;
  }

  // begin(group), up to what attention adds, and finish of that, for all groups. Where slices are added up beside the
  // products each group's sums are on their way while another group computes: attention's while the next group attends,
  // those of the feed-forward layer while the next group feeds, or attends in the next layer.
  void run_groups(int number, std::size_t count, auto&& begin) {
    run_in_turn_ = constants_.side_stream && count > 1;
    const std::size_t behind = run_in_turn_ ? 1 : 0;
    std::vector<Addition> middles(count);
    std::vector<Addition> after(count);
    for (std::size_t i = 0; i < count + behind; ++i) {
      if (i < count) {
        middles[i] = begin(i);
      }
      if (i >= behind) {
        after[i - behind] = finish(number, std::exchange(middles[i - behind], {}));
      }
    }
    states_ = std::move(after);
  }

  void run_layer(int number) {
    const auto& layer = weights_.layers[number];
    run_groups(number, groups_.size(), [&](std::size_t i) {
      const auto states = take(std::exchange(states_[i], {}));
      const auto normed = before_attention(layer, states);
      auto query = project(number, normed, groups_[i]);
      if (!query.defined()) {
        query = query_apart(number, normed, groups_[i]);
      }
      return add_attention(number, states, normed, attend(number, query, groups_[i]));
    });
  }

  at::Tensor query_apart(int number, const at::Tensor& normed, const Group& group) const {
    const Projected projected{weights_.layers[number].query->apply(normed), {}, {}, {}};
    turn(number, projected, group);
    return projected.query;
  }

  // Keys and values of all rows, everything else for the rows that are asked.
  at::Tensor run_last_layer(int number, std::span<const std::int64_t> rows) {
    const auto& layer = weights_.layers[number];
    std::vector<at::Tensor> states;
    std::vector<at::Tensor> queries;
    std::size_t done = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto group_states = take(std::exchange(states_[i], {}));
      const auto query = project(number, before_attention(layer, group_states), groups_[i]);
      std::vector<std::int32_t> picked;
      for (; done < rows.size() && rows[done] <= groups_[i].rows.back(); ++done) {
        picked.push_back(static_cast<std::int32_t>(rows[done] - groups_[i].rows.front()));
      }
      const auto index = on_device(picked, weights_.words.device());
      states.push_back(group_states.index_select(0, index));
      if (query.defined()) {
        queries.push_back(query.index_select(0, index));
      }
    }
    if (rows.empty()) {
      return at::empty({0, specification_.hidden}, weights_.words.options());
    }
    const auto all_states = together(states);
    const auto all_queries = queries.empty() ? at::Tensor() : together(queries);
    auto groups = groups_of(rows);
    std::int64_t begin = 0;
    run_groups(number, groups.size(), [&](std::size_t i) {
      auto& group = groups[i];
      const auto count = std::ssize(group.rows);
      at::Tensor index;  // undefined: all of them
      if (groups.size() > 1 || group.size != count) {
        auto places = range(begin, begin + count);
        places.resize(static_cast<std::size_t>(group.size), begin);
        index = on_device(std::vector<std::int32_t>(places.begin(), places.end()), weights_.words.device());
      }
      begin += count;
      const auto own_rows = [&](const at::Tensor& all) { return index.defined() ? all.index_select(0, index) : all; };
      const auto few = own_rows(all_states);
      const auto normed = before_attention(layer, few);
      const auto query = all_queries.defined() ? own_rows(all_queries) : query_apart(number, normed, group);
      return add_attention(number, few, normed, attend(number, query, group));
    });
    std::vector<at::Tensor> answers;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      answers.push_back(take(std::exchange(states_[i], {})).slice(0, 0, std::ssize(groups[i].rows)));
    }
    return together(answers);
  }

  static at::Tensor together(const std::vector<at::Tensor>& parts) {
    return parts.size() == 1 ? parts.front() : at::cat(parts);
  }

  const CausalSpecification& specification_;
  const BodyWeights& weights_;
  Constants& constants_;
  PassSettings settings_;
  TreeAttention& attention_;
  const TokenTree& tree_;
  NormRule rule_;
  std::int64_t first_row_;
  std::vector<RotaryAngles> angles_;  // by rotary: all positions of the tree, on the device
  std::vector<Group> groups_;
  bool run_in_turn_ = false;      // a group's sums are on their way while another one computes
  std::vector<Addition> states_;  // [group] of [size, hidden]
};

// The one decoder that every causal family is a setting of.
class CausalBody : public CausalModel {
 public:
  CausalBody(CausalSpecification specification, BodyWeights weights, PassSettings settings)
      : specification_(std::move(specification)),
        weights_(std::move(weights)),
        shape_(shape_of(specification_, weights_)) {
    const c10::InferenceMode guard;
    if (shape_.kernels == Kernels::operators) {
      settings.kernels = Kernels::operators;
    }
    settings_ = completed(settings, specification_, weights_.words);
    shape_.kernels = settings_.kernels;
    head_ = make_head(weights_, products_of_head(weights_));
    make_constants();
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
    return attention({std::max(1, shape_.num_layers), most_rows, Placement::by_branch});
  }

  at::Tensor extend(Memory& memory, const TokenTree& tree, std::span<const std::int64_t> rows) const override {
    const c10::InferenceMode guard;
    auto* kept = dynamic_cast<TreeAttention*>(&memory);
    STEREOSWEEP_ASSERT(kept != nullptr, "a memory belongs to the model that made it");
    check_tree(tree, shape_);
    check_rows(rows, memory.rows(), std::ssize(tree.ids));
    STEREOSWEEP_ASSERT(memory.rows() < std::ssize(tree.ids), "the tree must have grown");
    return run(*kept, tree, shape_.num_layers, rows);
  }

 private:
  void make_constants() {
    const auto device = weights_.words.device();
    constants_.embedding_scale = at::empty({1}, at::TensorOptions(at::kFloat))
                                     .fill_(specification_.embedding_scale)
                                     .to(weights_.words.scalar_type())
                                     .to(at::kFloat)
                                     .const_data_ptr<float>()[0];
    for (const auto& rotary : specification_.rotaries) {
      constants_.rotaries.emplace_back(rotary, device, settings_.kernels);
    }
    for (auto& layer : weights_.layers) {
      if (layer.router.defined()) {
        constants_.experts.emplace_back(layer.router, layer.router_bias, std::move(layer.experts), specification_);
      }
    }
    if (settings_.group && !device.is_cpu()) {
      constants_.side_stream.emplace(device);
    }
    if (kernels_on(device) == Kernels::operators) {
      make_factors();
      if (!settings_.group && constants_.experts.empty()) {
        place_biases();
      }
    }
  }

  // Products without a bias add to what is there by themselves (see Linear::apply_and_add). Where both parts of a layer
  // are added to one sum, the second one takes the bias of both.
  void place_biases() {
    for (auto& layer : weights_.layers) {
      auto& first = layer.attention_output;
      auto& second = layer.feed_forward.outer;
      const bool normed = layer.attention_output_norm || layer.feed_forward_output_norm;
      const bool one_sum = specification_.residual == Residual::parallel && !normed;
      if (one_sum && first.bias().defined() && second.bias().defined()) {
        second = Linear(second.weight(), second.bias().add(first.bias()));
        first = Linear(first.weight(), {});
      }
      if (!specification_.gated) {
        put_bias_into_weight(layer.feed_forward, specification_.activation);
      }
    }
  }

  void make_factors() {
    const NormRule rule{specification_.norm, specification_.norm_epsilon};
    const auto add_factor = [&](std::optional<Norm>& norm) {
      if (norm) {
        norm = with_factor(*norm, rule);
      }
    };
    add_factor(weights_.embedding_norm);
    add_factor(weights_.final_norm);
    const bool alike = rule.kind == NormKind::rms || rule.kind == NormKind::rms_gemma;
    for (auto& layer : weights_.layers) {
      for (auto* norm : {&layer.attention_norm, &layer.attention_output_norm, &layer.feed_forward_norm,
                         &layer.feed_forward_output_norm, &layer.query_norm, &layer.key_norm}) {
        add_factor(*norm);
      }
      if (alike && specification_.query_key_norm == QueryKeyNorm::per_head) {
        const auto width = specification_.head_width;
        const auto all = at::cat({layer.query_norm->factor.expand({specification_.num_heads, width}),
                                  layer.key_norm->factor.expand({specification_.num_key_heads, width})});
        constants_.head_norms.push_back({{}, {}, all});
      }
    }
  }

  std::unique_ptr<TreeAttention> attention(const KeptSize& size) const {
    std::vector<at::Tensor> sinks;
    for (const auto& layer : weights_.layers) {
      if (layer.sinks.defined()) {
        sinks.push_back(layer.sinks);
      }
    }
    return make_tree_attention(specification_, std::move(sinks), size, weights_.words.options(), settings_.kernels);
  }

  at::Tensor run(TreeAttention& attention, const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const {
    CausalPass pass(specification_, weights_, constants_, settings_, attention, tree);
    const auto states = pass.run(layer, rows);
    return layer == shape_.num_layers && weights_.final_norm ? pass.normalized(states, *weights_.final_norm) : states;
  }

  CausalSpecification specification_;
  BodyWeights weights_;
  mutable Constants constants_;  ///< the tables of angles grow, and guard themselves
  PassSettings settings_;
  ModelShape shape_;
  OutputProjection head_;
};

}  // namespace

std::unique_ptr<CausalModel> make_causal_model(CausalSpecification specification, BodyWeights weights,
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
