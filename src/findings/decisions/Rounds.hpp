// What each round of a sweep would have known of a contrast: its cells dealt in the order of a sweep that may stop, and
// the mean of each part with its boundary. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "findings/Scores.hpp"
#include "findings/contrasts/ContrastPlans.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/sequential/Boundary.hpp"
#include "sweep/Decision.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::findings {

/// One round of one row; plain, as the ranks tell them each other. NaN where the round is not looked at: more than a
/// tenth of the visited cells has no score, or nothing can be said of the target yet.
struct RoundNumbers {
  double estimate = stats::nan;                                          ///< mean of the visited cells
  stats::CrossedVariances parts = {stats::nan, stats::nan, stats::nan};  ///< of its variance about the target
  double degrees = stats::nan;
  double critical = stats::nan;  ///< c at the job's level, a normal quantile
  double low = stats::nan;       ///< repeated interval: all rounds together hold the truth with 1 - level
  double high = stats::nan;
  double spent = stats::nan;         ///< share of the level until here
  double e_value = stats::nan;       ///< of the diagonal until here (stats::flip_e_value)
  double end_variance = stats::nan;  ///< of the whole table's mean, by the variances of this round; NaN: not known yet
  double statistic = 0;              ///< stats::Look's, of the sign
  double equivalence_statistic = 0;  ///< and of what the margin leaves
  double correlation = 0;            ///< with the round before that was looked at
  double mixture = 0;                ///< stats::Look's
  std::int32_t num_cells = 0;        ///< with a score
  std::int32_t num_missing = 0;      ///< visited without one
  std::int32_t passes = 0;           ///< (subject, template, rephrasing) that were scored until here
  std::uint8_t is_looked_at = 0;
  std::uint8_t is_constant = 0;  ///< no visited cell differs from another: only the e-value says something
  std::uint8_t has_all_templates = 0;

  double variance() const { return parts.sum(); }
};

/// In which round each cell of a row is visited.
using sweep::never_visited;

/// One contrast in one measure for one item.
struct RowRounds {
  std::vector<RoundNumbers> rounds;   ///< none: no cell is applicable
  std::vector<std::uint8_t> visited;  ///< [block, column]: place of the round; never_visited: not applicable
  std::uint8_t is_whole = 1;          ///< of a run without rounds, which scores all of its table
  double complete = stats::nan;       ///< of the complete table, as contrast_difference, contrast_p; NaN: it is not
  double complete_p = stats::nan;
  double complete_equivalence_p = stats::nan;  ///< larger one of the two one-sided p that it lies within the margin
};

/// In which order templates and rephrasings are visited: [place on the axis] -> place in the order.
struct DealtOrder {
  std::vector<std::size_t> templates;
  std::vector<std::size_t> rephrasings;
  DealtOrder(const Scores& scores, std::uint64_t seed);
};

/// Lines (blocks or columns) in the order in which they are visited: by the first of their places on the axis.
/// `line_of_place`: of each place, or no_block.
std::vector<std::size_t> dealt_lines(std::size_t num_lines, const std::vector<std::size_t>& line_of_place,
                                     const std::vector<std::size_t>& order);

/// Those of every item of a contrast in one measure. `values`, `statuses`: as Scores::read and read_statuses give them.
std::vector<RowRounds> rounds_of(const Scores& scores, const ContrastPlan& plan, std::size_t measure,
                                 std::span<const double> values, std::span<const std::uint8_t> statuses,
                                 const sweep::DecideRequest& request, const DealtOrder& order);

/// [template]: whether an item is left out there; empty: nowhere.
std::vector<bool> templates_without(const Scores& axes, std::size_t measure, std::size_t item,
                                    const LeftOut& is_left_out);

/// [block, column]: the round in which a contrast visits the cell where every combination is applicable but those of
/// `left_out` (templates_without).
std::vector<std::uint8_t> visited_cells(const ContrastPlan& plan, const DealtOrder& order,
                                        const std::vector<bool>& left_out = {});

/// Places (subject x sentences + sentence) that a contrast asks in each of its cells, [block, column].
std::vector<std::vector<std::size_t>> contexts_of_cells(const Scores& scores, const ContrastPlan& plan);

/// Marks what rows ask until their stops, and in all.
class PassCounter {
 public:
  /// Borrows the axes.
  explicit PassCounter(const Scores& axes) : axes_(axes) {}
  /// `visited`: RowRounds::visited; the row asks all cells of the rounds until `stop`.
  void add(const ContrastPlan& plan, const std::vector<std::uint8_t>& visited, std::size_t stop);
  enum State : std::uint8_t { not_needed, spared, asked };
  /// [subject, template, rephrasing]; nothing where no row was added.
  std::vector<State> states() const;
  /// (subject, template, rephrasing)
  struct Count {
    std::uint64_t asked = 0;
    std::uint64_t all = 0;
  };
  Count count() const;

 private:
  const Scores& axes_;
  /// The latest stop of the rows of a plan that visit their cells alike: those need the same passes.
  std::map<std::pair<const ContrastPlan*, std::vector<std::uint8_t>>, std::size_t> stops_;
};

/// Looks of the first `num_rounds` rounds that were looked at, for the sign or what `statistic` else names, and the
/// rounds' places.
struct LookedAt {
  std::vector<stats::Look> looks;
  std::vector<std::size_t> rounds;
};
LookedAt looked_at(const RowRounds& row, std::size_t num_rounds, double RoundNumbers::*statistic);

}  // namespace stereosweep::findings
