#include "model/masked/MaskedWeights.hpp"

#include <ATen/ops/cat.h>

#include <string>
#include <string_view>
#include <utility>

#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {

namespace {

class EncoderReader {
 public:
  EncoderReader(TensorReader& reader, const MaskedSpecification& config) : reader_(reader), config_(config) {
    if (reader.has_any(config.names.body)) {
      prefix_ = config.names.body;
    }
  }

  MaskedWeights read() {
    MaskedWeights weights;
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
    reader_.check_left([this](const std::string& name) { return is_harmless(name); });
    return weights;
  }

 private:
  // Tied matrices may be stored under either name.
  std::string words_name() const {
    const auto own = prefix_ + "embeddings.word_embeddings.weight";
    const auto decoder = config_.names.head + "decoder.weight";
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

  MaskedLayer layer(std::int64_t index) {
    const auto scope = prefix_ + "encoder.layer." + std::to_string(index) + ".";
    const auto hidden = config_.hidden;
    MaskedLayer weights;
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

  std::optional<MaskedHead> head(const at::Tensor& words) {
    const auto& names = config_.names;
    if (!reader_.has_any(names.head)) {
      return std::nullopt;
    }
    // transformers' rule: the decoder's own matrix and bias count where they are stored; else the tied ones do.
    const auto decoder = names.head + "decoder.weight";
    const auto own_bias = names.head + "decoder.bias";
    const auto shared_bias = names.head + "bias";
    const bool own_matrix = !config_.tied_decoder || reader_.has(decoder);
    MaskedHead weights;
    weights.transform = linear(names.head_dense, config_.hidden, config_.hidden);
    weights.norm = norm(names.head_norm);
    const auto matrix = own_matrix ? reader_.take(decoder, {config_.vocabulary, config_.hidden}) : words;
    weights.vocabulary = matrix.size(0);
    auto bias = reader_.take_as(reader_.has(own_bias) ? own_bias : shared_bias, {weights.vocabulary}, at::kFloat);
    weights.decoder = OutputProjection(matrix, std::move(bias));
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

  TensorReader& reader_;
  const MaskedSpecification& config_;
  std::string prefix_;
};

}  // namespace

MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& config,
                                  const at::TensorOptions& options) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return EncoderReader(reader, config).read();
}

}  // namespace stereosweep::model
