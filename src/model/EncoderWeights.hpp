// The matrices of a BERT or RoBERTa checkpoint, found by name, checked, converted once.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "model/CheckpointConfig.hpp"
#include "model/Decoder.hpp"
#include "model/Linear.hpp"
#include "model/Safetensors.hpp"

namespace stereosweep::model {

/// Scale and shift of a layer norm, each [hidden].
struct Norm {
  at::Tensor weight;
  at::Tensor bias;
};

/// One encoder layer. The last one keeps queries apart, because they are needed for few rows.
struct LayerWeights {
  std::optional<Linear> query_key_value;  ///< [3 hidden, hidden]; all layers but the last
  std::optional<Linear> query;            ///< [hidden, hidden]; the last layer
  std::optional<Linear> key_value;        ///< [2 hidden, hidden]; the last layer
  Linear attention_output;
  Norm attention_norm;
  Linear inner;
  Linear outer;
  Norm output_norm;
};

struct HeadWeights {
  Linear transform;
  Norm norm;
  Decoder decoder;  ///< [vocabulary, hidden]
  std::int64_t vocabulary = 0;
};

struct EncoderWeights {
  at::Tensor words;      ///< [vocabulary, hidden]
  at::Tensor positions;  ///< [positions, hidden], row 0 of the token types added
  Norm embedding_norm;
  std::vector<LayerWeights> layers;
  std::optional<HeadWeights> head;
};

/// Throws InputError naming file and tensor: missing, wrong shape, not floating, NaN or infinite, unexpected.
EncoderWeights load_encoder_weights(const base::FileSet& files, const CheckpointConfig& config,
                                    const at::TensorOptions& options);

}  // namespace stereosweep::model
