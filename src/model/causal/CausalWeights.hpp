// The matrices of a causal checkpoint, found by name, checked, converted once, in the form in which the body
// multiplies.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "base/files/File.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/kernels/Linear.hpp"
#include "model/masked/MaskedWeights.hpp"

namespace stereosweep::model {

/// One expert, or the only feed-forward layer.
struct FeedForward {
  Linear inner;  ///< [inner, hidden]; gated: [2 inner, hidden], gate before up
  Linear outer;  ///< [hidden, inner]
};

/// One layer. Rows of query_key_value: all queries (head after head), then keys, then values.
struct CausalLayer {
  std::optional<Norm> attention_norm;         ///< before attention; after_adding: after the first sum
  std::optional<Norm> attention_output_norm;  ///< on attention's output, before it is added
  std::optional<Norm> feed_forward_norm;      ///< before the feed-forward layer; parallel: none means that
                                              ///< attention_norm serves both; after_adding: after the second sum
  std::optional<Norm> feed_forward_output_norm;
  std::optional<Norm> query_norm;  ///< [head_width] or [num_heads * head_width]
  std::optional<Norm> key_norm;
  std::optional<Linear> query_key_value;  ///< all layers but the last
  std::optional<Linear> query;            ///< the last layer: queries are needed for few rows
  std::optional<Linear> key_value;
  Linear attention_output;
  FeedForward feed_forward;  ///< without experts
  at::Tensor sinks;          ///< [num_heads] float32: see AttentionRule; undefined: none
  at::Tensor router;         ///< [experts, hidden]
  at::Tensor router_bias;    ///< [experts]; undefined: none
  std::vector<FeedForward> experts;
};

struct CausalWeights {
  at::Tensor words;      ///< [ids, hidden]
  at::Tensor positions;  ///< [positions, hidden]; undefined unless learned
  std::optional<Norm> embedding_norm = std::nullopt;
  std::vector<CausalLayer> layers;
  std::optional<Norm> final_norm;
  at::Tensor head;       ///< [vocabulary, hidden]; undefined: the checkpoint has no head
  at::Tensor head_bias;  ///< [vocabulary] float32; undefined: none
};

/// `specification` is that of the whole model; of the matrices that are shared out only the slice is kept, biases of
/// what is summed up are kept in slice 0. Throws InputError naming file and tensor: missing, wrong shape, not floating,
/// NaN or infinite, unexpected.
CausalWeights load_causal_weights(const base::FileSet& files, const CausalSpecification& specification,
                                  const at::TensorOptions& options, TensorSlice slice = {});

}  // namespace stereosweep::model
