// The scores of one measure as a table of cells, and the complete table inside one in which cells are missing.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace stereosweep::findings {

/// Places of a table's axes.
enum class CellAxis : std::size_t { run, subject, template_, rephrasing, replicate, item };
constexpr std::size_t num_cell_axes = 6;
using CellIndex = std::array<std::size_t, num_cell_axes>;

/// [run, subject, template, rephrasing, replicate, item]; of a single result one run. NaN: no score.
struct CellTable {
  CellIndex lengths{};
  std::vector<double> values;

  std::size_t length(CellAxis axis) const { return lengths[static_cast<std::size_t>(axis)]; }
};

/// Calls `use(indices, place)` for all cells, in order.
template <class Use>
void each_cell(const CellIndex& lengths, const Use& use) {
  std::size_t size = 1;
  for (const auto length : lengths) {
    size *= length;
  }
  CellIndex at{};
  for (std::size_t place = 0; place < size; ++place) {
    use(static_cast<const CellIndex&>(at), place);
    for (std::size_t axis = num_cell_axes; axis-- > 0 && ++at[axis] == lengths[axis];) {
      at[axis] = 0;
    }
  }
}

/// As long as cells are missing, the label (of any axis) that lacks the largest share of its cells is dropped; of
/// equals a template, subject, rephrasing, replicate, item, run. Empty where there is no score.
CellTable complete_part(CellTable table);

/// Without the replicate that is the mean of the others (results::ScoreTable::mean_replicate) where these have scores.
CellTable without_mean_replicate(CellTable table, const std::vector<std::string>& replicates);

/// Means of a complete table over all but some axes, [axis, axis, ...].
std::vector<double> means_over(const CellTable& table, const std::vector<CellAxis>& axes);

}  // namespace stereosweep::findings
