// Trait-pair scores averaged over sentences, and how well they agree with human ratings: as numbers, in a statistics
// file, as text.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "findings/people/TableAgreement.hpp"
#include "results/Layout.hpp"
#include "results/measures/ShownMeasures.hpp"
#include "stats/IncreasedLogProbability.hpp"
#include "stats/permutation/ShuffledTau.hpp"

namespace stereosweep::findings {

/// Names of the axes of what follows, and which templates count.
struct ScoreAxes {
  std::vector<std::string> measures;
  std::vector<std::string> priors;
  std::vector<std::string> groups;
  std::vector<std::string> templates;
  std::vector<std::string> rephrasings;
  std::vector<std::string> words;
  std::vector<std::string> pairs;
  std::vector<std::size_t> selected_templates;  ///< what averages over templates use
  /// As in the table of scores: "ilps_star prior_word"; without a prior the measure alone.
  std::string measure_label(std::size_t measure, std::size_t prior) const {
    return priors[prior] == "none" ? measures[measure] : measures[measure] + " " + priors[prior];
  }
};

/// Sums that become means; NaN where nothing was added.
struct RunningMean {
  double sum = 0;
  std::int32_t count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / count; }
};

/// Means over sentences where the score is defined, with their counts.
struct PairScores {
  ScoreAxes axes;
  std::vector<RunningMean> overall;          ///< [measure, prior, group, pair]: selected templates, all rephrasings
  std::vector<std::size_t> detailed_groups;  ///< groups that are kept per template (the rated ones), ascending
  std::vector<RunningMean> by_template;      ///< [measure, prior, template, detailed group, pair]: all rephrasings
  /// Cells of groups by the file's status, and scores by ScoreStatus per measure and prior.
  std::vector<std::uint64_t> cells_by_status;
  std::vector<std::array<std::uint64_t, stats::score_status_names.size()>> scores_by_status;  ///< [measure, prior]

  /// Place in what is [measure, prior], and its name in texts.
  std::size_t table_index(std::size_t measure, std::size_t prior) const { return measure * axes.priors.size() + prior; }
  std::string table_name(std::size_t measure, std::size_t prior) const {
    return axes.measures[measure] + " - " + axes.priors[prior];
  }
  std::size_t overall_index(std::size_t measure, std::size_t prior, std::size_t group, std::size_t pair) const {
    return (table_index(measure, prior) * axes.groups.size() + group) * axes.pairs.size() + pair;
  }
  /// `detailed`: place in `detailed_groups`.
  std::size_t template_index(std::size_t measure, std::size_t prior, std::size_t sentence, std::size_t detailed,
                             std::size_t pair) const {
    const auto outer = table_index(measure, prior) * axes.templates.size() + sentence;
    return (outer * detailed_groups.size() + detailed) * axes.pairs.size() + pair;
  }
};

/// Mean rating of a group on a trait pair, 0 (left pole) .. 100 (right pole), or one person's answer on the table's
/// scale; names as in the job.
struct Rating {
  std::string group;
  std::string pair;
  double mean = 0;
  std::string annotator = {};  ///< "": a mean
  std::string subgroup = {};   ///< what stands in the column RatingNames::Form::subgroups
};

/// Ratings laid out on the file's axes.
struct RatingTable {
  std::vector<double> means;                  ///< [group, pair]; NaN where nobody rated
  std::vector<std::size_t> rated_groups;      ///< groups with at least one rated pair
  std::vector<std::size_t> rated_pairs;       ///< pairs with at least one rated group
  std::vector<std::string> unmatched_groups;  ///< names in the table that the file does not have
  std::vector<std::string> unmatched_pairs;
};

/// Throws InputError if a cell is rated twice or no cell matches.
RatingTable match_ratings(const std::vector<Rating>& ratings, const ScoreAxes& axes);

/// Of one measure with one prior (cao2022 §5.1).
struct Alignment {
  std::vector<Agreement> by_group;  ///< [rated group]
  stats::Correlation pooled;        ///< tau-b over all (group, pair) cells; its p assumes that they are independent
  stats::Value pooled_p_items;      ///< trait pairs shuffled, the same way in every group (stats/ShuffledTau.hpp)
  stats::Value pooled_p_groups;     ///< groups shuffled
  stats::Value mean_tau;            ///< mean of the groups' tau-b: not the same as pooled
  stats::Value mean_precision;      ///< over groups
  stats::Value mean_chance;         ///< of mean_precision for scores in random order
  std::vector<stats::Correlation> pooled_by_template;  ///< [template]
  std::vector<stats::Value> precision_by_template;     ///< [template]: mean over groups
  /// At most two (cao2022 §5); chosen and judged on the same ratings, so it flatters.
  std::optional<TemplateChoice> choice;
};

/// Trait-pair scores and how they agree with ratings, if there are any.
struct PairAgreement {
  PairScores scores;
  std::optional<RatingTable> ratings;
  std::vector<Alignment> alignments;  ///< [measure, prior]; none without ratings
  stats::ShuffleSettings shuffles;    ///< of the alignments' p
};

/// Every measure with every prior. Needs `scores.detailed_groups` to be the rated groups where there are templates.
std::vector<Alignment> align_all(const PairScores& scores, const RatingTable& ratings,
                                 const stats::ShuffleSettings& shuffles);

/// mean_pair_score [variant, prior, group, pair] (`units`: nat, 1) with its counts; with ratings: human_mean, tau,
/// precision_at_3, ... [variant, prior, (group or template)]. `layout` has these axes. Throws base::Error for files.
void write_pair_agreement(results::Layout& layout, const PairAgreement& result, const std::string& units);

/// Agreement with human ratings: overall; of the first `top` groups and templates with the first prior; names that did
/// not match. "" without ratings.
std::string agreement_text(const PairAgreement& result, std::size_t top, const results::ShownMeasures& shown = {});

}  // namespace stereosweep::findings
