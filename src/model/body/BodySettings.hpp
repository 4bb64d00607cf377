// What decoders and encoders have alike: settings of a body of layers, and how checkpoints call its matrices.
// config.json -> settings happens in families/, one function per family; the bodies know no family.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

enum class NormKind {
  layer,      ///< (x - mean) / sqrt(var + epsilon) * weight + bias
  rms,        ///< x / sqrt(mean(x^2) + epsilon), in float32, rounded to the model's dtype, then * weight
  rms_late,   ///< the same in float32 throughout, rounded last (OLMo 2)
  rms_gemma,  ///< rms_late with (1 + weight)
};

/// How a layer adds up. Each norm stands in the weights where the family has it.
enum class Residual {
  sequential,   ///< x += [post](attention(pre(x))); x += [post](mlp(pre(x)))
  parallel,     ///< x += attention(norm_1(x)) + mlp(norm_2(x)); one norm may serve both. Of decoders alone
  after_adding  ///< BERT, OpenAI-GPT: n = norm_1(x + attention(x)); x = norm_2(n + mlp(n))
};

enum class RotaryPairs {
  halves,     ///< i and i + width/2 turn together (LLaMA, NeoX)
  neighbours  ///< 2i and 2i + 1 (GPT-J)
};

/// Turning of queries and keys by position.
struct Rotary {
  std::int64_t width = 0;  ///< first numbers of a head that turn
  RotaryPairs pairs = RotaryPairs::halves;
  std::vector<float> inverse_frequencies;  ///< [width / 2], scaling applied, computed in float32 as transformers does
  float scaling = 1;                       ///< of cosine and sine (yarn, longrope)
};

enum class QueryKeyNorm { none, per_head, whole };

/// One layer's attention, where layers differ.
struct LayerKind {
  std::int64_t window = 0;  ///< 0: none. Of a decoder: key j is visible to query i where i - j < window; of an encoder:
                            ///< where j is at most so many places away, on both sides
  int rotary = 0;           ///< number in BodySettings::rotaries; -1: this layer does not turn
};

struct Experts {
  std::int64_t count = 0;  ///< 0: a plain feed-forward layer
  std::int64_t per_token = 0;
  bool renormalize = true;  ///< the chosen ones' weights sum to 1
};

/// How matrices of all experts of a layer lie where they are one tensor.
enum class ExpertPacking {
  upright,     ///< [expert, out, in], all of gate, then all of up; no biases
  interleaved  ///< [expert, in, out], in blocks of four bits [expert, out, in]: a number of gate, one of up, and so on;
               ///< with biases, as the router (GPT-OSS)
};

/// How queries, keys and values of one layer are stored.
enum class QueryKeyValuePacking {
  apart,       ///< three matrices
  blocks,      ///< one: all queries, all keys, all values
  by_key_head  ///< one: for each key head its queries, its key, its value
};

/// Rows and columns of a stored matrix.
enum class MatrixOrder {
  out_in,  ///< [out, in], as it multiplies
  in_out   ///< [in, out]: GPT-2's Conv1D
};

/// Names of a checkpoint's tensors. Those within a layer have neither prefix nor number; "" where the family has no
/// such part. ".weight" and ".bias" are added.
struct TensorNames {
  /// What may stand before all names of the body: the first that some tensor begins with counts, else none.
  std::vector<std::string> prefixes = {"model."};
  std::string words = "embed_tokens";
  std::string positions = {};
  std::string embedding_norm = {};
  std::string embedding_projection = {};        ///< from the words' width to the layers'
  std::string layers = "layers.";               ///< the layer's number and a dot follow
  std::vector<std::string> shared_layers = {};  ///< of each layer, in place of `layers`: those of one name are one
  std::string final_norm = "norm";
  std::vector<std::string> heads = {"lm_head"};  ///< of decoders, without the prefix; the first that is stored counts
  bool head_bias = false;                        ///< of the logits
  bool norm_bias = true;                         ///< NormKind::layer only

  std::string attention_norm = "input_layernorm";
  bool first_attention_norm = true;  ///< false: the first layer reads what the norm of the embeddings made
  std::string attention_output_norm = {};
  std::string feed_forward_norm = "post_attention_layernorm";
  std::string feed_forward_output_norm = {};
  std::string query_norm = {};
  std::string key_norm = {};
  std::string sinks = {};  ///< without ".weight"

  MatrixOrder order = MatrixOrder::out_in;
  QueryKeyValuePacking packing = QueryKeyValuePacking::apart;
  std::vector<std::string> query_key_value = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
  bool query_key_value_bias = false;
  std::string attention_output = "self_attn.o_proj";
  bool attention_output_bias = false;
  std::vector<std::string> inner = {"mlp.gate_proj", "mlp.up_proj"};  ///< gate and up, or both in one, or the only one
  std::string outer = "mlp.down_proj";
  bool feed_forward_bias = false;
  std::vector<std::string> expert_inner = {"w1", "w3"};  ///< gate and up of an expert that is stored by itself
  std::string expert_outer = "w2";
  std::string router = "gate";
  ExpertPacking expert_packing = ExpertPacking::upright;

  /// Tensors that change nothing here: the name begins with, or a name within the body ends with, one of these.
  std::vector<std::string> harmless_beginnings = {};
  std::vector<std::string> harmless_endings = {};
};

/// What a decoder and an encoder have alike.
struct BodySettings {
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t inner = 0;  ///< width of the feed-forward layer
  std::int64_t num_heads = 0;
  std::int64_t num_key_heads = 0;  ///< divides num_heads
  std::int64_t head_width = 0;
  std::int64_t max_tokens = 0;
  std::vector<LayerKind> layers;
  std::vector<Rotary> rotaries;  ///< without any nothing turns
  NormKind norm = NormKind::layer;
  double norm_epsilon = 0;
  Residual residual = Residual::sequential;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  Activation activation = Activation::gelu;
  bool gated = false;  ///< activation(gate(x)) * up(x)
  Experts experts;
  std::int64_t first_position = 0;  ///< position of a sequence's first token (OPT: 2, RoBERTa: pad_token_id + 1)
  bool tied_head = true;            ///< false: the weights must hold a matrix of the head's own
  TensorNames names;                ///< how the family's files call and pack the matrices
};

/// What a model of these settings is whose checkpoint has a head.
inline ModelShape shape_of(const BodySettings& settings) {
  const auto layers = static_cast<int>(settings.layers.size());
  return {layers, settings.hidden, settings.vocabulary, settings.vocabulary, settings.max_tokens, true};
}

}  // namespace stereosweep::model
