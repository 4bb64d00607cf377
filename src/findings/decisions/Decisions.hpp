// What rounds of a sweep decide of each contrast, and when: of a run that stops when it knows, or replayed over the
// table of a complete one. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/files/Sha256.hpp"
#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "findings/decisions/Rounds.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// What is known of a row, or why nothing is.
enum class DecisionStatus : std::uint8_t {
  positive,
  negative,
  equivalent,
  narrow,          ///< only a width was wanted, or all else is open
  undecided_here,  ///< hopeless: the whole product would hardly decide it
  exhausted,       ///< the whole product was asked
  missing,         ///< more than a tenth of what was asked has no score, or no cell is there
  open             ///< the run goes on with it; of a complete table: it was not scored
};
std::vector<std::string> decision_names();
constexpr bool is_verdict(DecisionStatus status) { return status <= DecisionStatus::equivalent; }

struct DecidedRow : sweep::DecideRequest::Row {
  std::string claim = {};  ///< "women above men"
  RowRounds table = {};
  std::size_t plan = 0;             ///< place of its contrast among the plans
  std::size_t num_rephrasings = 0;  ///< that are compared
  DecisionStatus status = DecisionStatus::exhausted;
  std::size_t stop = 0;  ///< place of the round after which it needs no more, or of the last one that was scored
  /// Rounds (from 1) that decided the sign, the equivalence and the width; 0: none did.
  std::array<std::int32_t, 3> rounds_of_wants = {0, 0, 0};
  bool is_positive = false;  ///< where the sign was decided
  double p = stats::nan;     ///< smallest level at which the sign would have been decided in the rounds until the stop
  double p_holm = stats::nan;
  double complete_p_holm = stats::nan;
  DecisionStatus complete = DecisionStatus::exhausted;  ///< verdict of the complete table, adjusted alike
  bool is_equivalent_in_full = false;                   ///< the complete table shows equivalence, beside a sign or not

  /// Null: no cell is there.
  const RoundNumbers* at_stop() const { return table.rounds.empty() ? nullptr : &table.rounds[stop]; }
};

/// With fewer the verdict of the complete table is met less often than in 95 %.
constexpr std::size_t usual_templates = 12;

/// (subject, template, rephrasing) that an open row of a measure needed, and those of the whole product. One pass
/// scores all measures, so that those of rows which are decided together in several measures are counted once.
struct MeasurePasses : PassCounter::Count {
  std::string measure;  ///< "": all that are decided
};

struct Decisions {
  std::vector<DecidedRow> rows;  ///< in the order of measures, contrasts, items
  std::vector<MeasurePasses> passes;
  bool is_whole = true;            ///< replayed over a complete table
  bool has_one_wording = false;    ///< some row has one rephrasing
  bool has_few_templates = false;  ///< some row has fewer than `usual_templates`
};

/// The contrasts that are decided: those of the job, in the measures that are chosen for them. Throws InputError where
/// there are none.
sweep::Comparison asked_contrasts(const sweep::Comparison& comparison);

/// Items of which a contrast is decided in a measure: all, or of these what an earlier run left open.
std::vector<std::size_t> asked_items(const Scores& axes, const ContrastPlan& plan, std::size_t measure,
                                     const sweep::DecideRequest& request);

/// The rows that decisions leave without a verdict, in order.
std::vector<sweep::DecideRequest::Row> rows_left_by(const Decisions& decisions);

/// The rows of a table, whatever number of rounds decides them.
class Deciding {
 public:
  /// Collective: ranks share the contrasts. Throws InputError where no contrast is asked for, or names are not the
  /// table's. `scores` must outlive it.
  Deciding(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);
  /// By the first rounds alone: what later ones have scored changes nothing. Status, round and numbers of the rows:
  /// what a run needs to go on.
  Decisions after(std::size_t num_rounds) const;
  /// The same with everything that is told of them: claims, p, verdicts of the complete table, passes.
  Decisions told_after(std::size_t num_rounds) const;
  /// [subject, template, rephrasing]: what open rows need for the round that follows. Nothing: no row is open.
  std::vector<bool> needed_next(const Decisions& decisions, std::size_t num_rounds) const;

 private:
  const Scores& scores_;
  sweep::DecideRequest request_;
  std::vector<ContrastPlan> plans_;
  std::vector<DecidedRow> rows_;
  bool is_whole_ = true;
};

/// How the differences of a complete table vary in the contrasts and measures that are decided: of each row with two
/// templates and rephrasings the shares of its variance (stats::CrossedSquares), the median over rows of each share,
/// over that of templates (of cells, where templates vary a thousand times less), to three digits. Throws InputError as
/// Deciding, and where no row tells cells from templates.
sweep::DecideRequest::Plan plan_of(const Scores& pilot, const sweep::Comparison& comparison);

/// [measure]: whether a contrast is decided in it. Throws InputError as Deciding.
std::vector<bool> decided_measures(const Scores& axes, const sweep::Comparison& comparison);

/// What a round was, for comparison with that of another start: statistics of the rows that it looked at, to six
/// digits, and what it decided. `round` from 0, below the number of rounds that decided.
base::Digest digest_of_round(const Decisions& decisions, std::size_t round);

/// Of the rounds that were scored (`Scores::num_rounds`). Collective.
Decisions decide(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed);

/// [template x rephrasings + rephrasing]: the round in which a sweep first asks each sentence; never_visited: no
/// contrast needs it. Of the table's axes and the job alone. Throws InputError as Deciding.
std::vector<std::uint8_t> visiting_rounds(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison,
                                          std::uint64_t seed, const LeftOut& is_left_out = {});

/// `decide`, a row each; `decide_by_round`, a row and round each.
std::vector<Finding> findings_of(const Decisions& decisions, const sweep::Comparison& comparison);

/// What keeps decisions of a job with these axes from being what they seem, or from sparing much: few templates, one
/// rephrasing, sides that are all other subjects. Axes without labels are not known.
std::vector<std::string> doubts_of_decisions(const results::ScoreTableAxes& axes, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
