// Means of every subject and item of a score table over its templates and rephrasings, with intervals. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "stats/Summary.hpp"
#include "sweep/Contrast.hpp"

namespace stereosweep::findings {

/// One measure of one subject and item. A cell is one (template, rephrasing); its replicates are averaged first.
struct MeanRow {
  double mean = stats::nan;  ///< over the cells with a score, in the measure's unit
  double low = stats::nan;   ///< stats::rescaled_interval: templates and rephrasings drawn with replacement, crossed
  double high = stats::nan;
  std::int32_t num_cells = 0;       ///< with a score
  std::int32_t num_applicable = 0;  ///< cells that are part of the job
  /// `too_few`: one cell, or draws without a score; `constant`: all cells are equal, and the interval is that number.
  stats::Reason reason = stats::Reason::no_values;

  double coverage() const { return num_applicable > 0 ? static_cast<double>(num_cells) / num_applicable : stats::nan; }
};

struct Means {
  std::vector<results::AxisSchema> axes;  ///< measure (all of the table, or `mean_measure`), subject, item
  std::vector<MeanRow> rows;              ///< [measure, subject, item]
};

/// Of the measures that `comparison.means` chooses. Throws InputError for measures that the table does not have.
Means means_of(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// Of each measure a table with the largest |mean| first.
Finding finding_of(const Means& means, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
