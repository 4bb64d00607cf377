// Tiny BERT and RoBERTa checkpoints made of seeded numbers, whole or damaged, for tests.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "model/SafetensorsText.hpp"

namespace stereosweep::model::testing {

/// A tensor before it is written. `dtype` as the format writes it; `bytes` are raw.
struct TinyTensor {
  std::string dtype = "F32";
  std::vector<std::int64_t> shape;
  std::string bytes;
};

struct TinyCheckpoint {
  std::string config;
  std::map<std::string, TinyTensor> tensors;

  /// The directory's files, as they would come from disk.
  base::FileSet files() const {
    std::string header = "{";
    std::string data;
    for (const auto& [name, tensor] : tensors) {
      std::string shape = "[";
      for (const auto size : tensor.shape) {
        shape += (shape.size() > 1 ? "," : "") + std::to_string(size);
      }
      header += (header.size() > 1 ? "," : "") +
                entry_of(name, tensor.dtype, shape + "]", data.size(), data.size() + tensor.bytes.size());
      data += tensor.bytes;
    }
    base::FileSet set("tiny");
    set.add("config.json", base::to_shared(config));
    set.add("model.safetensors", base::to_shared(file_of(header + "}", data)));
    return set;
  }

  /// The same tensors under other names.
  TinyCheckpoint renamed(const std::function<std::string(std::string)>& rename) const {
    TinyCheckpoint other{config, {}};
    for (const auto& [name, tensor] : tensors) {
      other.tensors[rename(name)] = tensor;
    }
    return other;
  }
};

constexpr std::int64_t tiny_words = 40;
constexpr std::int64_t tiny_hidden = 32;
constexpr std::int64_t tiny_layers = 2;
constexpr std::int64_t tiny_positions = 24;

inline TinyTensor tiny_tensor(std::mt19937& random, std::vector<std::int64_t> shape, float centre, float spread) {
  std::normal_distribution<float> numbers(centre, spread);
  std::int64_t count = 1;
  for (const auto size : shape) {
    count *= size;
  }
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(numbers(random));
  }
  return {"F32", std::move(shape), floats(values)};
}

/// `family` is "bert" or "roberta"; tied decoder, all names with the family's prefix.
inline TinyCheckpoint tiny_checkpoint(const std::string& family, std::int64_t layers = tiny_layers) {
  const bool bert = family == "bert";
  TinyCheckpoint tiny;
  tiny.config = "{\"model_type\":\"" + family +
                "\",\"vocab_size\":40,\"hidden_size\":32,\"num_hidden_layers\":" + std::to_string(layers) + "," +
                "\"num_attention_heads\":4,\"intermediate_size\":48,\"max_position_embeddings\":24," +
                "\"type_vocab_size\":2,\"layer_norm_eps\":1e-5,\"pad_token_id\":1}";
  std::mt19937 random(7);
  const auto matrix = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    tiny.tensors[name + ".weight"] = tiny_tensor(random, {out, in}, 0, 0.3F);
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t in) {
    matrix(name, out, in);
    tiny.tensors[name + ".bias"] = tiny_tensor(random, {out}, 0, 0.1F);
  };
  const auto norm = [&](const std::string& name) {
    tiny.tensors[name + ".weight"] = tiny_tensor(random, {tiny_hidden}, 1, 0.1F);
    tiny.tensors[name + ".bias"] = tiny_tensor(random, {tiny_hidden}, 0, 0.1F);
  };
  matrix(family + ".embeddings.word_embeddings", tiny_words, tiny_hidden);
  matrix(family + ".embeddings.position_embeddings", tiny_positions, tiny_hidden);
  matrix(family + ".embeddings.token_type_embeddings", 2, tiny_hidden);
  norm(family + ".embeddings.LayerNorm");
  for (std::int64_t i = 0; i < layers; ++i) {
    const auto scope = family + ".encoder.layer." + std::to_string(i) + ".";
    for (const auto* part : {"attention.self.query", "attention.self.key", "attention.self.value"}) {
      linear(scope + part, tiny_hidden, tiny_hidden);
    }
    linear(scope + "attention.output.dense", tiny_hidden, tiny_hidden);
    norm(scope + "attention.output.LayerNorm");
    linear(scope + "intermediate.dense", 48, tiny_hidden);
    linear(scope + "output.dense", tiny_hidden, 48);
    norm(scope + "output.LayerNorm");
  }
  linear(bert ? "cls.predictions.transform.dense" : "lm_head.dense", tiny_hidden, tiny_hidden);
  norm(bert ? "cls.predictions.transform.LayerNorm" : "lm_head.layer_norm");
  tiny.tensors[bert ? "cls.predictions.bias" : "lm_head.bias"] = tiny_tensor(random, {tiny_words}, 0, 0.5F);
  return tiny;
}

}  // namespace stereosweep::model::testing
