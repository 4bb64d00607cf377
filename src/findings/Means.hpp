// Means of every subject and item of a score table over its templates and rephrasings, with intervals. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
#include "stats/Summary.hpp"
#include "sweep/Contrast.hpp"

namespace stereosweep::findings {

/// One measure of one subject and item. A cell is one (template, rephrasing); its replicates are averaged first.
struct MeanRow {
  double mean = stats::nan;  ///< over the cells with a score, in the measure's unit
  double low = stats::nan;   ///< stats::rescaled_interval: templates and rephrasings drawn with replacement, crossed
  double high = stats::nan;
  double low_bca = stats::nan;  ///< the same draws, corrected for bias and skew, not for few of them
  double high_bca = stats::nan;
  std::int32_t num_cells = 0;       ///< with a score
  std::int32_t num_applicable = 0;  ///< cells that are part of the job
  /// `too_few`: no BCa interval, and no other one where there is one cell; `constant`: all cells are equal, and the
  /// intervals are that number, or the jackknife does not vary, and there is no BCa interval.
  stats::Reason reason = stats::Reason::no_values;

  double coverage() const { return num_applicable > 0 ? static_cast<double>(num_cells) / num_applicable : stats::nan; }
};

struct Means {
  std::vector<std::size_t> measures;  ///< places on the table's axis
  std::vector<std::string> measure_names;
  std::vector<std::string> subjects;
  std::vector<std::string> items;
  std::vector<MeanRow> rows;  ///< [measure, subject, item]
};

/// Of the measures that `comparison.means` chooses. Throws InputError for measures that the table does not have.
Means means_of(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// The rows as variables over (measure, subject, item).
void write_means(results::Layout& layout, const Means& means, const sweep::Comparison& comparison);

/// Of each measure the `top` rows with the largest |mean|.
std::string means_text(const Means& means, const sweep::Comparison& comparison, std::size_t top);

}  // namespace stereosweep::findings
