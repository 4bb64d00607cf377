// config.json of a masked model: what the architecture needs, everything else refused or known to be harmless.
#pragma once

#include <cstdint>
#include <string>

#include "base/File.hpp"

namespace stereosweep::model {

enum class Family { bert, roberta };
/// gelu: x * Phi(x) with the error function; gelu_tanh: its tanh approximation (gelu_new, gelu_pytorch_tanh).
/// silu: x / (1 + e^-x).
enum class Activation { gelu, gelu_tanh, relu, silu };

struct CheckpointConfig {
  Family family = Family::bert;
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t inner = 0;  ///< width of the feed-forward layer
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t positions = 0;       ///< rows of the position table
  std::int64_t token_types = 0;     ///< rows of the token type table
  std::int64_t first_position = 0;  ///< position of a sequence's first token (RoBERTa: pad_token_id + 1)
  double layer_norm_epsilon = 0;
  Activation activation = Activation::gelu;
  bool tied_decoder = true;  ///< false: the weights must hold a decoder matrix of its own

  std::int64_t head_width() const { return hidden / num_heads; }
  std::int64_t max_tokens() const { return positions - first_position; }
};

/// Keys that are left out or null take transformers' defaults. Throws InputError naming config.json and the key for
/// other families, unknown activations, relative positions, decoders, pruned heads, and sizes that do not fit.
CheckpointConfig read_config(const base::FileSet& files);

}  // namespace stereosweep::model
