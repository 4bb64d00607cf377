#include "model/masked/MaskedModel.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Profile.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/FeedForward.hpp"
#include "model/causal/LayerKernels.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Attention.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/kernels/Segments.hpp"
#include "model/masked/PlacedAttention.hpp"

namespace stereosweep::model {
namespace {

std::vector<std::int32_t> begins(std::span<const std::int32_t> lengths) {
  std::vector<std::int32_t> out{0};
  for (const auto length : lengths) {
    out.push_back(out.back() + length);
  }
  return out;
}

// How many of the sorted rows lie before each border.
std::vector<std::int32_t> rows_before(std::span<const std::int32_t> borders, std::span<const std::int64_t> rows) {
  return base::mapped(borders, [&](std::int32_t border) {
    return static_cast<std::int32_t>(std::ranges::lower_bound(rows, border) - rows.begin());
  });
}

// oneDNN compiles a kernel for every new number of rows (45 ms a batch in bfloat16, half of what the batch itself
// takes), so on the CPU all products have whole multiples of this many rows. Rows do not mix: those that fill up change
// nothing.
constexpr std::size_t rows_step = 32;
constexpr std::size_t few_rows_step = 64;  // of the last layer alone, where those that fill up cost next to nothing

template <class Number>
std::vector<Number> filled_up(std::vector<Number> values, Number filler, const at::Device& device,
                              std::size_t step = rows_step) {
  if (kernels_on(device) == Kernels::own_kernels) {
    values.resize((values.size() + step - 1) / step * step, filler);
  }
  return values;
}

// The tokens for which the first layer's products run once each: where a second layer follows (the last one keeps
// queries apart) and at least a quarter of the tokens are repeats; less is not worth the copies.
std::optional<DistinctTokens> first_layer_tokens(std::span<const query::TokenId> ids,
                                                 std::span<const std::int32_t> positions, int layer,
                                                 const at::Device& device) {
  if (layer <= 1 || kernels_on(device) == Kernels::operators) {
    return std::nullopt;
  }
  auto distinct = find_distinct(ids, positions);
  return distinct.ids.size() * 4 <= distinct.rows.size() * 3 ? std::optional(std::move(distinct)) : std::nullopt;
}

void check(const Packed& batch, const ModelShape& shape, int layer) {
  std::int64_t total = 0;
  for (const auto length : batch.lengths) {
    STEREOSWEEP_ASSERT(length > 0 && length <= shape.max_tokens, "length " + std::to_string(length));
    total += length;
  }
  STEREOSWEEP_ASSERT(total > 0, "an empty batch");
  STEREOSWEEP_ASSERT(total == static_cast<std::int64_t>(batch.ids.size()), "lengths do not sum to the ids");
  for (const auto id : batch.ids) {
    STEREOSWEEP_ASSERT(id >= 0 && id < shape.ids, "token id " + std::to_string(id));
  }
  STEREOSWEEP_ASSERT(layer >= 0 && layer <= shape.num_layers, "layer " + std::to_string(layer));
}

// What the layers of one batch share.
struct Pass {
  Segments everywhere;               // every token asks
  Segments few;                      // the rows that are read ask
  at::Tensor rows;                   // these rows
  SequenceGroups sequences = {};     // of models where places count
  std::vector<RotaryAngles> angles;  // by rotary: picked by token

  // Of one layer: which rows ask.
  const Segments& segments(const at::Tensor* wanted) const { return wanted == nullptr ? everywhere : few; }
};

// The same product of an input to which `shift` was added.
Linear shifted_back(const Linear& linear, const at::Tensor& shift) {
  const auto taken = linear.weight().to(at::kDouble).mv(shift.to(at::kDouble)).neg_();
  const auto bias = linear.bias().defined() ? taken.add(linear.bias()) : taken;
  return {linear.weight(), bias.to(linear.weight().scalar_type())};
}

// Whether a window of so many places on each side hides something in a text of `length` tokens; 0: no window.
bool reaches_short_of(std::int64_t reach, std::int64_t length) { return reach > 0 && reach < length - 1; }

at::Tensor picked(const at::Tensor& states, const at::Tensor* rows) {
  return rows == nullptr ? states : states.index_select(0, *rows);
}

// The body of all masked models with any head, over packed rows.
class Encoder : public MaskedModel {
 public:
  Encoder(MaskedSpecification config, MaskedWeights weights)
      : config_(std::move(config)), weights_(std::move(weights)), shape_(shape_of(config_, weights_)) {
    const c10::InferenceMode guard;
    head_ = make_head(weights_, Products::fastest);
    for (const auto& rotary : config_.rotaries) {
      rotaries_.emplace_back(rotary, weights_.words.device(), shape_.kernels);
    }
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
      norms_before_.push_back(i == 0 ? weights_.embedding_norm : weights_.layers[i - 1].feed_forward_norm);
    }
    if (shape_.kernels == Kernels::operators && config_.residual == Residual::after_adding) {
      move_biases();
    }
    if (config_.relative.farthest > 0) {
      relative_ = relative_index(config_.relative, filled_length(config_.max_tokens), weights_.words.device());
    }
  }

