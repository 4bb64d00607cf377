#include "model/masked/MaskedWeights.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {

namespace {

enum class Bias { none, stored };

Bias bias_if(bool stored) { return stored ? Bias::stored : Bias::none; }

struct Matrix {
  at::Tensor weight;
  at::Tensor bias;  // undefined: none
};

Matrix below_each_other(std::initializer_list<Matrix> parts) {
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  for (const auto& part : parts) {
    weights.push_back(part.weight);
    biases.push_back(part.bias);
  }
  return {at::cat(weights), biases.front().defined() ? at::cat(biases) : at::Tensor()};
}

class EncoderReader {
 public:
  EncoderReader(TensorReader& reader, const MaskedSpecification& config)
      : reader_(reader), config_(config), names_(config.names) {
    if (reader.has_any(names_.body)) {
      prefix_ = names_.body;
    }
    const auto is_stored = [&](const MaskedHeadNames& head) {
      return reader.has_any(head.beginning) || (head.dense.empty() && config.tied_decoder);
    };
    const auto found = std::ranges::find_if(names_.heads, is_stored);
    head_names_ = found == names_.heads.end() ? nullptr : &*found;
  }

  MaskedWeights read() {
    MaskedWeights weights;
    weights.words = reader_.take(words_name(), {config_.vocabulary, config_.embedding_width()});
    weights.positions = positions();
    if (!names_.embedding_norm.empty()) {
      weights.embedding_norm = norm(prefix_ + names_.embedding_norm, config_.embedding_width());
    }
    if (!names_.embedding_projection.empty()) {
      weights.embedding_projection =
          linear(prefix_ + names_.embedding_projection, config_.hidden, config_.embedding_width(), Bias::stored);
    }
    read_relative_table();
    for (std::size_t index = 0; index < names_.layers.size(); ++index) {
      weights.layers.push_back(layer(index));
    }
    if (!names_.final_norm.empty()) {
      weights.final_norm = norm(prefix_ + names_.final_norm, config_.hidden);
    }
    weights.head = head(weights.words);
    if (weights.head && is_tied()) {
      weights.head->decoder.share(weights.words);
    }
    reader_.check_left([this](const std::string& name) { return is_harmless(name); });
    return weights;
  }

 private:
  // Tied matrices may be stored under either name.
  std::string words_name() const {
    const auto own = prefix_ + names_.words + ".weight";
    const auto decoder = head_names_ == nullptr ? "" : head_names_->decoder + ".weight";
    return !reader_.has(own) && reader_.has(decoder) && config_.tied_decoder ? decoder : own;
  }

  at::Tensor positions() {
    at::Tensor table;
    if (!names_.positions.empty()) {
      table = reader_.take(prefix_ + names_.positions + ".weight", {config_.positions, config_.embedding_width()});
    }
    if (config_.token_types == 0) {
      return table;
    }
    const auto types =
        reader_.take(prefix_ + names_.token_types + ".weight", {config_.token_types, config_.embedding_width()});
    return table.defined() ? table.add(types[0]) : types.slice(0, 0, 1);
  }

  // Old checkpoints call scale and shift of a layer norm gamma and beta.
  Norm norm(const std::string& name, std::int64_t width) {
    const auto old = !reader_.has(name + ".weight") && reader_.has(name + ".gamma");
    return {reader_.take(name + (old ? ".gamma" : ".weight"), {width}),
            config_.norm_bias ? reader_.take(name + (old ? ".beta" : ".bias"), {width}) : at::Tensor()};
  }

  Matrix matrix(const std::string& name, std::int64_t out, std::int64_t in, Bias bias) {
    auto weight = reader_.take(name + ".weight", {out, in});
    return {std::move(weight), bias == Bias::stored ? reader_.take(name + ".bias", {out}) : at::Tensor()};
  }

  static Linear linear_of(Matrix matrix) { return {std::move(matrix.weight), std::move(matrix.bias)}; }

  Linear linear(const std::string& name, std::int64_t out, std::int64_t in, Bias bias) {
    return linear_of(matrix(name, out, in, bias));
  }

  // Keys or values; heads that share them get their own, so that each has one.
  Matrix repeated_heads(const std::string& name, Bias bias) {
    const auto shared = config_.num_key_heads;
    const auto width = config_.head_width;
    auto own = matrix(name, shared * width, config_.hidden, bias);
    const auto repeat = [&](at::Tensor& rows) {
      if (rows.defined() && shared != config_.num_heads) {
        rows = rows.unflatten(0, {shared, width}).repeat_interleave(config_.num_heads / shared, 0).flatten(0, 1);
      }
    };
    repeat(own.weight);
    repeat(own.bias);
    return own;
  }

  MaskedLayer layer(std::size_t index) {
    const auto& scope = names_.layers[index];
    if (const auto known = layers_.find(scope); known != layers_.end()) {
      return known->second;
    }
    return layers_.emplace(scope, read_layer(prefix_ + scope, index)).first->second;
  }

  // Whether few rows of this layer's queries can be computed alone.
  bool has_queries_apart(std::size_t index) const {
    return index + 1 == names_.layers.size() && std::ranges::count(names_.layers, names_.layers[index]) == 1 &&
           config_.relative.farthest == 0 && config_.rotaries.empty();
  }

