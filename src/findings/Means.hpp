// Means of every subject and item of a score table over its templates and rephrasings, with intervals. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// One measure of one subject and item (or several items, averaged). A cell is one (template, rephrasing); its
/// replicates are averaged first.
struct MeanRow {
  double mean = stats::nan;         ///< over the cells with a score, in the measure's unit
  double low = stats::nan;          ///< mean -+ t sqrt(v), v as CrossedSquares::error(); of a measure whose scores lie
  double high = stats::nan;         ///< between two ends that of stats::test_cells
  std::int32_t num_cells = 0;       ///< with a score
  std::int32_t num_applicable = 0;  ///< cells that are part of the job
  std::int32_t num_answers = -1;    ///< sampled answers that were read in the cells; -1: the table counts none
  /// `too_few`: one template, or two cells of a measure with ends; `constant`: all cells are equal, and only a measure
  /// with ends has an interval.
  stats::Reason reason = stats::Reason::no_values;
  /// From the mean of all subjects and items on the same templates and rephrasings.
  double deviation = stats::nan;
  stats::MeanTest test;        ///< Student's t of the deviation, by its own variance
  double p_holm = stats::nan;  ///< of its p, among all subjects and items of the measure
  std::int32_t rank = 0;       ///< by `evidence_ranks`, among them

  double coverage() const { return num_applicable > 0 ? static_cast<double>(num_cells) / num_applicable : stats::nan; }
};

/// Place of each number in a list with the best evidence first, from 1: the smallest p, of equal p the largest
/// |effect|, then the earlier one. Numbers without a p (NaN) come behind all others, those without an effect last.
/// `p` and `effects` are parallel.
std::vector<std::int32_t> evidence_ranks(std::span<const double> p, std::span<const double> effects);

/// [subject, group] of one measure, compared with one another. A row's mean is over the cells (item, template,
/// rephrasing) with a score; its interval and its deviation are of (template, rephrasing), the group's items averaged.
/// Collective.
std::vector<MeanRow> compared_means(const Scores& scores, std::size_t measure, const Cells& cells,
                                    const std::vector<ItemGroup>& groups, double confidence);

/// `answers`: a column of a view, where the rows count sampled answers.
std::string answers_column(const std::vector<MeanRow>& rows);

/// Columns of rows that are compared with one another: their mean (`mean`: its name), interval, n, status, deviation
/// from all `others`, its p, and their order.
void add_means(Finding& finding, const std::vector<MeanRow>& rows, const std::string& mean, const std::string& others,
               double confidence);

/// Rows are [measure (all of the table, or `mean_measure`), subject, item] of the measures that `comparison.means`
/// chooses; of each a table with the best evidence of a deviation first. Throws InputError for measures that the table
/// does not have.
Finding means_of(const Scores& scores, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
