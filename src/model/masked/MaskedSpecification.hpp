// What makes one family of masked models differ from another: settings of the one encoder.
// config.json -> MaskedSpecification happens in families/, one function per family; the body knows no family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/causal/CausalSpecification.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

/// Names of a head's tensors; without ".weight" and ".bias". Without `dense` and `norm` it is the decoder alone.
struct MaskedHeadNames {
  std::string beginning = "cls.predictions.";  ///< stands before all of them, and before no tensor of another head
  std::string dense = "cls.predictions.transform.dense";
  std::string norm = "cls.predictions.transform.LayerNorm";
  std::string decoder = "cls.predictions.decoder";
  std::string bias = "cls.predictions.bias";  ///< counts where the decoder has none of its own
};

/// Names of a checkpoint's tensors, where families differ; without ".weight" and ".bias". "": the family has none.
struct MaskedNames {
  std::string body = "bert.";  ///< may stand before all names of the body
  std::string words = "embeddings.word_embeddings";
  std::string positions = "embeddings.position_embeddings";
  std::string token_types = "embeddings.token_type_embeddings";
  std::string embedding_norm = "embeddings.LayerNorm";
  std::string embedding_projection;  ///< from the words' width to the layers'
  std::vector<std::string> layers;   ///< of each layer: what stands before its names; layers of one name share weights
  std::string query = "attention.self.query";
  std::string key = "attention.self.key";
  std::string value = "attention.self.value";
  std::string query_key_value;  ///< stored below each other, in place of the three
  std::string attention_output = "attention.output.dense";
  std::string attention_norm = "attention.output.LayerNorm";
  std::string inner = "intermediate.dense";  ///< with a gate: both below each other, or the gate alone
  std::string up;                            ///< where it is stored by itself
  std::string outer = "output.dense";
  std::string output_norm = "output.LayerNorm";
  std::string final_norm;
  std::vector<MaskedHeadNames> heads = {MaskedHeadNames()};  ///< the first that is stored counts
  std::vector<std::string> harmless;                         ///< beginnings of tensors that no number here depends on
};

/// Scores that depend on how far apart two words are (DeBERTa; He et al. 2021, «Disentangled attention»). Distances up
/// to `buckets` / 2 count each, farther ones on a logarithmic scale up to `farthest`; without buckets all count.
struct RelativePositions {
  std::int64_t buckets = 0;   ///< 0: none
  std::int64_t farthest = 0;  ///< distance from which on all are alike; 0: this model has no relative positions
  bool content_to_position = false;
  bool position_to_content = false;
  bool own_projections = false;  ///< else those of queries and keys serve positions, too
  bool normed = false;           ///< a layer norm over the table of positions
  /// Rows of the table: one for each of the distances -span to span - 1.
  std::int64_t span() const { return buckets > 0 ? buckets : farthest; }
};

/// after_adding: norm(x + part(x)), as BERT. before: x + part(norm(x)) with a gated feed-forward layer and a norm at
/// the end, as ModernBERT; no norm before the first layer's attention where one stands behind the embeddings.
enum class NormPlace { after_adding, before };

/// Without `rotaries` nothing turns. `layers` is empty where layers do not differ; else a window sees as many tokens on
/// both sides (0: all).
struct MaskedSpecification : BodySettings {
  std::int64_t embedding = 0;  ///< width of the words' vectors; 0: hidden
  std::int64_t num_layers = 0;
  std::int64_t positions = 0;       ///< rows of the position table
  std::int64_t token_types = 0;     ///< rows of the token type table
  std::int64_t first_position = 0;  ///< position of a sequence's first token (RoBERTa: pad_token_id + 1)
  bool skips_padding = false;  ///< token first_position - 1 stands at the position of that number and is not counted
  Activation head_activation = Activation::gelu;
  bool tied_decoder = true;  ///< false: the weights must hold a decoder matrix of its own
  bool norm_bias = true;     ///< norms have a shift
  bool attention_bias = true;
  bool inner_bias = true;
  bool head_bias = true;     ///< of the head's dense layer
  bool decoder_bias = true;  ///< of the logits
  NormPlace norm = NormPlace::after_adding;
  NormKind norm_kind = NormKind::layer;  ///< or rms, where they stand before
  RelativePositions relative;
  MaskedNames names;

  std::int64_t embedding_width() const { return embedding == 0 ? hidden : embedding; }
};

}  // namespace stereosweep::model
