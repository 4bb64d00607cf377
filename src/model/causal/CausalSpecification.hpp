// What makes one family of causal models differ from another: settings of the one decoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/body/BodySettings.hpp"

namespace stereosweep::model {

/// How what alibi adds to a score, slope * key number from the root, is rounded.
enum class AlibiRounding {
  bfloat16,  ///< slope, number and product, in every dtype of the model (so Falcon was trained)
  model      ///< the product, to the model's dtype (Bloom)
};

/// Positions are learned where `names` has them, or turn queries and keys (`rotaries`), or add to the scores (alibi).
struct CausalSpecification : BodySettings {
  std::string family;  ///< model_type

  std::vector<float> alibi_slopes;  ///< [num_heads]: key number j from the root adds alibi_scale times slope * j,
                                    ///< rounded, to the scaled score; or empty
  float alibi_scale = 1;
  AlibiRounding alibi_rounding = AlibiRounding::bfloat16;

  float attention_scale = 0;    ///< of the scores: 1 / sqrt(head_width) in most
  bool scale_by_layer = false;  ///< GPT-2: score / (layer number from 1)
  float attention_softcap = 0;  ///< c * tanh(score / c); 0: none
  float logits_softcap = 0;
  float logits_scale = 1;     ///< of the logits
  float residual_scale = 1;   ///< of what attention and feed-forward layer add, where no norm follows them
  float embedding_scale = 1;  ///< rounded to the model's dtype before it multiplies
};

}  // namespace stereosweep::model
