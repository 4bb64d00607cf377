// Names of a causal checkpoint's tensors and the order of their rows: what load_causal_weights looks for.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::model {

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

/// Names within a layer have neither prefix nor number; "" where the family has no such part. ".weight" and ".bias" are
/// added.
struct CausalNames {
  /// What may stand before all names of the body: the first that some tensor begins with counts, else none.
  std::vector<std::string> prefixes = {"model."};
  std::string words = "embed_tokens";
  std::string positions;
  std::string layers = "layers.";  ///< the layer's number and a dot follow
  std::string final_norm = "norm";
  std::vector<std::string> heads = {"lm_head"};  ///< without the prefix; the first that is stored counts
  bool head_bias = false;

  std::string attention_norm = "input_layernorm";
  std::string attention_output_norm;
  std::string feed_forward_norm = "post_attention_layernorm";
  std::string feed_forward_output_norm;
  std::string query_norm;
  std::string key_norm;

  MatrixOrder order = MatrixOrder::out_in;
  QueryKeyValuePacking packing = QueryKeyValuePacking::apart;
  std::vector<std::string> query_key_value = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
  bool query_key_value_bias = false;
  std::string attention_output = "self_attn.o_proj";
  bool attention_output_bias = false;
  std::vector<std::string> inner = {"mlp.gate_proj", "mlp.up_proj"};  ///< gate and up, or both in one, or the only one
  std::string outer = "mlp.down_proj";
  bool feed_forward_bias = false;

  /// Tensors that change nothing here: the name begins with, or a name within the body ends with, one of these.
  std::vector<std::string> harmless_beginnings;
  std::vector<std::string> harmless_endings;
};

}  // namespace stereosweep::model
