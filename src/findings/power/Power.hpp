// Before a run: how many templates and rephrasings a contrast needs, from the variances of a pilot's differences. Knows
// no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "findings/contrasts/Contrasts.hpp"
#include "stats/Power.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// A p (`ContrastRow::p`) of at most `level`, with at least this chance, where the true difference is as large as said.
struct PowerGoal {
  enum class Unit : std::uint8_t { deviations, score };
  double size = 0;               ///< of the difference; above 0
  Unit unit = Unit::deviations;  ///< deviations: of templates' differences, as `ContrastRow::effect`
  double chance = 0.8;
  double level = 0.05;
};

/// The variances of one contrast in one measure for one item.
struct PlannedContrast {
  std::string contrast;
  std::string measure;
  std::string item;
  std::size_t num_templates = 0;  ///< of the pilot, or pairs of them
  std::size_t num_rephrasings = 0;
  stats::CrossedVariances variances;  ///< rows: templates; with one rephrasing all of it is theirs
  double degrees = stats::nan;        ///< of freedom of the mean's variance in the pilot
  /// `too_few`: fewer than two templates; `constant`: no difference varies.
  stats::Reason reason = stats::Reason::no_values;

  /// Standard deviation of templates' differences, each the mean of so many rephrasings.
  double deviation(std::size_t count) const;
};

/// Rows as those of `compare`. Analysis of variance of the differences, as stats::CrossedSquares has it. Throws
/// InputError as `compare`.
std::vector<PlannedContrast> plan_contrasts(const Scores& pilot, const sweep::Comparison& comparison);

/// How the pilot's variance is taken; cautious: its upper 80 % limit, with which the chance is reached four times in
/// five (Browne 1995, Statistics in Medicine 14), not every second time.
enum class PilotVariance : std::uint8_t { estimate, cautious };

/// In the score's unit. An effect that is given holds with as many rephrasings as the pilot has.
double difference_of(const PlannedContrast& contrast, const PowerGoal& goal);

/// The test that so many rephrasings make of it.
stats::PlannedMean planned_mean(const PlannedContrast& contrast, const PowerGoal& goal, std::size_t num_rephrasings,
                                PilotVariance variance = PilotVariance::estimate);

constexpr std::size_t most_planned_templates = 100'000;

/// Of a contrast whose reason is `ok`. Nothing: more than `most_planned_templates`, or no number with so few
/// rephrasings.
std::optional<std::size_t> enough_templates(const PlannedContrast& contrast, const PowerGoal& goal,
                                            std::size_t num_rephrasings,
                                            PilotVariance variance = PilotVariance::estimate);

/// Without a pilot; the goal is in standard deviations.
std::string power_text(const PowerGoal& goal);
/// Of each measure the `top` rows that need most.
std::string power_text(std::span<const PlannedContrast> contrasts, const PowerGoal& goal, std::size_t top);

}  // namespace stereosweep::findings
