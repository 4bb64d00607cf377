// Precision at k of trait-pair scores against human ratings.
#pragma once

#include <cstddef>
#include <span>

#include "stats/Undefined.hpp"

namespace stereosweep::stats {

struct Precision {
  Value top;     ///< share of the k highest scores whose human mean is above the middle
  Value bottom;  ///< share of the k lowest scores whose human mean is below the middle
  Value mean;    ///< of the two
  Value chance;  ///< of `mean` where the scores are in random order: half the share of means that are not at the middle
};

/// Rating at which people see neither pole, on the scale 0 (left pole) .. 100 (right pole).
constexpr double middle_rating = 50;

/// cao2022 §5.1, «P@3» (k = 3; its overall value is the mean of `mean` over groups). Equal scores: the earlier trait
/// pair comes first in both rankings. A human mean at the middle counts for neither. Undefined for fewer than k values.
Precision precision_at(std::size_t k, std::span<const double> scores, std::span<const double> human_means);

}  // namespace stereosweep::stats
