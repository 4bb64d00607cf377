#include "model/EncoderWeights.hpp"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "model/TensorReader.hpp"

namespace stereosweep::model {
namespace {

using base::describe;
using base::InputError;
using base::json_quote;

/// Names of the two heads.
struct HeadNames {
  std::string prefix;  ///< all tensors of the head begin with it
  std::string dense;
  std::string norm;
};

HeadNames head_names(Family family) {
  return family == Family::bert
             ? HeadNames{"cls.predictions.", "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm"}
             : HeadNames{"lm_head.", "lm_head.dense", "lm_head.layer_norm"};
}

class EncoderReader {
 public:
  EncoderReader(TensorReader& reader, const CheckpointConfig& config) : reader_(reader), config_(config) {
    const std::string family = config.family == Family::bert ? "bert." : "roberta.";
    const auto begins = [&](const auto& row) { return row.first.starts_with(family); };
    prefix_ = std::any_of(reader.stored().begin(), reader.stored().end(), begins) ? family : "";
  }

  EncoderWeights read() {
    EncoderWeights weights;
    const auto hidden = config_.hidden;
    weights.words = reader_.take(words_name(), {config_.vocabulary, hidden});
    weights.positions = reader_.take(prefix_ + "embeddings.position_embeddings.weight", {config_.positions, hidden});
    const auto types = reader_.take(prefix_ + "embeddings.token_type_embeddings.weight", {config_.token_types, hidden});
    weights.positions = weights.positions.add(types[0]);
    weights.embedding_norm = norm(prefix_ + "embeddings.LayerNorm");
    for (std::int64_t index = 0; index < config_.num_layers; ++index) {
      weights.layers.push_back(layer(index));
    }
    weights.head = head(weights.words);
    check_left();
    return weights;
  }

 private:
  // Tied matrices may be stored under either name.
  std::string words_name() const {
    const auto own = prefix_ + "embeddings.word_embeddings.weight";
    const auto decoder = head_names(config_.family).prefix + "decoder.weight";
    return !reader_.has(own) && reader_.has(decoder) && config_.tied_decoder ? decoder : own;
  }

  // Old checkpoints call scale and shift of a layer norm gamma and beta.
  Norm norm(const std::string& name) {
    const auto old = !reader_.has(name + ".weight") && reader_.has(name + ".gamma");
    return {reader_.take(name + (old ? ".gamma" : ".weight"), {config_.hidden}),
            reader_.take(name + (old ? ".beta" : ".bias"), {config_.hidden})};
  }

  Linear linear(const std::string& name, std::int64_t out, std::int64_t in) {
    auto weight = reader_.take(name + ".weight", {out, in});
    return {std::move(weight), reader_.take(name + ".bias", {out})};
  }

  // Several matrices of one input below each other, so that one product does the work of all.
  Linear stacked(const std::string& scope, std::initializer_list<const char*> names) {
    std::vector<at::Tensor> weights;
    std::vector<at::Tensor> biases;
    for (const auto* name : names) {
      weights.push_back(reader_.take(scope + name + ".weight", {config_.hidden, config_.hidden}));
      biases.push_back(reader_.take(scope + name + ".bias", {config_.hidden}));
    }
    return {at::cat(weights), at::cat(biases)};
  }

  LayerWeights layer(std::int64_t index) {
    const auto scope = prefix_ + "encoder.layer." + std::to_string(index) + ".";
    const auto hidden = config_.hidden;
    LayerWeights weights;
    if (index + 1 < config_.num_layers) {
      weights.query_key_value = stacked(scope + "attention.self.", {"query", "key", "value"});
    } else {
      weights.query = linear(scope + "attention.self.query", hidden, hidden);
      weights.key_value = stacked(scope + "attention.self.", {"key", "value"});
    }
    weights.attention_output = linear(scope + "attention.output.dense", hidden, hidden);
    weights.attention_norm = norm(scope + "attention.output.LayerNorm");
    weights.inner = linear(scope + "intermediate.dense", config_.inner, hidden);
    weights.outer = linear(scope + "output.dense", hidden, config_.inner);
    weights.output_norm = norm(scope + "output.LayerNorm");
    return weights;
  }

  std::optional<HeadWeights> head(const at::Tensor& words) {
    const auto names = head_names(config_.family);
    const auto begins = [&](const auto& row) { return row.first.starts_with(names.prefix); };
    if (std::none_of(reader_.stored().begin(), reader_.stored().end(), begins)) {
      return std::nullopt;
    }
    // transformers' rule: the decoder's own matrix and bias count where they are stored; else the tied ones do.
    const auto decoder = names.prefix + "decoder.weight";
    const auto own_bias = names.prefix + "decoder.bias";
    const auto shared_bias = names.prefix + "bias";
    const bool own_matrix = !config_.tied_decoder || reader_.has(decoder);
    HeadWeights weights;
    weights.transform = linear(names.dense, config_.hidden, config_.hidden);
    weights.norm = norm(names.norm);
    const auto matrix = own_matrix ? reader_.take(decoder, {config_.vocabulary, config_.hidden}) : words;
    weights.vocabulary = matrix.size(0);
    auto bias = reader_.take_as(reader_.has(own_bias) ? own_bias : shared_bias, {weights.vocabulary}, at::kFloat);
    weights.decoder = Decoder(matrix, std::move(bias));
    reader_.ignore(shared_bias);
    return weights;
  }

  // Parts that do not change what is computed here. Anything else that is left means another architecture.
  bool is_harmless(const std::string& name) const {
    const auto within = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    return name.starts_with(prefix_ + "pooler.") || name.starts_with("pooler.") ||
           name.starts_with("cls.seq_relationship.") || name.starts_with("classifier.") || within("position_ids") ||
           within("token_type_ids");
  }

  void check_left() const {
    for (const auto& name : reader_.left()) {
      if (!is_harmless(name)) {
        throw InputError(reader_.stored().at(name).file + ": " +
                         describe("tensor " + json_quote(name) + " is not expected",
                                  "it belongs to no part of the model that config.json describes"));
      }
    }
    reader_.check_rest();
  }

  TensorReader& reader_;
  const CheckpointConfig& config_;
  std::string prefix_;
};

}  // namespace

EncoderWeights load_encoder_weights(const base::FileSet& files, const CheckpointConfig& config,
                                    const at::TensorOptions& options) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return EncoderReader(reader, config).read();
}

}  // namespace stereosweep::model