  const ModelShape& shape() const override { return shape_; }

  at::Tensor hidden(const Packed& batch, int layer, std::span<const std::int64_t> rows) const override {
    const c10::InferenceMode guard;
    check(batch, shape_, layer);
    check_rows(rows, 0, std::ssize(batch.ids));
    const auto device = weights_.words.device();
    const auto count = static_cast<std::int64_t>(rows.size());
    const auto borders = begins(batch.lengths);
    const auto few_borders = rows_before(borders, rows);
    const auto ids = filled_up(batch.ids, batch.ids.front(), device);
    const auto positions = filled_up(positions_of(batch), std::int32_t{0}, device);
    const bool can_share = !places_count_ && config_.residual == Residual::after_adding;
    const auto shared = can_share ? first_layer_tokens(ids, positions, layer, device) : std::nullopt;
    Staging staging;
    const auto input_ids = staging.add(shared ? filled_up(shared->ids, shared->ids.front(), device) : ids);
    const auto input_positions =
        staging.add(shared ? filled_up(shared->positions, std::int32_t{0}, device) : positions);
    const auto input_rows = staging.add(shared ? shared->rows : std::vector<std::int32_t>{});
    const auto wanted =
        staging.add(filled_up(std::vector<std::int32_t>(rows.begin(), rows.end()), 0, device, few_rows_step));
    const auto all_begin = staging.add(borders);
    const auto few_begin = staging.add(few_borders);
    staging.send(device);
    auto states = embed(staging.at(input_ids), staging.at(input_positions),
                        layer == 0 ? weights_.embedding_norm : norms_before_.front());
    if (layer == 0) {
      return states.index_select(0, staging.at(wanted)).slice(0, 0, count);
    }
    const auto pass = prepare({borders, borders, staging.at(all_begin), staging.at(all_begin)},
                              {borders, few_borders, staging.at(all_begin), staging.at(few_begin)}, staging.at(wanted),
                              staging.at(input_positions));
    if (shared) {
      states = run_first_layer(states, staging.at(input_rows), pass);
    }
    for (int i = shared ? 1 : 0; i + 1 < layer; ++i) {
      states = run_layer(i, states, pass, nullptr);
    }
    states = run_layer(layer - 1, states, pass, &pass.rows).slice(0, 0, count);
    return layer == shape_.num_layers ? normalize(states, weights_.final_norm) : states;
  }

  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override {
    const c10::InferenceMode guard;
    return rows_of(weights_.words, ids);
  }

  at::Tensor head_input(const at::Tensor& hidden) const override {
    const c10::InferenceMode guard;
    check_head();
    if (!weights_.head_dense) {
      return hidden.to(at::kFloat);
    }
    return normalize(weights_.head_dense->apply_activated(hidden, config_.head_activation), weights_.head_norm)
        .to(at::kFloat);
  }

  at::Tensor logits(const at::Tensor& head_input) const override {
    const c10::InferenceMode guard;
    check_head();
    return head_.apply(head_input);
  }

  const at::Tensor& decoder_bias() const override {
    check_head();
    return head_.bias();
  }

 private:
  // Positions count up from the first one. RoBERTa gives its padding token, wherever it stands, the position before the
  // first and does not count it.
  std::vector<std::int32_t> positions_of(const Packed& batch) const {
    std::vector<std::int32_t> positions;
    positions.reserve(batch.ids.size());
    const auto first = static_cast<std::int32_t>(config_.first_position);
    auto id = batch.ids.begin();
    for (const auto length : batch.lengths) {
      auto next = first;
      for (std::int32_t i = 0; i < length; ++i, ++id) {
        const bool skipped = config_.skips_padding && *id == first - 1;
        positions.push_back(skipped ? first - 1 : next++);
      }
    }
    return positions;
  }

