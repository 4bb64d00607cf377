// Intervals of means of scores that lie between two ends: rates (0 to 1), ratings of a scale. The one test and interval
// of the mean of crossed cells, with or without ends.
#pragma once

#include <cstddef>
#include <optional>

#include "stats/Bootstrap.hpp"
#include "stats/CrossedTable.hpp"

namespace stereosweep::stats {

/// Least and greatest number that a score can be, in its unit; `lowest` < `highest`.
struct ScaleEnds {
  double lowest = 0;
  double highest = 1;
};

/// Of the mean of crossed cells over other rows and columns.
struct CellsTest : MeanTest {
  double degrees = nan;  ///< of freedom
  /// Why there is no interval: `no_values`: no cell; `too_few`: one row, two cells between ends, or no degrees of
  /// freedom; `not_finite`: squares of scores beyond 1e308; `constant`: no cell varies by more than 1e-12 of the mean,
  /// which has an interval only between ends and a p (1) only where it is 0 without ends.
  Reason reason = Reason::no_values;
};

/// `mean`: of the cells whose squares these are. Without ends Student's t (test_mean).
///
/// With ends, which the scores themselves have, the interval is that of Clopper and Pearson (1934, Biometrika 26) for
/// as many draws as would give a share of the scale the variance that the mean has over other rows and columns
/// (templates, rephrasings), n* = p (1 - p) / v x n / (n - 1) with n rows, and p n* successes (Korn and Graubard 1998,
/// Survey Methodology 24), taken to the scale's unit. Since v is estimated, n* is multiplied by the squared ratio of
/// Student's quantiles with n* - 1 and with v's degrees of freedom. So it lies inside the ends, holds the mean, is that
/// of Clopper and Pearson itself for one answer of 0 or 1 a row, and is close to the mean -+ t sqrt(v) far from the
/// ends. A variance of 0 says nothing of other rows: the interval is that of as many draws as there are rows, the
/// independent ones, since no scores between the ends spread more than 0 and 1. The p is that of the same draws: at
/// most 1 - confidence exactly where the interval lacks 0; NaN where 0 is an end or beyond, since no score could be on
/// its other side. A mean outside of the ends has neither: `not_finite`.
CellsTest test_cells(const CrossedSquares& squares, double mean, const std::optional<ScaleEnds>& ends,
                     double confidence);

}  // namespace stereosweep::stats
