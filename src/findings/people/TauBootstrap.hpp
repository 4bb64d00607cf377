// Tau-b of scores with people's means under draws of annotators, templates and rephrasings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "findings/people/AnswerTable.hpp"
#include "findings/sharing/KeptWork.hpp"
#include "stats/Bootstrap.hpp"

namespace stereosweep::findings {

struct BootstrapSettings {
  bool draws_annotators = false;
  bool draws_templates = false;
  bool draws_rephrasings = false;
  std::size_t replicates = 2000;
  std::uint64_t seed = 0;
  unsigned num_threads = 1;  ///< the numbers do not depend on it
};

/// Scores of one measure, [template, rephrasing, subject, item] (replicates averaged); NaN: none.
struct ScoreCells {
  std::size_t num_templates = 1;
  std::size_t num_rephrasings = 1;
  std::vector<double> values;

  std::size_t num_cells() const { return values.size() / (num_templates * num_rephrasings); }
  /// Means over templates and rephrasings, [subject, item].
  std::vector<double> means() const;
  /// Of those means, where templates, rephrasings or both are drawn.
  DrawnCells drawn_cells(const BootstrapSettings& settings) const;
  /// Means over rephrasings, [template][subject, item].
  std::vector<std::vector<double>> by_template() const;
};

/// A list of cells: places in [subject, item].
using CellList = std::vector<std::size_t>;

/// Tau-b of the cells of each list, [list][replicate]; NaN where a replicate has none. Replicate r draws the same for
/// all measures and lists (streams: findings/Streams.hpp). Templates and rephrasings are drawn independently of each
/// other, annotators within each subject. Collective over `ranks`, which share the replicates.
///
/// A replicate of the means themselves would carry their noise twice, and its tau-b would vary less than that of means.
/// So the means of a list's cells are first drawn together until they vary as means without noise do (a thousandth of
/// their variance is left at least), and the deviations of a draw are expanded by sqrt(n / (n - 1)): replicates then
/// vary as the means do (the shrunk smoothed bootstrap: Silverman and Young 1987, Biometrika 74). Nothing drawn: the
/// means as they are.
/// A draw that takes one template five times leaves more noise than one that takes five; noise lowers tau-b, and means
/// have one amount of it. What tau-b follows of these amounts linearly is taken out, its mean over the replicates stays
/// (control variates: Davison and Hinkley 1997, Bootstrap Methods and their Application, §9.3).
std::vector<std::vector<double>> bootstrap_tau(const ScoreCells& scores, const AnswerTable& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const Workers& ranks = {});

/// Degrees of freedom of what is drawn, the fewest: templates - 1, rephrasings - 1, annotators of the list's subjects
/// less one for each subject. Infinite where nothing is drawn.
double drawn_degrees(const ScoreCells& scores, const AnswerTable& answers, const CellList& list,
                     const BootstrapSettings& settings);

/// Of the tau-b that other draws of as many annotators, templates and rephrasings would have on average: the
/// replicates' percentiles less their mean, times Student's t over the normal quantile, plus `tau`; within [-1, 1].
/// Reasons as stats::percentile_interval; `constant`: all replicates are equal.
stats::Interval tau_interval(std::span<const double> replicates, double tau, double degrees, double confidence);

}  // namespace stereosweep::findings
