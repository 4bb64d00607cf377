// Small encoders for the tokens of LetterFiles.hpp.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/LetterFiles.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/families/Families.hpp"

namespace stereosweep::engine::testing {

/// An encoder for the tokens of letter_files(2).
inline model::MaskedSpecification small_encoder() {
  auto shape = model::read_masked_specification(letter_files(2));
  shape.layers.resize(3);
  return shape;
}

/// Norms before each part, gates, no biases.
inline void norms_before(model::MaskedSpecification& shape) {
  shape.residual = model::Residual::sequential;
  shape.gated = true;
  shape.names.query_key_value_bias = false;
  shape.names.feed_forward_bias = false;
  shape.names.norm_bias = false;
  shape.names.final_norm = "norm";
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
    norms_before(shape);
    shape.names.first_attention_norm = false;
    shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1},
                      model::Rotary{8, model::RotaryPairs::halves, {1, 0.5F, 0.2F, 0.1F}, 1}};
    shape.layers = {{0, 0}, {2, 1}, {0, 0}};
  });
  add([](auto& shape) { shape.embedding = 16; });  // narrow words
  add([](auto& shape) {                            // eurobert; keys are repeated where they are read
    shape.names.positions.clear();
    shape.names.embedding_norm.clear();
    norms_before(shape);
    shape.norm = model::NormKind::rms;
    shape.activation = model::Activation::silu;
    shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1}};
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
    for (std::size_t i = 0; i < shape_.layers.size(); ++i) {
      weights.layers.push_back(layer(i));
      if (shape_.relative.farthest > 0) {
        auto keys = draw({2 * shape_.relative.span(), shape_.hidden}, 0.5);
        weights.relative.push_back({std::move(keys), draw({2 * shape_.relative.span(), shape_.hidden}, 0.5)});
      }
    }
    if (!shape_.names.final_norm.empty()) {
      weights.final_norm = norm(shape_.hidden);
    }
    weights.head_dense = linear(width, shape_.hidden, true);
    weights.head_bias = draw({shape_.vocabulary}, 0.1).to(at::kFloat);
    weights.head_norm = norm(width);
    weights.head = weights.words;
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
    return {std::move(weight), shape_.names.norm_bias ? draw({width}, 0.1) : at::Tensor()};
  }
  model::Layer layer(std::size_t number) const {
    const auto& names = shape_.names;
    model::Layer layer;
    layer.query_key_value = linear(3 * shape_.hidden, shape_.hidden, names.query_key_value_bias);
    layer.attention_output = linear(shape_.hidden, shape_.hidden, names.query_key_value_bias);
    if (number > 0 || names.first_attention_norm) {
      layer.attention_norm = norm(shape_.hidden);
    }
    auto inner = linear((shape_.gated ? 2 : 1) * shape_.inner, shape_.hidden, names.feed_forward_bias);
    layer.feed_forward = {std::move(inner), linear(shape_.hidden, shape_.inner, names.feed_forward_bias)};
    layer.feed_forward_norm = norm(shape_.hidden);
    return layer;
  }

  const model::MaskedSpecification& shape_;
  at::TensorOptions options_;
};

}  // namespace stereosweep::engine::testing
