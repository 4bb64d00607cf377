// What a job that decides is expected to ask: its own rounds over simulated tables. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Scores.hpp"
#include "results/ScoreTable.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Means over simulated jobs in which every row has the same true difference.
struct ExpectedPasses {
  double effect = 0;      ///< in standard deviations of templates' differences in the complete table
  double decided = 0;     ///< share of rows whose sign or equivalence is decided
  double row_round = 0;   ///< from 1: in which a row stops
  double row_passes = 0;  ///< until then, over those of the row's complete table
  double passes = 0;  ///< (subject, template, rephrasing) that the job asks: a subject's while any of its rows is open
};

struct PlannedRounds {
  std::vector<std::string> cells_by_round = {};  ///< "12, 20, 35, 70": one for each design among the contrasts
  std::size_t num_rounds = 0;                    ///< the most of a row
  std::size_t num_templates = 0;                 ///< (or pairs) of the contrast with the fewest
  std::size_t num_rephrasings = 0;               ///< and its rephrasings
  std::size_t family_rows = 0;                   ///< of the largest family: Holm tests its first row at level / rows
  std::uint64_t all_passes = 0;                  ///< of all subjects, as a run without rounds asks them
  std::vector<ExpectedPasses> by_effect = {};    ///< 2, 1, 0.5 and 0; none: only a width is wanted
  /// The complete table shows it, as the first row of a family, with a chance of 80 %; nothing: none of up to 100.
  std::optional<double> least_effect = {};
  std::optional<std::size_t> enough_templates = {};  ///< for a difference of `small_effect` with that chance
};
constexpr double small_effect = 0.3;

/// A few hundred normal tables for each effect, with the planned variances, by `Deciding` itself; drawn by a fixed
/// seed. Rows are independent and all their combinations applicable but what the job leaves out; a margin is taken as
/// 0.5 standard deviations, and a width is not waited for. Nothing: no labels, or no sides with a common sentence.
/// Throws InputError as Deciding.
std::optional<PlannedRounds> plan_rounds(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison,
                                         std::uint64_t seed, const LeftOut& is_left_out = {});

/// For `plan`, not wrapped. `seconds`: what scoring all passes of the job takes, where that is known.
std::string rounds_text(const PlannedRounds& planned, const sweep::DecideRequest& request,
                        std::optional<double> seconds);

}  // namespace stereosweep::findings
