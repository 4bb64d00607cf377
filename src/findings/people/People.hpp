// Agreement of any score table with people's answers: by subject, by dimension of items, pooled; with intervals,
// permutation p, subgroups of annotators side by side, and templates that are chosen on a pilot. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/people/RatingsFile.hpp"
#include "findings/sharing/KeptPieces.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/RateInterval.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Rows or columns of a table, which are a sample.
struct SampledLines {
  std::size_t count = 1;
  std::optional<std::uint64_t> stream = {};  ///< of their draws; nothing: they are not drawn
};

/// [row, column, cell]; NaN: none.
struct SampledTable {
  std::array<SampledLines, 2> lines;  ///< rows, columns, crossed
  std::vector<double> values;
};

/// Cells [subject, item] that are means over samples: those of the first table, then those of the next one. Scores of
/// one measure (replicates averaged) are one table of templates and rephrasings, answers a table of annotators for each
/// subject.
struct SampledCells {
  std::size_t cells_of_each = 0;  ///< table
  std::vector<SampledTable> tables = {};
  /// Of answers, the lowest at the left pole: their means are then from 0 (left pole) to 100 (right pole).
  std::optional<stats::ScaleEnds> scale = {};

  /// Over rows and columns; NaN: none. Averaged on the table's own scale, so that equal means of whole numbers are
  /// equal.
  std::vector<double> means() const;
  /// The same, taken back to that scale.
  std::vector<double> means_on_own_scale() const;
};

/// People's answers, by the places of their subjects and items; a mean is the answer of one annotator. `stream`: the
/// first subject's, where annotators are drawn.
SampledCells cells_of_answers(std::span<const Rating> answers, std::size_t num_subjects, std::size_t num_items,
                              const stats::ScaleEnds& scale, std::optional<std::uint64_t> stream = {});

/// [column]: mean of the numbers that are there; NaN: none.
std::vector<double> means_of_columns(std::span<const double> table, std::size_t num_columns);

// Tau-b of scores with people's means under draws of annotators, templates and rephrasings.

struct BootstrapSettings {
  std::size_t replicates = 2000;
  std::uint64_t seed = 0;
  unsigned num_threads = 1;  ///< the numbers do not depend on it
};

/// A list of cells: places in [subject, item].
using CellList = std::vector<std::size_t>;

/// Tau-b of the cells of each list, [list][replicate]; NaN where a replicate has none. Replicate r draws the same for
/// all measures and lists (streams: findings/Streams.hpp). Templates and rephrasings are drawn independently of each
/// other, annotators within each subject, each with all its answers about it; one of several subjects is drawn for each
/// by itself. Collective over `ranks`, which share the replicates.
///
/// A replicate of the means themselves would carry their noise twice, and its tau-b would vary less than that of means.
/// So the means of a list's cells are first drawn together until they vary as means without noise do (a thousandth of
/// their variance is left at least), and the deviations of a draw are expanded by sqrt(n / (n - 1)): replicates then
/// vary as the means do (the shrunk smoothed bootstrap: Silverman and Young 1987, Biometrika 74). Nothing drawn: the
/// means as they are.
/// A draw that takes one template five times leaves more noise than one that takes five; noise lowers tau-b, and means
/// have one amount of it. What tau-b follows of these amounts linearly is taken out, its mean over the replicates stays
/// (control variates: Davison and Hinkley 1997, Bootstrap Methods and their Application, §9.3).
std::vector<std::vector<double>> bootstrap_tau(const SampledCells& scores, const SampledCells& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const Workers& ranks = {});

/// Degrees of freedom of what is drawn, the fewest: templates - 1, rephrasings - 1, annotators of the list's subjects
/// less one for each subject. Infinite where nothing is drawn.
double drawn_degrees(const SampledCells& scores, const SampledCells& answers, const CellList& list);

/// Of the tau-b that other draws of as many annotators, templates and rephrasings would have on average: the
/// replicates' percentiles less their mean, times Student's t over the normal quantile, plus `tau`; within [-1, 1].
/// Reasons as stats::percentile_interval; `constant`: all replicates are equal.
stats::Interval tau_interval(std::span<const double> replicates, double tau, double degrees, double confidence);

/// Needs `comparison.people`: the figures over (measure, people_group, people_row), people_mean, how many answered, the
/// figures of single templates and, with a pilot, people_selection and people_selected. Throws InputError for a table
/// that cannot be used, and for labels that there are not.
std::vector<Finding> agree_with_people(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

}  // namespace stereosweep::findings