  // Torch's products add either a bias or what is there already. So a bias that is added to what a norm made becomes
  // part of that norm's, and the product that reads it, too, takes it back. The last layer that runs ends with its own
  // norm.
  void move_biases() {
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
      auto& layer = weights_.layers[i];
      const bool is_projected = i == 0 && weights_.embedding_projection.has_value();
      if (const auto bias = layer.attention_output.bias(); bias.defined() && !is_projected) {
        norms_before_[i]->bias = norms_before_[i]->bias.add(bias);
        for (auto* product : {&layer.query_key_value, &layer.query, &layer.key_value}) {
          if (product->has_value()) {
            *product = shifted_back(**product, bias);
          }
        }
        layer.attention_output = Linear(layer.attention_output.weight(), {});
      }
      auto& [inner, outer] = layer.feed_forward;
      if (const auto bias = outer.bias(); bias.defined()) {
        layer.attention_norm->bias = layer.attention_norm->bias.add(bias);
        inner = shifted_back(inner, bias);
        outer = Linear(outer.weight(), {});
      }
    }
  }

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions, const std::optional<Norm>& norm) const {
    auto states = at::embedding(weights_.words, ids);
    if (!config_.names.positions.empty()) {
      states.add_(at::embedding(weights_.positions, positions));
    } else if (weights_.positions.defined()) {
      states.add_(weights_.positions);
    }
    states = normalize(states, norm);
    return weights_.embedding_projection ? weights_.embedding_projection->apply(states) : states;
  }

  Pass prepare(Segments everywhere, Segments few, at::Tensor rows, const at::Tensor& positions) const {
    Pass pass{std::move(everywhere), std::move(few), std::move(rows), {}, {}};
    const auto length = longest(pass.everywhere.key_begin);
    if (config_.relative.farthest == 0) {
      for (auto* segments : {&pass.everywhere, &pass.few}) {
        segments->bundles = bundle(*segments, weights_.words.options(), config_.head_width);
      }
    }
    if (places_count_) {
      const auto lengths =
          shape_.kernels == Kernels::own_kernels ? SequenceGroups::Lengths::exact : SequenceGroups::Lengths::filled;
      pass.sequences = SequenceGroups(pass.everywhere, lengths, weights_.words.device());
    }
    for (const auto& kind : config_.layers) {
      if (!rotaries_.empty() && reaches_short_of(kind.window, length)) {
        pass.sequences.prepare(kind.window, weights_.words.scalar_type());
      }
    }
    for (auto& rotary : rotaries_) {
      const auto angles = rotary.at_least(length);
      pass.angles.push_back({angles.cosines.index_select(0, positions), angles.sines.index_select(0, positions)});
    }
    return pass;
  }

  /// The first of several layers: `distinct` [distinct tokens, hidden], `tokens` which of them each token is.
  at::Tensor run_first_layer(const at::Tensor& distinct, const at::Tensor& tokens, const Pass& pass) const {
    const auto& layer = weights_.layers.front();
    const auto all = layer.query_key_value->apply(distinct).index_select(0, tokens);
    const auto projected = split(all, config_.hidden, config_.hidden);
    const auto mixed = attend(projected.query, projected.key, projected.value, pass.everywhere, config_.num_heads);
    return finish_layer(layer, mixed, distinct.index_select(0, tokens), norms_before_[1]);
  }

  /// `rows` null: all rows of `states` ask and are returned.
  at::Tensor run_layer(int number, const at::Tensor& states, const Pass& pass, const at::Tensor* rows) const {
    const auto& layer = weights_.layers[static_cast<std::size_t>(number)];
    const auto kept = picked(states, rows);
    if (config_.residual == Residual::sequential) {
      const auto normed = normalize(states, layer.attention_norm);
      const auto mixed = mix(number, normed, normed, pass, rows);
      const auto attended = layer.attention_output.apply_and_add(mixed, kept);
      return run_feed_forward(layer.feed_forward, config_, normalize(attended, layer.feed_forward_norm), attended);
    }
    const auto& norm = rows == nullptr ? norms_before_[static_cast<std::size_t>(number) + 1] : layer.feed_forward_norm;
    return finish_layer(layer, mix(number, states, kept, pass, rows), kept, norm);
  }

  /// What attention makes of a layer's input: [rows, hidden]; `kept` is `states` at `rows`.
  at::Tensor mix(int number, const at::Tensor& states, const at::Tensor& kept, const Pass& pass,
                 const at::Tensor* rows) const {
    const auto& layer = weights_.layers[static_cast<std::size_t>(number)];
    const auto heads = config_.num_heads;
    const auto width = layer.query_key_value ? config_.hidden : 0;
    auto projected =
        split((layer.query_key_value ? layer.query_key_value : layer.key_value)->apply(states), width, config_.hidden);
    if (config_.relative.farthest > 0) {
      const auto mixed = attend_relatively(projected.query, projected.key, projected.value, pass.sequences, heads,
                                           weights_.relative[static_cast<std::size_t>(number)], relative_);
      return picked(mixed, rows);
    }
    const auto reach = turn(number, projected, pass);
    if (reaches_short_of(reach, longest(pass.everywhere.key_begin))) {
      const auto mixed = attend_within(projected.query, projected.key, projected.value, pass.sequences, heads, reach);
      return picked(mixed, rows);
    }
    const auto query = projected.query.defined() ? picked(projected.query, rows) : layer.query->apply(kept);
    return attend(query, projected.key, projected.value, pass.segments(rows), heads);
  }

  /// Turns queries and keys where the layer does; how many places its tokens see on each side, 0: all.
  std::int64_t turn(int number, const Projected& projected, const Pass& pass) const {
    if (rotaries_.empty()) {
      return 0;
    }
    const auto& kind = config_.layers[static_cast<std::size_t>(number)];
    const auto rotary = static_cast<std::size_t>(kind.rotary);
    rotaries_[rotary].turn(projected.turning(), 2 * config_.num_heads, pass.angles[rotary]);
    return kind.window;
  }

  /// From what attention made of a layer's input `kept` to the layer's output, with norms behind each part.
  at::Tensor finish_layer(const Layer& layer, const at::Tensor& mixed, const at::Tensor& kept,
                          const std::optional<Norm>& output_norm) const {
    const auto attended = normalize(layer.attention_output.apply_and_add(mixed, kept), layer.attention_norm);
    const auto inner = layer.feed_forward.inner.apply_activated(attended, config_.activation);
    return normalize(layer.feed_forward.outer.apply_and_add(inner, attended), output_norm);
  }

  at::Tensor normalize(const at::Tensor& states, const std::optional<Norm>& norm) const {
    if (!norm) {
      return states;
    }
    const base::profile::Span span("norms");
    if (config_.norm != NormKind::layer) {
      return model::normalize(states, *norm, {config_.norm, config_.norm_epsilon});
    }
    return at::layer_norm(states, {norm->weight.size(0)}, norm->weight, norm->bias, config_.norm_epsilon, false);
  }

  void check_head() const { STEREOSWEEP_ASSERT(shape_.has_head, "the model has no head: ask shape().has_head first"); }

  MaskedSpecification config_;
  MaskedWeights weights_;
  ModelShape shape_;
  OutputProjection head_;
  std::vector<std::optional<Norm>> norms_before_;  ///< [layer] that made what it reads, where that layer runs
  mutable std::deque<RotaryTable> rotaries_;       ///< they grow, and guard themselves
  RelativeIndex relative_;  ///< of models with relative positions, for all lengths that sequences are filled up to
  bool places_count_ = config_.relative.farthest > 0 || !config_.rotaries.empty();  ///< in each layer's scores
};

}  // namespace

std::unique_ptr<MaskedModel> make_masked_model(MaskedSpecification specification, MaskedWeights weights) {
  return std::make_unique<Encoder>(std::move(specification), std::move(weights));
}

std::unique_ptr<MaskedModel> MaskedModel::load(const base::FileSet& files, query::Dtype dtype, query::Device device) {
  const c10::InferenceMode guard;
  const auto config = read_masked_specification(files);
  return make_masked_model(config, load_masked_weights(files, config, choose_options(dtype, device)));
}

}  // namespace stereosweep::model
