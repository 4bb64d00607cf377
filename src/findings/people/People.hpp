// Agreement of any score table with people's answers: by subject, by dimension of items, pooled; with intervals,
// permutation p, subgroups of annotators side by side, and templates that are chosen on a pilot. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/people/RatingsFile.hpp"
#include "findings/sharing/KeptPieces.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/RateInterval.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

// People's answers about subjects on items: and their means.

/// [column]: mean of the numbers that are there; NaN: none.
std::vector<double> means_of_columns(std::span<const double> table, std::size_t num_columns);

class AnswerTable {
 public:
  /// Of these subjects and items, by their places; a mean is the answer of one annotator.
  AnswerTable(std::span<const Rating> answers, std::size_t num_subjects, std::size_t num_items,
              const stats::ScaleEnds& scale);

  /// [subject, item], 0 (left pole) .. 100 (right pole); NaN: nobody answered. Averaged on the table's scale, so that
  /// equal means of whole numbers are equal.
  std::vector<double> means() const;
  /// The same, taken back to the table's scale.
  std::vector<double> means_on_own_scale() const;
  /// Answers by subject and by annotator: several annotators answered about one subject.
  bool has_several_annotators() const;
  /// 0: nobody answered about the subject.
  std::size_t num_annotators(std::size_t subject) const { return subjects_[subject].num_annotators; }
  /// [annotator, item], on the table's scale; NaN: no answer.
  std::span<const double> about(std::size_t subject) const { return subjects_[subject].values; }
  std::size_t num_items() const { return num_items_; }
  std::size_t num_subjects() const { return subjects_.size(); }

 private:
  struct Subject {
    std::size_t num_annotators = 0;
    std::vector<double> values;  ///< [annotator, item]; NaN: no answer
  };

  std::size_t num_items_;
  stats::ScaleEnds scale_;  ///< the lowest at the left pole
  std::vector<Subject> subjects_;
};

// Tau-b of scores with people's means under draws of annotators, templates and rephrasings.

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
  std::vector<double> means() const { return means_of_columns(values, num_cells()); }
  /// Means over rephrasings, [template][subject, item].
  std::vector<std::vector<double>> by_template() const;
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

/// Needs `comparison.people`: the figures over (measure, people_group, people_row), people_mean, how many answered, the
/// figures of single templates and, with a pilot, people_selection and people_selected. Throws InputError for a table
/// that cannot be used, and for labels that there are not.
std::vector<Finding> agree_with_people(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

}  // namespace stereosweep::findings
