// Cells of one measure of a score table. A cell is one (subject, template, rephrasing, item); its replicates are
// averaged here and nowhere else, so that all statistics of a table have the same cells. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "findings/Scores.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

/// Whether a cell has a finite number. Of several replicates the first of this list that one of them has.
enum class CellState : std::uint8_t {
  scored,
  missing,
  not_applicable,  ///< the combination is no part of the job (needs statuses)
};

/// Mean of the cells with a score, each counted once; NaN: none.
struct CellMean {
  double value = stats::nan;
  std::int32_t num_cells = 0;  ///< with a score
};

class Cells {
 public:
  /// Borrows `values` [subject, template, rephrasing, replicate, item], as Scores::read gives them, and `statuses`
  /// beside them, as Scores::read_statuses; without statuses every combination is applicable. All replicates are
  /// taken.
  Cells(const Scores& scores, std::span<const double> values, std::span<const std::uint8_t> statuses = {});
  /// The same scores, of these replicates alone ([replicate]).
  Cells of_replicates(const std::vector<bool>& chosen) const;
  /// Those of each replicate alone; the one that is the mean of the others is none.
  std::vector<Cells> rounds() const;

  /// Along results::score_axis_names; measure and replicate count 1.
  std::size_t length(std::size_t axis) const { return lengths_[axis]; }
  /// Templates x rephrasings. A sentence's place is template x rephrasings + rephrasing.
  std::size_t num_sentences() const { return lengths_[template_axis] * lengths_[rephrasing_axis]; }

  /// Mean of the cell's finite scores. Where the replicate that is the mean of the others
  /// (results::ScoreTable::mean_replicate) is taken, it stands for them and is not averaged with them. NaN: none.
  double at(std::size_t subject, std::size_t sentence, std::size_t item) const;
  CellState state(std::size_t subject, std::size_t sentence, std::size_t item) const;

  /// Of one subject over all sentences and these items.
  CellMean mean(std::size_t subject, std::span<const std::size_t> items) const;
  /// Sampled answers that were read in the scores of this mean, each replicate's of at most `in_score`, which is 0, 1
  /// or 2: of a `partial` score one was. Needs statuses.
  std::int32_t num_answers(std::size_t subject, std::span<const std::size_t> items, std::int32_t in_score) const;
  /// The same of one cell.
  std::int32_t num_answers(std::size_t subject, std::size_t sentence, std::size_t item, std::int32_t in_score) const;
  /// Over all axes but those that are named (constants such as `subject_axis`), [axis, axis, ...] in the order of the
  /// table.
  std::vector<CellMean> means(std::initializer_list<std::size_t> kept_axes) const;
  /// All cells: [subject, sentence, item].
  std::vector<double> values() const;

 private:
  std::array<std::size_t, 6> lengths_;
  std::span<const double> values_;
  std::span<const std::uint8_t> statuses_;
  std::size_t num_replicates_;  ///< of the table
  std::vector<std::size_t> replicates_;
  std::size_t mean_replicate_;  ///< place of the mean of the others; `num_replicates_`: there is none
};

}  // namespace stereosweep::findings
