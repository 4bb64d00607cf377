// Variance components of balanced random effects: what is left of a sum and difference of mean squares, with intervals.
#pragma once

#include <span>

#include "stats/Bootstrap.hpp"

namespace stereosweep::stats {

/// A mean square of an analysis of variance, and how often it counts in a component (negative: it is taken off).
struct CountedSquare {
  double coefficient = 0;
  double value = 0;
  double degrees = 0;  ///< at least 1
};

struct VarianceComponent {
  double value = nan;  ///< sum of coefficient x value; below 0 where the squares say so by chance
  double low = nan;    ///< may be below 0
  double high = nan;
};

/// Modified large sample interval of a sum and difference of independent mean squares (Ting, Burdick, Graybill,
/// Jeyaratnam and Lu 1990, Journal of Statistical Computation and Simulation 35; Burdick and Graybill 1992, Confidence
/// Intervals on Variance Components, ch. 3): exact where one square alone counts. Normal effects are assumed.
VarianceComponent variance_component(std::span<const CountedSquare> squares, double confidence);

}  // namespace stereosweep::stats
