// Rotary position embeddings as configurations describe them, in the old spelling and in the new one.
//   old  rope_theta, rope_scaling {type or rope_type, ...}, partial_rotary_factor
//   new  rope_parameters {rope_type, rope_theta, partial_rotary_factor, ...}
// (source: transformers 5, modeling_rope_utils.py: which key wins, and the formula of each rope_type)
#pragma once

#include <cstdint>
#include <optional>

#include "base/text/JsonValue.hpp"
#include "model/causal/CausalSpecification.hpp"

namespace stereosweep::model::families {

enum class PartialRotary {
  refused,    ///< all of a head turns
  even,       ///< an odd number of a head's numbers is refused (StableLM: transformers cannot run it)
  supported,  ///< an odd number is rounded up
};

struct RopeDefaults {
  double theta = 10000;
  double part = 1;  ///< of a head that turns
  PartialRotary partial = PartialRotary::refused;
  const char* theta_key = "rope_theta";
  const char* part_key = "partial_rotary_factor";
  const char* yarn = "yarn";            ///< what the type of this name means
  std::int64_t original_positions = 0;  ///< where no key says it; 0: the model's max_tokens
};

/// The turning of all layers. Needs head_width and max_tokens. longrope: max_tokens is cut to the positions of the
/// first training, because a longer text turns all of its tokens differently.
void read_rotary(const base::JsonValue& fields, const RopeDefaults& defaults, BodySettings& specification);

/// The first `dimensions` numbers of a head turn, nothing is scaled; `key` says how many.
Rotary read_plain_rotary(const base::JsonValue& fields, const char* key, std::int64_t dimensions, double theta,
                         const BodySettings& specification);

/// The same as read_rotary from one object `rope` of config.json, which may be nothing; `theta` where it has none.
Rotary read_rotary_object(const base::JsonValue& fields, const base::JsonValue& rope, double theta,
                          const RopeDefaults& defaults, BodySettings& specification);

}  // namespace stereosweep::model::families
