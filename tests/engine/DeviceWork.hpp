// Work for the fake device, or the one that runs nothing, as that of real models: shapes of families, batches of every
// kind of query, many or few layers. Widths are small, since no count follows from them.
#pragma once

#include <c10/core/InferenceMode.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/CausalTokenizer.hpp"
#include "engine/LetterFiles.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/families/Families.hpp"
#include "support/FakeDevice.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine::testing {

using model::CausalSpecification;
using stereosweep::testing::DeviceCounts;

constexpr std::int64_t batch_tokens = 16384;

using Ask = std::function<void(query::Engine&)>;
using Make = std::function<std::unique_ptr<query::Engine>(std::int64_t layers)>;

/// Of one call, the second one of an engine.
inline DeviceCounts counts_of(const Make& make, std::int64_t layers, const Ask& ask) {
  const auto engine = make(layers);
  ask(*engine);  // what is made once
  stereosweep::testing::reset_device_counts();
  ask(*engine);
  return stereosweep::testing::device_counts();
}

inline void check(const std::vector<query::Answer>& answers) {
  for (const auto& answer : answers) {
    if (const auto* error = std::get_if<query::QueryError>(&answer)) {
      throw std::runtime_error(error->message);
    }
  }
}

inline Ask asks(std::vector<query::Query> queries) {
  return [queries = std::move(queries)](query::Engine& engine) { check(engine.answer(queries)); };
}

inline at::TensorOptions on_device(at::ScalarType type) {
  return at::TensorOptions(stereosweep::testing::fake_device()).dtype(type);
}

inline at::TensorOptions on_gpu(at::ScalarType type) { return at::TensorOptions(at::Device(at::kCUDA)).dtype(type); }

/// An engine with what it borrows.
class BertLike : public query::Engine {
 public:
  BertLike(std::int64_t layers, const at::TensorOptions& options)
      : files_(letter_files(layers)), tokenizer_(tokenizer::Tokenizer::from_files(files_)) {
    const c10::InferenceMode guard;
    const auto specification = model::read_masked_specification(files_);
    engine_ = std::make_unique<MaskedEngine>(
        model::make_masked_model(specification, model::load_masked_weights(files_, specification, options)), tokenizer_,
        batch_tokens);
  }
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    return engine_->plan(queries);
  }
  std::optional<std::string> lacks(query::Prediction asked) const override { return engine_->lacks(asked); }

 private:
  base::FileSet files_;
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<MaskedEngine> engine_;
};

class Decoder : public query::Engine {
 public:
  Decoder(CausalSpecification specification, std::int64_t layers, const at::TensorOptions& options)
      : tokenizer_(causal_tokenizer(FirstToken::beginning)) {
    const c10::InferenceMode guard;
    specification.layers.assign(static_cast<std::size_t>(layers), model::LayerKind{});
    stereosweep::testing::draw_from(1);  // which texts draw alike decides on levels, and so on launches
    auto plain = model::testing::random_model(specification, {}, 0.1);
    if (specification.norm == model::NormKind::rms) {
      plain = model::testing::without_biases(std::move(plain));
    }
    engine_ = std::make_unique<CausalEngine>(
        model::make_causal_model(specification, model::testing::weights_of(plain, options)), tokenizer_,
        CausalSettings{batch_tokens, {}});
  }
  std::unique_ptr<query::Call> plan(std::span<const query::Query> queries) const override {
    return engine_->plan(queries);
  }
  std::optional<std::string> lacks(query::Prediction asked) const override { return engine_->lacks(asked); }

 private:
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<CausalEngine> engine_;
};

inline std::string letters(int count, int seed) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += static_cast<char>('e' + (seed * 7 + i * (seed % 5 + 3) + i * i) % 20);
  }
  return text;
}

/// Sentences of several lengths, together one batch.
inline std::vector<query::Query> fills(bool with_distances) {
  std::vector<query::Query> queries;
  for (int i = 0; i < 600; ++i) {
    query::Fill fill{"[MASK]", {}, true, with_distances};
    for (const char letter : letters(4 + i % 16, i)) {
      fill.text += std::string(" ") + letter;
    }
    fill.slots.push_back({std::nullopt, {7, 8, 9}});
    queries.emplace_back(fill);
  }
  return queries;
}

