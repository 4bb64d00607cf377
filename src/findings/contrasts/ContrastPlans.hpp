// Contrasts of a job with their names looked up in a score table: which places each side takes, and what its cells are.
// Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "base/Lists.hpp"
#include "findings/Finding.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Which places of each axis a side takes; [axis - subject_axis][place].
using Side = std::array<std::vector<bool>, 4>;

/// A side, and how often its mean counts in what a row calls left and right; left minus right is the difference.
struct PlannedSide {
  Side takes;
  double to_left = 0;
  double to_right = 0;
  double sign() const { return to_left - to_right; }
};

constexpr std::size_t no_block = std::numeric_limits<std::size_t>::max();

struct ContrastPlan {
  std::string name;
  SideWords words = {};
  std::vector<PlannedSide> sides;  ///< the left one first; a side that is zero is none
  std::vector<std::size_t> measures;
  std::vector<std::size_t> blocks;  ///< [template]: the block of what flips together, or no_block
  std::size_t num_blocks = 0;
  std::vector<std::size_t> columns;  ///< [rephrasing]: its column, or no_block
  std::size_t num_columns = 0;
  std::string blocks_key;  ///< equal for contrasts whose blocks are the same
  sweep::Contrast::Cells cells = sweep::Contrast::Cells::adjusted;

  std::size_t num_cells() const { return num_blocks * num_columns; }
  std::size_t block_of(std::size_t cell) const { return cell / num_columns; }
  /// Between which a difference lies where scores lie between `ends`.
  stats::ScaleEnds ends_of_differences(const stats::ScaleEnds& ends) const {
    stats::ScaleEnds found{0, 0};
    for (const auto& side : sides) {
      found.lowest += side.sign() * (side.sign() > 0 ? ends.lowest : ends.highest);
      found.highest += side.sign() * (side.sign() > 0 ? ends.highest : ends.lowest);
    }
    return found;
  }
  /// `use(sentence, cell)` of the sentences (template x rephrasings + rephrasing) that the side takes; a cell is block
  /// x columns + column.
  void each_cell(const PlannedSide& side, const auto& use) const {
    for (std::size_t sentence = 0; sentence < blocks.size() * columns.size(); ++sentence) {
      const auto place = sentence / columns.size();
      const auto rephrasing = sentence % columns.size();
      if (side.takes[template_axis - subject_axis][place] && side.takes[rephrasing_axis - subject_axis][rephrasing] &&
          blocks[place] != no_block && columns[rephrasing] != no_block) {
        use(sentence, blocks[place] * num_columns + columns[rephrasing]);
      }
    }
  }
};

/// The name of the rows that are tested together with one.
std::string family_of(const std::string& contrast, const std::string& measure, sweep::TestFamily family);

/// In the job's order, `each` in the order of its labels. Throws InputError with every name that the table lacks.
std::vector<ContrastPlan> plan_contrasts_of(const Scores& scores, const sweep::Comparison& comparison);

/// In the order of measures: `use(plans, measure, values)` with pointers to the contrasts that there are in the
/// measure.
void each_compared(const Scores& scores, const std::vector<ContrastPlan>& plans, const auto& use) {
  for (std::size_t measure = 0; measure < scores.axes[measure_axis]->labels.size(); ++measure) {
    std::vector<const ContrastPlan*> own;
    for (const auto& plan : plans) {
      if (base::contains(plan.measures, measure)) {
        own.push_back(&plan);
      }
    }
    if (!own.empty()) {
      use(own, measure, scores.read(measure));
    }
  }
}

}  // namespace stereosweep::findings
