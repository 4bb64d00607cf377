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

/// Why nothing can be planned by a contrast of the pilot: `no_values` or `too_few` (fewer than two templates),
/// `constant` (no difference varies); `ok`: it can.
stats::Reason reason_of(const ContrastSpread& contrast);

/// Standard deviation of templates' differences, each the mean of so many rephrasings; with one rephrasing all of the
/// variance is the templates'.
double deviation_of(const ContrastSpread& contrast, std::size_t num_rephrasings);

/// How the pilot's variance is taken; cautious: its upper 80 % limit, with which the chance is reached four times in
/// five (Browne 1995, Statistics in Medicine 14), not every second time.
enum class PilotVariance : std::uint8_t { estimate, cautious };

/// In the score's unit. An effect that is given holds with as many rephrasings as the pilot has.
double difference_of(const ContrastSpread& contrast, const PowerGoal& goal);

/// The test that so many rephrasings make of it.
stats::PlannedMean planned_mean(const ContrastSpread& contrast, const PowerGoal& goal, std::size_t num_rephrasings,
                                PilotVariance variance = PilotVariance::estimate);

constexpr std::size_t most_planned_templates = 100'000;

/// Of a contrast whose reason is `ok`. Nothing: more than `most_planned_templates`, or no number with so few
/// rephrasings.
std::optional<std::size_t> enough_templates(const ContrastSpread& contrast, const PowerGoal& goal,
                                            std::size_t num_rephrasings,
                                            PilotVariance variance = PilotVariance::estimate);

/// Without a pilot; the goal is in standard deviations.
std::string power_text(const PowerGoal& goal);
/// Of each measure the `top` rows that need most.
std::string power_text(std::span<const ContrastSpread> contrasts, const PowerGoal& goal, std::size_t top);

}  // namespace stereosweep::findings
