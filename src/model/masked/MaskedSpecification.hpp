// What makes one family of masked models differ from another: settings of the one encoder.
// config.json -> MaskedSpecification happens in families/, one function per family; the body knows no family.
#pragma once

#include <cstdint>
#include <string>

#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

/// Names of a checkpoint's tensors, where families differ.
struct MaskedNames {
  std::string body = "bert.";             ///< may stand before all names of the body
  std::string head = "cls.predictions.";  ///< stands before all names of the head
  std::string head_dense = "cls.predictions.transform.dense";
  std::string head_norm = "cls.predictions.transform.LayerNorm";
};

struct MaskedSpecification {
  std::int64_t vocabulary = 0;
  std::int64_t hidden = 0;
  std::int64_t inner = 0;  ///< width of the feed-forward layer
  std::int64_t num_layers = 0;
  std::int64_t num_heads = 0;
  std::int64_t positions = 0;       ///< rows of the position table
  std::int64_t token_types = 0;     ///< rows of the token type table
  std::int64_t first_position = 0;  ///< position of a sequence's first token (RoBERTa: pad_token_id + 1)
  bool skips_padding = false;  ///< token first_position - 1 stands at the position of that number and is not counted
  double layer_norm_epsilon = 0;
  Activation activation = Activation::gelu;
  Activation head_activation = Activation::gelu;
  bool tied_decoder = true;  ///< false: the weights must hold a decoder matrix of its own
  MaskedNames names;

  std::int64_t head_width() const { return hidden / num_heads; }
  std::int64_t max_tokens() const { return positions - first_position; }
};

}  // namespace stereosweep::model
