#include "model/Encoder.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/layer_norm.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/Check.hpp"

namespace stereosweep::model {
namespace {

at::Tensor index_tensor(std::span<const std::int64_t> values, const at::Device& device) {
  auto host = at::empty({static_cast<std::int64_t>(values.size())}, at::TensorOptions(at::kLong));
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<std::int64_t>());
  return host.to(device);
}

std::vector<std::int64_t> begins(std::span<const std::int32_t> lengths) {
  std::vector<std::int64_t> out{0};
  for (const auto length : lengths) {
    out.push_back(out.back() + length);
  }
  return out;
}

// How many of the sorted rows lie before each border.
std::vector<std::int64_t> rows_before(std::span<const std::int64_t> borders, std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> out;
  for (const auto border : borders) {
    out.push_back(std::lower_bound(rows.begin(), rows.end(), border) - rows.begin());
  }
  return out;
}

void check(const Packed& batch, const EncoderShape& shape, int layer, std::span<const std::int64_t> rows) {
  std::int64_t total = 0;
  for (const auto length : batch.lengths) {
    STEREOSWEEP_ASSERT(length > 0 && length <= shape.max_tokens, "length " + std::to_string(length));
    total += length;
  }
  STEREOSWEEP_ASSERT(total == static_cast<std::int64_t>(batch.ids.size()), "lengths do not sum to the ids");
  STEREOSWEEP_ASSERT(layer >= 0 && layer <= shape.num_layers, "layer " + std::to_string(layer));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    STEREOSWEEP_ASSERT(rows[i] >= 0 && rows[i] < total && (i == 0 || rows[i - 1] < rows[i]),
                       "rows must be sorted, distinct and inside the batch");
  }
}

}  // namespace

Encoder::Encoder(CheckpointConfig config, EncoderWeights weights) : config_(config), weights_(std::move(weights)) {
  shape_ = {static_cast<int>(config.num_layers), config.hidden,
            weights_.head ? weights_.head->vocabulary : config.vocabulary, config.max_tokens(),
            weights_.head.has_value()};
}

at::Tensor Encoder::normalize(const at::Tensor& states, const Norm& norm) const {
  return at::layer_norm(states, {config_.hidden}, norm.weight, norm.bias, config_.layer_norm_epsilon, false);
}

at::Tensor Encoder::embed(const Packed& batch) const {
  std::vector<std::int64_t> ids(batch.ids.begin(), batch.ids.end());
  std::vector<std::int64_t> positions;
  positions.reserve(ids.size());
  for (const auto length : batch.lengths) {
    for (std::int64_t i = 0; i < length; ++i) {
      positions.push_back(config_.first_position + i);
    }
  }
  for (const auto id : ids) {
    STEREOSWEEP_ASSERT(id >= 0 && id < config_.vocabulary, "token id " + std::to_string(id));
  }
  const auto device = weights_.words.device();
  const auto words = at::embedding(weights_.words, index_tensor(ids, device));
  return normalize(words.add(at::embedding(weights_.positions, index_tensor(positions, device))),
                   weights_.embedding_norm);
}

at::Tensor Encoder::run_layer(const LayerWeights& layer, const at::Tensor& states, const Segments& segments,
                              const at::Tensor* rows) const {
  const auto width = config_.hidden;
  const auto kept = rows == nullptr ? states : states.index_select(0, *rows);
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
  if (layer.query_key_value) {
    const auto all = layer.query_key_value->apply(states);
    query = rows == nullptr ? all.slice(1, 0, width) : all.slice(1, 0, width).index_select(0, *rows);
    key = all.slice(1, width, 2 * width);
    value = all.slice(1, 2 * width, 3 * width);
  } else {
    query = layer.query->apply(kept);
    const auto both = layer.key_value->apply(states);
    key = both.slice(1, 0, width);
    value = both.slice(1, width, 2 * width);
  }
  const auto mixed = attend(query, key, value, segments, config_.num_heads);
  const auto attended = normalize(layer.attention_output.apply_and_add(mixed, kept), layer.attention_norm);
  const auto inner = layer.inner.apply_activated(attended, config_.activation);
  return normalize(layer.outer.apply_and_add(inner, attended), layer.output_norm);
}

at::Tensor Encoder::hidden(const Packed& batch, int layer, std::span<const std::int64_t> rows) const {
  const c10::InferenceMode guard;
  check(batch, shape_, layer, rows);
  const auto wanted = index_tensor(rows, weights_.words.device());
  auto states = embed(batch);
  if (layer == 0) {
    return states.index_select(0, wanted);
  }
  const auto borders = begins(batch.lengths);
  const Segments everywhere{borders, borders};
  for (int i = 0; i + 1 < layer; ++i) {
    states = run_layer(weights_.layers[i], states, everywhere, nullptr);
  }
  const Segments few{borders, rows_before(borders, rows)};
  return run_layer(weights_.layers[layer - 1], states, few, &wanted);
}

const HeadWeights& Encoder::head() const {
  STEREOSWEEP_ASSERT(weights_.head.has_value(), "the model has no head: ask shape().has_head first");
  return *weights_.head;
}

at::Tensor Encoder::head_input(const at::Tensor& hidden) const {
  const c10::InferenceMode guard;
  // RoBERTa's head has a GELU of its own; BERT's takes the body's activation.
  const auto activation = config_.family == Family::bert ? config_.activation : Activation::gelu;
  return normalize(head().transform.apply_activated(hidden, activation), head().norm).to(at::kFloat);
}

at::Tensor Encoder::logits(const at::Tensor& head_input) const {
  const c10::InferenceMode guard;
  return head().decoder.apply(head_input.to(weights_.words.scalar_type())).to(at::kFloat);
}

const at::Tensor& Encoder::decoder_bias() const { return head().bias; }

}  // namespace stereosweep::model
