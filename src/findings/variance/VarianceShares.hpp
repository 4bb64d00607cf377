// Where the variance of one measure comes from: shares of the sum of squares, and variance components with intervals.
// Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/variance/MeanSquares.hpp"

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

enum class VarianceStatus : std::uint8_t {
  ok = 0,
  no_values = 1,  ///< no complete table of at least one cell
  constant = 2,   ///< all cells are equal
  unbalanced = 3  ///< cells are missing: computed on a complete table inside, `num_left_out` cells smaller
};

/// Main effects, subject x item, and all that is left; of several runs also their main effect, and what they say of a
/// subject and item beyond it.
enum class RunsCompared { one, several };
std::vector<std::string> variance_sources(RunsCompared runs);

/// [source]
struct VarianceShares {
  /// Of the total sum of squares; their sum is 1. Pure noise has shares too, by degrees of freedom: read components.
  std::vector<double> shares;
  /// MeanSquares::component over subjects, items, templates and rephrasings, replicates averaged; of the residual its
  /// mean square. NaN: one label, a replicate, or one template and one rephrasing, which leave no error.
  std::vector<stats::VarianceComponent> components;
  std::vector<std::int32_t> degrees;  ///< of freedom
  std::int32_t num_cells = 0;         ///< computed on
  std::int32_t num_left_out = 0;      ///< with a score, not computed on
  VarianceStatus status = VarianceStatus::no_values;
};

/// What shares are computed of: a complete table, its mean taken off.
struct CentredTable {
  CellTable table;
  double largest = 0;  ///< absolute value of a score before that
  std::int32_t num_left_out = 0;
  VarianceStatus status = VarianceStatus::no_values;
};
CentredTable centred(CellTable table);

/// Axes of `squares_of`, as bits.
namespace effect {
constexpr AxisSet subject = 1;
constexpr AxisSet template_ = 2;
constexpr AxisSet rephrasing = 4;
constexpr AxisSet item = 8;
}  // namespace effect

/// [subject, template, rephrasing, item], runs and replicates averaged.
MeanSquares squares_of(const CellTable& centred);

VarianceShares shares_of(const CentredTable& centred, RunsCompared runs, double confidence);

/// Over (`measures`, variance_source): PREFIXvariance_share, ..._component with its interval, ..._degrees; and over
/// `measures`: ..._n, ..._num_left_out, ..._status.
std::vector<Finding> findings_of(const std::string& prefix, const results::AxisSchema& measures, RunsCompared runs,
                                 const std::vector<VarianceShares>& rows, double confidence);

}  // namespace stereosweep::findings
