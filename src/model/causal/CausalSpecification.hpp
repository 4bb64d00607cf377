// What makes one family of causal models differ from another: settings of the one decoder.
// config.json -> CausalSpecification happens in families/, one function per family; the body knows no family.
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

enum class PositionKind { learned, rotary, alibi, none };

/// How what alibi adds to a score, slope * key number from the root, is rounded.
enum class AlibiRounding {
  bfloat16,  ///< slope, number and product, in every dtype of the model (so Falcon was trained)
  model      ///< the product, to the model's dtype (Bloom)
};

/// How a layer adds up. Each norm stands in the weights where the family has it.
enum class Residual {
  sequential,   ///< x += [post](attention(pre(x))); x += [post](mlp(pre(x)))
  parallel,     ///< x += attention(norm_1(x)) + mlp(norm_2(x)); one norm may serve both
  after_adding  ///< OpenAI-GPT: n = norm_1(x + attention(x)); x = norm_2(n + mlp(n))
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
  std::int64_t window = 0;  ///< key j is visible to query i where i - j < window; 0: all before it
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
struct CausalNames {
  /// What may stand before all names of the body: the first that some tensor begins with counts, else none.
  std::vector<std::string> prefixes = {"model."};
  std::string words = "embed_tokens";
  std::string positions = {};
  std::string embedding_norm = {};
  std::string layers = "layers.";  ///< the layer's number and a dot follow
  std::string final_norm = "norm";
  std::vector<std::string> heads = {"lm_head"};  ///< without the prefix; the first that is stored counts
  bool head_bias = false;
  bool norm_bias = true;  ///< NormKind::layer only

  std::string attention_norm = "input_layernorm";
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
  std::vector<Rotary> rotaries;
  double norm_epsilon = 0;
  Activation activation = Activation::gelu;
};

struct CausalSpecification : BodySettings {
  std::string family;  ///< model_type

  NormKind norm = NormKind::layer;
  bool final_norm = true;
  Residual residual = Residual::sequential;
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;

  PositionKind position = PositionKind::rotary;
  std::int64_t first_position = 0;  ///< row of the position table for a first token (OPT: 2)
  std::vector<float> alibi_slopes;  ///< [num_heads]: key number j from the root adds slope * j, rounded, to the score,
                                    ///< before it is multiplied by `attention_scale` where `alibi_is_scaled`, after it
                                    ///< otherwise
  bool alibi_is_scaled = false;
  AlibiRounding alibi_rounding = AlibiRounding::bfloat16;

  float attention_scale = 0;    ///< of the scores: 1 / sqrt(head_width) in most
  bool scale_by_layer = false;  ///< GPT-2: score / (layer number from 1)
  float attention_softcap = 0;  ///< c * tanh(score / c); 0: none
  float logits_softcap = 0;
  float logits_scale = 1;     ///< of the logits
  float residual_scale = 1;   ///< of what attention and feed-forward layer add, where no norm follows them
  float embedding_scale = 1;  ///< rounded to the model's dtype before it multiplies

  bool gated = false;  ///< activation(gate(x)) * up(x)
  Experts experts;
  bool tied_head = true;

  CausalNames names;  ///< how the family's files call and pack the matrices: the body has no use for it
};

}  // namespace stereosweep::model