inline std::vector<query::Query> vectors() {
  std::vector<query::Query> queries;
  for (int i = 0; i < 600; ++i) {
    std::string text = "a";
    for (const char letter : letters(4 + i % 16, i)) {
      text += std::string(" ") + letter;
    }
    queries.emplace_back(query::Embed{text, {2, 7}, -1, query::Pool::mean});
  }
  return queries;
}

/// About 2200 rows in three levels: one beginning, 20 middles, 5 ends of each.
inline std::vector<query::Query> tree() {
  std::vector<query::Query> queries;
  const auto beginning = letters(40, 1);
  for (int middle = 0; middle < 20; ++middle) {
    query::Continue asked;
    asked.prompt = beginning + letters(30, 2 + middle);
    for (int end = 0; end < 5; ++end) {
      asked.continuations.push_back(letters(16, 30 + 5 * middle + end));
    }
    queries.emplace_back(asked);
  }
  return queries;
}

/// So many texts that grow together, each as `sampling` says.
inline std::vector<query::Query> growing(int count, int tokens, query::Generate sampling) {
  std::vector<query::Query> queries;
  for (int i = 0; i < count; ++i) {
    sampling.prompt = letters(20, i);
    sampling.max_new_tokens = tokens;
    sampling.seed = static_cast<std::uint64_t>(i);
    queries.emplace_back(sampling);
  }
  return queries;
}

inline Ask texts(int tokens, double temperature, int top_k, double top_p) {
  query::Generate sampling;
  sampling.temperature = temperature;
  sampling.top_k = top_k;
  sampling.top_p = top_p;
  return asks(growing(64, tokens, sampling));
}

inline CausalSpecification gpt2_like() {
  CausalSpecification shape;
  shape.family = "test";
  shape.vocabulary = 270;
  shape.hidden = 64;
  shape.inner = 128;
  shape.num_heads = 8;
  shape.num_key_heads = 8;
  shape.head_width = 8;
  shape.max_tokens = 128;
  shape.norm_epsilon = 1e-5;
  shape.attention_scale = 1 / std::sqrt(8.0F);
  shape.names.positions = "positions";
  shape.activation = model::Activation::gelu_tanh;
  return shape;
}

inline CausalSpecification llama_like() {
  auto shape = gpt2_like();
  shape.names.positions.clear();
  shape.rotaries = {model::Rotary{8, model::RotaryPairs::halves, {1, 0.3F, 0.1F, 0.03F}, 1}};
  shape.norm = model::NormKind::rms;
  shape.num_key_heads = 2;
  shape.gated = true;
  shape.activation = model::Activation::silu;
  return shape;
}

inline CausalSpecification mixtral_like() {
  auto shape = llama_like();
  shape.experts = {8, 2, true};
  return shape;
}

inline CausalSpecification alibi_like() {
  auto shape = gpt2_like();
  shape.names.positions.clear();
  shape.alibi_slopes = {0.5F, 0.25F, 0.125F, 0.0625F, 0.03125F, 0.015625F, 0.0078125F, 0.00390625F};
  return shape;
}

inline CausalSpecification capped_like() {
  auto shape = llama_like();
  shape.attention_softcap = 50;
  return shape;
}

inline Make decoder(const CausalSpecification& shape, const at::TensorOptions& options) {
  return [=](std::int64_t layers) { return std::make_unique<Decoder>(shape, layers, options); };
}
inline Make decoder(const CausalSpecification& shape, at::ScalarType type) { return decoder(shape, on_device(type)); }

inline Make bert(const at::TensorOptions& options) {
  return [=](std::int64_t layers) { return std::make_unique<BertLike>(layers, options); };
}
inline Make bert(at::ScalarType type) { return bert(on_device(type)); }

}  // namespace stereosweep::engine::testing