  MaskedLayer read_layer(const std::string& scope, std::size_t index) {
    const auto hidden = config_.hidden;
    const auto attention = bias_if(config_.attention_bias);
    const auto feed = bias_if(config_.inner_bias);
    const bool is_gated = config_.norm == NormPlace::before;
    MaskedLayer weights;
    if (!names_.query_key_value.empty()) {
      weights.query_key_value = linear(scope + names_.query_key_value, 3 * hidden, hidden, attention);
    } else {
      const auto query = matrix(scope + names_.query, hidden, hidden, attention);
      const auto key = repeated_heads(scope + names_.key, attention);
      const auto value = repeated_heads(scope + names_.value, attention);
      weights.relative = relative_rows(scope, query, key);
      if (has_queries_apart(index)) {
        weights.query = linear_of(query);
        weights.key_value = linear_of(below_each_other({key, value}));
      } else {
        weights.query_key_value = linear_of(below_each_other({query, key, value}));
      }
    }
    weights.attention_output = linear(scope + names_.attention_output, hidden, hidden, attention);
    if (config_.norm == NormPlace::after_adding || index > 0 || names_.embedding_norm.empty()) {
      weights.attention_norm = norm(scope + names_.attention_norm, hidden);
    }
    weights.inner = names_.up.empty()
                        ? linear(scope + names_.inner, (is_gated ? 2 : 1) * config_.inner, hidden, feed)
                        : linear_of(below_each_other({matrix(scope + names_.inner, config_.inner, hidden, feed),
                                                      matrix(scope + names_.up, config_.inner, hidden, feed)}));
    weights.outer = linear(scope + names_.outer, hidden, config_.inner, feed);
    weights.output_norm = norm(scope + names_.output_norm, hidden);
    return weights;
  }

  void read_relative_table() {
    const auto& relative = config_.relative;
    if (relative.farthest == 0) {
      return;
    }
    relative_table_ = reader_.take(prefix_ + "encoder.rel_embeddings.weight", {2 * relative.span(), config_.hidden});
    if (!relative.normed) {
      return;
    }
    const auto own = norm(prefix_ + "encoder.LayerNorm", config_.hidden);
    if (!relative_table_.is_meta()) {  // there torch has no layer norm
      relative_table_ =
          at::layer_norm(relative_table_, {config_.hidden}, own.weight, own.bias, config_.norm_epsilon, false);
    }
  }

  RelativeRows relative_rows(const std::string& scope, const Matrix& query, const Matrix& key) {
    const auto& relative = config_.relative;
    RelativeRows rows;
    const auto project = [&](const Matrix& by) { return at::linear(relative_table_, by.weight, by.bias); };
    const auto own = [&](const char* name) {
      return matrix(scope + "attention.self." + name, config_.hidden, config_.hidden, Bias::stored);
    };
    if (relative.farthest > 0 && relative.content_to_position) {
      rows.keys = project(relative.own_projections ? own("pos_key_proj") : key);
    }
    if (relative.farthest > 0 && relative.position_to_content) {
      rows.queries = project(relative.own_projections ? own("pos_query_proj") : query);
    }
    return rows;
  }

  std::string decoder_name() const { return head_names_->decoder + ".weight"; }

  // transformers' rule: the decoder's own matrix and bias count where they are stored; else the tied ones do.
  bool is_tied() const { return config_.tied_decoder && !reader_.has(decoder_name()); }

  std::optional<MaskedHead> head(const at::Tensor& words) {
    if (head_names_ == nullptr) {
      return std::nullopt;
    }
    const auto& names = *head_names_;
    const auto own_bias = names.decoder + ".bias";
    const auto width = config_.embedding_width();
    MaskedHead weights;
    if (!names.dense.empty()) {
      weights.transform = linear(names.dense, width, config_.hidden, bias_if(config_.head_bias));
      weights.norm = norm(names.norm, width);
    }
    const auto matrix = is_tied() ? words : reader_.take(decoder_name(), {config_.vocabulary, width});
    weights.vocabulary = matrix.size(0);
    auto bias = !config_.decoder_bias
                    ? at::zeros({weights.vocabulary}, words.options().dtype(at::kFloat))
                    : reader_.take_as(reader_.has(own_bias) ? own_bias : names.bias, {weights.vocabulary}, at::kFloat);
    weights.decoder = OutputProjection(matrix, std::move(bias));
    reader_.ignore(names.bias);
    return weights;
  }

  // Parts that do not change what is computed here. Anything else that is left means another architecture.
  bool is_harmless(const std::string& name) const {
    const auto within = [&](std::string_view part) { return name.find(part) != std::string::npos; };
    const auto begins = [&](const std::string& part) { return name.starts_with(part); };
    return name.starts_with(prefix_ + "pooler.") || name.starts_with("pooler.") ||
           name.starts_with("cls.seq_relationship.") || name.starts_with("classifier.") || within("position_ids") ||
           within("token_type_ids") || std::ranges::any_of(names_.harmless, begins);
  }

  TensorReader& reader_;
  const MaskedSpecification& config_;
  const MaskedNames& names_;
  const MaskedHeadNames* head_names_ = nullptr;  ///< null: no head is stored
  std::string prefix_;
  std::map<std::string, MaskedLayer> layers_;  ///< by what stands before their names
  at::Tensor relative_table_;                  ///< [2 span, hidden]
};

}  // namespace

MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& config,
                                  const at::TensorOptions& options) {
  TensorReader reader(read_stored_tensors(files), files.directory(), options);
  return EncoderReader(reader, config).read();
}

}  // namespace stereosweep::model
