// Scores of units (subjects, rows) in cells (sentences) as unit + cell + rest, by least squares, where cells may lack
// units.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace stereosweep::stats {

/// [cell] of a unit; NaN: none. It is asked for each unit several times, so that no table need be held.
using UnitScores = std::function<std::vector<double>(std::size_t unit)>;

/// [unit]: the first of those that chains of shared cells join with it. Effects of others do not compare.
std::vector<std::size_t> joined_units(std::size_t num_units, std::size_t num_cells, const UnitScores& scores_of);

/// What an estimate is made of.
struct Influences {
  std::vector<double> of_cells;  ///< what each adds beyond the effects of its units
  /// Most degrees of freedom that rows give its variance: where few rows have most of the weight, it hangs on these (as
  /// Bell and McCaffrey 2002, Survey Methodology 28, with effects of rows on units that are independent). In a complete
  /// table rows less 1.
  double row_degrees = 0;
};

class AdditiveFit {
 public:
  AdditiveFit(std::size_t num_units, std::size_t num_cells, UnitScores scores_of);

  double rest(std::size_t unit, std::size_t cell, double score) const {
    return score - unit_effects[unit] - cell_effects[cell];
  }

  /// Of the sum over units of `parts` x effect plus `sum of parts` x mean cell effect. All units and cells must be
  /// joined; `rows` [cell]: cells of one row (a sentence in several wordings) are not independent.
  Influences influences(const std::vector<double>& parts, const std::vector<std::size_t>& rows) const;

  std::vector<double> unit_effects;  ///< open by a constant among joined units; 0 without a score
  std::vector<double> cell_effects;  ///< NaN without a score
  std::vector<double> in_cells;      ///< [cell]: units with a score
  double largest = 0;                ///< |score|

 private:
  template <class Read>
  std::vector<double> in_cell(const Read& read) const;
  std::vector<double> solve(std::vector<double> rest, double most) const;

  UnitScores scores_of_;
  std::vector<double> counts_;  ///< [unit]
};

}  // namespace stereosweep::stats
