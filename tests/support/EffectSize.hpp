// The effect size of two lists of associations, written out.
#pragma once

#include <cmath>
#include <vector>

#include "stats/Summary.hpp"

namespace stereosweep::testing {

struct EffectSize {
  double value = stats::nan;  ///< d; NaN where nothing varies
  double mean_difference = stats::nan;
  double deviation = stats::nan;  ///< n - 1
};

inline EffectSize effect_size(const std::vector<double>& x, const std::vector<double>& y) {
  auto all = x;
  all.insert(all.end(), y.begin(), y.end());
  EffectSize effect;
  effect.mean_difference = stats::mean(x).value - stats::mean(y).value;
  effect.deviation = stats::standard_deviation(all).value;
  effect.value = effect.deviation > 0x1p-50 * stats::largest_magnitude(all) ? effect.mean_difference / effect.deviation
                                                                            : stats::nan;
  return effect;
}

}  // namespace stereosweep::testing
