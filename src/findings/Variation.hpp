// Coefficients of variation and quantiles of every subject and item of a score table: how much a score depends on the
// wording, or on the run. Knows no probe.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "findings/Finding.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

inline constexpr std::array<double, 5> quantile_levels = {0.05, 0.25, 0.5, 0.75, 0.95};

/// Standard deviation (n - 1) over mean of one measure of one subject and item.
struct VariationRow {
  stats::Value variation;                ///< `too_few`: one value; `constant`: their mean is 0
  std::int32_t n = 0;                    ///< values
  std::array<double, 5> quantiles = {};  ///< at `quantile_levels`, between values in line; NaN: no value
};

struct Variation {
  std::vector<results::AxisSchema> axes;        ///< measure (all of the table, or `variation_measure`), subject, item
  std::vector<std::vector<VariationRow>> rows;  ///< [over][measure, subject, item]
};

/// A value is the mean of the scores of one label (of one template and rephrasing for `wording`). Replicates: the one
/// that is the mean of the others stands for them, and is none of the values over replicates. Throws InputError for
/// measures that the table does not have.
Variation variation_of(const Scores& scores, const sweep::VariationRequest& request);

/// `variation_over_...`, one for each that is asked for; the largest first in the tables.
std::vector<Finding> findings_of(const Variation& variation, const sweep::VariationRequest& request);

}  // namespace stereosweep::findings
