// Small encoders for the tokens of LetterFiles.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/LetterFiles.hpp"
#include "model/CausalReference.hpp"
#include "model/families/Families.hpp"
#include "model/masked/MaskedWeights.hpp"

namespace stereosweep::engine::testing {

/// An encoder for the tokens of letter_files(2).
inline model::MaskedSpecification small_encoder() {
  auto shape = model::read_masked_specification(letter_files(2));
  shape.num_layers = 3;
  return shape;
}

/// Ways in which encoders differ from BERT.
inline std::vector<model::MaskedSpecification> encoder_shapes() {
  std::vector<model::MaskedSpecification> all;
  const auto add = [&](auto change) { change(all.emplace_back(small_encoder())); };
  add([](auto& shape) {  // scores by distance
    shape.names.positions.clear();
    shape.relative.buckets = 8;
    shape.relative.farthest = 16;
    shape.relative.content_to_position = true;
    shape.relative.position_to_content = true;
  });
  add([](auto& shape) {  // turned, with windows, gated, norms before
    shape.names.positions.clear();
    shape.norm = model::NormPlace::before;
    shape.attention_bias = false;
    shape.inner_bias = false;
    shape.norm_bias = false;
    shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1},
                      model::Rotary{8, model::RotaryPairs::halves, {1, 0.5F, 0.2F, 0.1F}, 1}};
    shape.layers = {{0, 0}, {2, 1}, {0, 0}};
  });
  add([](auto& shape) { shape.embedding = 16; });  // narrow words
  add([](auto& shape) {                            // eurobert; keys are repeated where they are read
    shape.names.positions.clear();
    shape.names.embedding_norm.clear();
    shape.norm = model::NormPlace::before;
    shape.norm_kind = model::NormKind::rms;
    shape.activation = model::Activation::silu;
    shape.attention_bias = false;
    shape.inner_bias = false;
    shape.norm_bias = false;
    shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1}};
    shape.layers.assign(static_cast<std::size_t>(shape.num_layers), model::LayerKind{});
  });
  return all;
}

/// Drawn weights as a checkpoint's come to the body.
class DrawnEncoder {
 public:
  DrawnEncoder(const model::MaskedSpecification& shape, const at::TensorOptions& options)
      : shape_(shape), options_(options) {}

  model::MaskedWeights weights() const {
    model::MaskedWeights weights;
    const auto width = shape_.embedding_width();
    weights.words = draw({shape_.vocabulary, width}, 1);
    if (!shape_.names.positions.empty()) {
      weights.positions = draw({shape_.positions, width}, 0.5);
    }
    if (!shape_.names.embedding_norm.empty()) {
      weights.embedding_norm = norm(width);
    }
    if (width != shape_.hidden) {
      weights.embedding_projection = linear(shape_.hidden, width, true);
    }
    for (std::int64_t i = 0; i < shape_.num_layers; ++i) {
      weights.layers.push_back(layer(i));
    }
    if (shape_.norm == model::NormPlace::before) {
      weights.final_norm = norm(shape_.hidden);
    }
    auto transform = linear(width, shape_.hidden, true);
    auto bias = draw({shape_.vocabulary}, 0.1).to(at::kFloat);
    weights.head.emplace(model::MaskedHead{std::move(transform), norm(width),
                                           model::OutputProjection(weights.words, std::move(bias)), shape_.vocabulary});
    return weights;
  }

 private:
  at::Tensor draw(std::vector<std::int64_t> size, double spread, double centre = 0) const {
    return model::testing::random_numbers(std::move(size), spread, centre).to(options_.device()).to(options_.dtype());
  }
  model::Linear linear(std::int64_t out, std::int64_t in, bool has_bias) const {
    auto weight = draw({out, in}, 0.15);
    return {std::move(weight), has_bias ? draw({out}, 0.1) : at::Tensor()};
  }
  model::Norm norm(std::int64_t width) const {
    auto weight = draw({width}, 0.1, 1);
    return {std::move(weight), shape_.norm_bias ? draw({width}, 0.1) : at::Tensor()};
  }
  model::MaskedLayer layer(std::int64_t number) const {
    const bool is_gated = shape_.norm == model::NormPlace::before;
    model::MaskedLayer layer;
    layer.query_key_value = linear(3 * shape_.hidden, shape_.hidden, shape_.attention_bias);
    layer.attention_output = linear(shape_.hidden, shape_.hidden, shape_.attention_bias);
    if (!is_gated || number > 0 || shape_.names.embedding_norm.empty()) {
      layer.attention_norm = norm(shape_.hidden);
    }
    layer.inner = linear((is_gated ? 2 : 1) * shape_.inner, shape_.hidden, shape_.inner_bias);
    layer.outer = linear(shape_.hidden, shape_.inner, shape_.inner_bias);
    layer.output_norm = norm(shape_.hidden);
    if (shape_.relative.farthest > 0) {
      layer.relative.keys = draw({2 * shape_.relative.span(), shape_.hidden}, 0.5);
      layer.relative.queries = draw({2 * shape_.relative.span(), shape_.hidden}, 0.5);
    }
    return layer;
  }

  const model::MaskedSpecification& shape_;
  at::TensorOptions options_;
};

}  // namespace stereosweep::engine::testing
