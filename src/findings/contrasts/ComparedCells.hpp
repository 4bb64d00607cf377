// The differences that a contrast tests: of one measure, by template and rephrasing, on equal composition. Knows no
// probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "findings/Cells.hpp"
#include "findings/contrasts/ContrastPlans.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

/// Of one item.
struct ComparedItem : ComparedNumbers {
  std::vector<double> differences;  ///< [block, column], in the measure's unit; NaN: not compared
  double row_degrees = HUGE_VAL;    ///< most that blocks give the variance, where they do not weigh alike
  /// What each subject adds to the difference, by the sides that it is on; each side has the subjects of one group.
  /// Empty: no group of subjects, or sides that share only some.
  std::vector<std::vector<double>> subjects;

  stats::CrossedSquares squares(std::size_t num_columns) const {
    return stats::crossed_squares(differences, num_columns, row_degrees);
  }
};

/// A cell is one (block, column); a side's score in it is the mean over its subjects. Where all subjects have all cells
/// (or `cells: all`), differences are those of plain means. Else a subject that lacks cells would move its side's mean
/// by what it is, and by what its templates are; then scores are taken as subject (on a side) + cell + rest, the
/// subject and cell effects by least squares, and the difference is that of the sides' mean subject effects, every
/// subject counted once. What stands in `differences` then is that difference, and what the rests of the cell add to it
/// by the weights of the least-squares estimate (times sqrt(n / (n - 1)) for a subject with n blocks that others have,
/// relative to all blocks), so that their variance is the estimate's. A cell counts where all sides have a score
/// (`cells: common`: all subjects), a subject with at least two such cells, in two blocks where there are several.
class ComparedMeans {
 public:
  /// Borrows all. `statuses`: as Cells, those of sampled answers, of which a replicate's score is of at most
  /// `in_score`.
  ComparedMeans(const Scores& scores, const ContrastPlan& plan, std::span<const double> values,
                std::span<const std::uint8_t> statuses = {}, std::int32_t in_score = 0);
  ComparedItem of(std::size_t item) const;
  /// Sampled answers that were read in the scores of all sides.
  std::int32_t num_answers(std::size_t item) const { return answers_[item]; }

 private:
  struct SideSums {
    Cells cells;
    std::vector<double> sums;        ///< [cell, item]
    std::vector<double> magnitudes;  ///< sums of the scores without their signs
    std::vector<double> counts;
    std::vector<double> num_sentences;  ///< [cell]
    std::vector<std::size_t> subjects;  ///< places on the table's axis
    std::vector<double> subject_sums;   ///< [subject, item]
    std::vector<double> subject_counts;
  };
  SideSums sum(const Scores& scores, const PlannedSide& side, std::span<const double> values) const;
  bool has_score(const SideSums& side, std::size_t subject, std::size_t item) const {
    return side.subject_counts[subject * num_items_ + item] > 0;
  }
  bool is_even(std::size_t item) const;
  ComparedItem plain(std::size_t item) const;
  ComparedItem adjusted(std::size_t item) const;

  const ContrastPlan& plan_;
  std::size_t num_items_;
  std::vector<SideSums> sides_;
  std::vector<std::int32_t> answers_;  ///< [item]
};

}  // namespace stereosweep::findings
