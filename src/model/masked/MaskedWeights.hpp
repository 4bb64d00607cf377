// The matrices of a BERT or RoBERTa checkpoint, found by name, checked, converted once.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "model/checkpoint/Safetensors.hpp"
#include "model/kernels/Linear.hpp"
#include "model/masked/MaskedSpecification.hpp"

namespace stereosweep::model {

/// One encoder layer. The last one keeps queries apart, because they are needed for few rows.
struct MaskedLayer {
  std::optional<Linear> query_key_value;  ///< [3 hidden, hidden]; all layers but the last
  std::optional<Linear> query;            ///< [hidden, hidden]; the last layer
  std::optional<Linear> key_value;        ///< [2 hidden, hidden]; the last layer
  Linear attention_output;
  Norm attention_norm;
  Linear inner;
  Linear outer;
  Norm output_norm;
};

struct MaskedHead {
  Linear transform;
  Norm norm;
  OutputProjection decoder;  ///< [vocabulary, hidden]
  std::int64_t vocabulary = 0;
};

struct MaskedWeights {
  at::Tensor words;      ///< [vocabulary, hidden]
  at::Tensor positions;  ///< [positions, hidden], row 0 of the token types added
  Norm embedding_norm;
  std::vector<MaskedLayer> layers;
  std::optional<MaskedHead> head;
};

/// Throws InputError naming file and tensor: missing, wrong shape, not floating, NaN or infinite, unexpected.
MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& config,
                                  const at::TensorOptions& options);

}  // namespace stereosweep::model
