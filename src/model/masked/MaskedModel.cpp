#include "model/masked/MaskedModel.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/layer_norm.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/Check.hpp"
#include "base/Profile.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Attention.hpp"
#include "model/kernels/Linear.hpp"
#include "model/kernels/Segments.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "model/masked/MaskedWeights.hpp"

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
  std::vector<std::int32_t> out;
  for (const auto border : borders) {
    out.push_back(static_cast<std::int32_t>(std::lower_bound(rows.begin(), rows.end(), border) - rows.begin()));
  }
  return out;
}

// oneDNN compiles a kernel for every new number of rows (45 ms a batch in bfloat16, half of what the batch itself
// takes), so on the CPU all products have whole multiples of this many rows. Rows do not mix: those that fill up change
// nothing.
constexpr std::size_t rows_step = 32;

template <class Number>
std::vector<Number> filled_up(std::vector<Number> values, Number filler, const at::Device& device) {
  if (kernels_on(device) == Kernels::own_kernels) {
    values.resize((values.size() + rows_step - 1) / rows_step * rows_step, filler);
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

// The BERT body with either head, over packed rows.
class Encoder : public MaskedModel {
 public:
  Encoder(MaskedSpecification config, MaskedWeights weights) : config_(config), weights_(std::move(weights)) {
    shape_ = {static_cast<int>(config.num_layers),
              config.hidden,
              weights_.head ? weights_.head->vocabulary : config.vocabulary,
              config.vocabulary,
              config.max_tokens(),
              weights_.head.has_value(),
              kernels_on(weights_.words.device()),
              dtype_of(weights_.words.scalar_type())};
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
    const auto shared = first_layer_tokens(ids, positions, layer, device);
    Staging staging;
    const auto input_ids = staging.add(shared ? filled_up(shared->ids, shared->ids.front(), device) : ids);
    const auto input_positions =
        staging.add(shared ? filled_up(shared->positions, std::int32_t{0}, device) : positions);
    const auto input_rows = staging.add(shared ? shared->rows : std::vector<std::int32_t>{});
    const auto wanted = staging.add(filled_up(std::vector<std::int32_t>(rows.begin(), rows.end()), 0, device));
    const auto all_begin = staging.add(borders);
    const auto few_begin = staging.add(few_borders);
    staging.send(device);
    auto states = embed(staging.at(input_ids), staging.at(input_positions));
    if (layer == 0) {
      return states.index_select(0, staging.at(wanted)).slice(0, 0, count);
    }
    const Segments everywhere{borders, borders, staging.at(all_begin), staging.at(all_begin)};
    if (shared) {
      states = run_first_layer(states, staging.at(input_rows), everywhere);
    }
    for (int i = shared ? 1 : 0; i + 1 < layer; ++i) {
      states = run_layer(weights_.layers[i], states, everywhere, nullptr);
    }
    const Segments few{borders, few_borders, staging.at(all_begin), staging.at(few_begin)};
    const auto few_rows = staging.at(wanted);
    return run_layer(weights_.layers[layer - 1], states, few, &few_rows).slice(0, 0, count);
  }

  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override {
    const c10::InferenceMode guard;
    return rows_of(weights_.words, ids);
  }

  at::Tensor head_input(const at::Tensor& hidden) const override {
    const c10::InferenceMode guard;
    return normalize(head().transform.apply_activated(hidden, config_.head_activation), head().norm).to(at::kFloat);
  }

  at::Tensor logits(const at::Tensor& head_input) const override {
    const c10::InferenceMode guard;
    return head().decoder.apply(head_input);
  }

  const at::Tensor& decoder_bias() const override { return head().decoder.bias(); }

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

  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const {
    const auto words = at::embedding(weights_.words, ids);
    return normalize(words.add(at::embedding(weights_.positions, positions)), weights_.embedding_norm);
  }

  /// The first of several layers: `distinct` [distinct tokens, hidden], `tokens` which of them each token is.
  at::Tensor run_first_layer(const at::Tensor& distinct, const at::Tensor& tokens, const Segments& segments) const {
    const auto& layer = weights_.layers.front();
    const auto all = layer.query_key_value->apply(distinct).index_select(0, tokens);
    return finish_layer(layer, split(all, config_.hidden, config_.hidden), distinct.index_select(0, tokens), segments);
  }

  at::Tensor run_layer(const MaskedLayer& layer, const at::Tensor& states, const Segments& segments,
                       const at::Tensor* rows) const {
    const auto kept = rows == nullptr ? states : states.index_select(0, *rows);
    const auto width = layer.query_key_value ? config_.hidden : 0;
    auto projected =
        split((layer.query_key_value ? layer.query_key_value : layer.key_value)->apply(states), width, config_.hidden);
    if (!projected.query.defined()) {
      projected.query = layer.query->apply(kept);
    } else if (rows != nullptr) {
      projected.query = projected.query.index_select(0, *rows);
    }
    return finish_layer(layer, projected, kept, segments);
  }

  /// From queries [rows, hidden], keys and values [tokens, hidden] to the layer's output; `kept` is its input at
  /// `rows`.
  at::Tensor finish_layer(const MaskedLayer& layer, const Projected& projected, const at::Tensor& kept,
                          const Segments& segments) const {
    const auto mixed = attend(projected.query, projected.key, projected.value, segments, config_.num_heads);
    const auto attended = normalize(layer.attention_output.apply_and_add(mixed, kept), layer.attention_norm);
    const auto inner = layer.inner.apply_activated(attended, config_.activation);
    return normalize(layer.outer.apply_and_add(inner, attended), layer.output_norm);
  }

  at::Tensor normalize(const at::Tensor& states, const Norm& norm) const {
    const base::profile::Span span("norms");
    return at::layer_norm(states, {config_.hidden}, norm.weight, norm.bias, config_.layer_norm_epsilon, false);
  }

  const MaskedHead& head() const {
    STEREOSWEEP_ASSERT(weights_.head.has_value(), "the model has no head: ask shape().has_head first");
    return *weights_.head;
  }

  MaskedSpecification config_;
  MaskedWeights weights_;
  ModelShape shape_;
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
