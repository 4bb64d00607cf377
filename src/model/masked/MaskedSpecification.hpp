// What makes one family of masked models differ from another: settings of the one encoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/body/BodySettings.hpp"

namespace stereosweep::model {

/// Names of a head's tensors; without ".weight" and ".bias". Without `dense` and `norm` it is the decoder alone.
struct MaskedHeadNames {
  std::string beginning = "cls.predictions.";  ///< stands before all of them, and before no tensor of another head
  std::string dense = "cls.predictions.transform.dense";
  std::string norm = "cls.predictions.transform.LayerNorm";
  std::string decoder = "cls.predictions.decoder";
  std::string bias = "cls.predictions.bias";  ///< counts where the decoder has none of its own
};

/// Scores that depend on how far apart two words are (DeBERTa; He et al. 2021, «Disentangled attention»). Distances up
/// to `buckets` / 2 count each, farther ones on a logarithmic scale up to `farthest`; without buckets all count.
struct RelativePositions {
  std::int64_t buckets = 0;   ///< 0: none
  std::int64_t farthest = 0;  ///< distance from which on all are alike; 0: this model has no relative positions
  bool content_to_position = false;
  bool position_to_content = false;
  bool own_projections = false;  ///< else those of queries and keys serve positions, too
  bool normed = false;           ///< a layer norm over the table of positions
  /// Rows of the table: one for each of the distances -span to span - 1.
  std::int64_t span() const { return buckets > 0 ? buckets : farthest; }
};

/// Norms stand behind each part (Residual::after_adding, BERT), or before each part and at the end (sequential,
/// ModernBERT).
struct MaskedSpecification : BodySettings {
  std::int64_t embedding = 0;    ///< width of the words' vectors; 0: hidden
  std::int64_t positions = 0;    ///< rows of the position table
  std::int64_t token_types = 0;  ///< rows of the token type table
  bool skips_padding = false;    ///< token first_position - 1 stands at the position of that number and is not counted
  Activation head_activation = Activation::gelu;
  bool head_dense_bias = true;
  RelativePositions relative;
  std::vector<MaskedHeadNames> heads = {MaskedHeadNames()};  ///< the first that is stored counts

  std::int64_t embedding_width() const { return embedding == 0 ? hidden : embedding; }
};

}  // namespace stereosweep::model
