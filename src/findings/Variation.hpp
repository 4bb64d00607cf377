// Coefficients of variation and quantiles of every subject and item of a score table: how much a score depends on the
// wording, or on the run. Knows no probe.
#pragma once

#include <vector>

#include "findings/Finding.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// `variation_over_...`, one for each that is asked for; the largest first in the tables. Rows are [measure (all of the
/// table, or `variation_measure`), subject, item]: standard deviation (n - 1) over mean of n values, `too_few`: one
/// value, `constant`: their mean is 0; quantiles between values in line. A value is the mean of the scores of one label
/// (of one template and rephrasing for `wording`). Replicates: the one that is the mean of the others stands for them,
/// and is none of the values over replicates. Throws InputError for measures that the table does not have.
std::vector<Finding> variation_of(const Scores& scores, const sweep::VariationRequest& request);

}  // namespace stereosweep::findings
