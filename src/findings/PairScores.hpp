// Trait-pair scores averaged over sentences: what alignment, tables and figures are made of.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "stats/Association.hpp"

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

}  // namespace stereosweep::findings
