// The matrices of a masked checkpoint, found by name, checked, converted once.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "model/checkpoint/Safetensors.hpp"
#include "model/kernels/Linear.hpp"
#include "model/masked/MaskedSpecification.hpp"

namespace stereosweep::model {

/// Relative positions as one layer's queries and keys see them: [2 span, hidden]; undefined where they do not.
struct RelativeRows {
  at::Tensor keys;
  at::Tensor queries;
};

/// One encoder layer. The last one keeps queries apart, because they are needed for few rows, unless it shares its
/// weights with others or has relative positions or rotaries.
struct MaskedLayer {
  std::optional<Linear> query_key_value;  ///< [3 hidden, hidden]; all layers but the last
  std::optional<Linear> query;            ///< [hidden, hidden]; the last layer
  std::optional<Linear> key_value;        ///< [2 hidden, hidden]; the last layer
  Linear attention_output;
  Norm attention_norm;  ///< weight undefined: none
  Linear inner;         ///< with a gate: both below each other
  Linear outer;
  Norm output_norm;  ///< behind the layer, or before its feed-forward part (NormPlace)
  RelativeRows relative = {};
};

struct MaskedHead {
  std::optional<Linear> transform;  ///< without one the decoder reads hidden states
  Norm norm;
  OutputProjection decoder;  ///< [vocabulary, embedding]
  std::int64_t vocabulary = 0;
};

struct MaskedWeights {
  at::Tensor words;      ///< [vocabulary, embedding]
  at::Tensor positions;  ///< [positions or 1, embedding], row 0 of the token types added; undefined: neither
  Norm embedding_norm;   ///< weight undefined: none
  std::vector<MaskedLayer> layers;
  std::optional<MaskedHead> head;
  std::optional<Linear> embedding_projection = std::nullopt;  ///< [hidden, embedding]
  Norm final_norm = {};                                       ///< weight undefined: none
};

/// Throws InputError naming file and tensor: missing, wrong shape, not floating, NaN or infinite, unexpected.
MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& config,
                                  const at::TensorOptions& options);

}  // namespace stereosweep::model
