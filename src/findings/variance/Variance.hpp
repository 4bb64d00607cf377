// Where the variance of a measure comes from, and how reliable a subject's mean is with more or fewer templates and
// rephrasings. Knows no probe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/Finding.hpp"
#include "findings/Scores.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/Summary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

// Analysis of variance of a complete table whose axes are crossed: sums of squares of every main effect and
// interaction, and variance components from expected mean squares. Knows no probe.

/// Axes of a table: bit a stands for axis a. An effect is the set of its axes.
using AxisSet = std::size_t;

class MeanSquares {
 public:
  /// `values` [axis 0, axis 1, ...], complete, borrowed for this call; their mean is near 0, so that squares keep their
  /// digits. At most eight axes.
  MeanSquares(std::vector<std::size_t> lengths, std::span<const double> values);

  /// Sum of squares of an effect; those of all effects add up to the total. 0 where below 1e-12 of the total.
  double square(AxisSet effect) const { return squares_[effect]; }
  double degrees(AxisSet effect) const;
  /// Of all effects.
  double total() const { return total_; }
  /// Axes with more than one label.
  AxisSet present() const { return present_; }

  /// Variance of an effect, every axis a sample: the mean squares of all effects that contain it, with alternating
  /// signs, over the number of cells that share its labels (Searle, Casella and McCulloch 1992, Variance Components,
  /// ch. 4; Brennan 2001, Generalizability Theory, ch. 3). `within`: axes whose every label has an analysis of its own,
  /// the squares added up over them; its interval allows for effects that all these labels have in common. The effect
  /// of all axes is its mean square: with what is left of each cell. NaN for an effect of an axis with one label.
  stats::VarianceComponent component(AxisSet effect, double confidence, AxisSet within = 0) const;

 private:
  double length_of(AxisSet axes) const;

  std::vector<std::size_t> lengths_;
  std::vector<double> squares_;  ///< [effect]
  double total_ = 0;
  AxisSet present_ = 0;
};

// Where the variance of one measure comes from: shares of the sum of squares, and variance components with intervals.
// Knows no probe.

/// Place of an axis: the others have those of a score table.
constexpr std::size_t axis_of_runs = 0;
constexpr std::size_t num_cell_axes = 6;
using CellIndex = std::array<std::size_t, num_cell_axes>;

/// [run, subject, template, rephrasing, replicate, item]; of a single result one run. NaN: no score.
struct CellTable {
  CellIndex lengths{};
  std::vector<double> values;
};

/// Calls `use(indices, place)` for all cells, in order.
void each_cell(const CellIndex& lengths, const auto& use) {
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
std::vector<double> means_over(const CellTable& table, const std::vector<std::size_t>& axes);

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

struct VarianceSource {
  /// Of the total sum of squares; their sum is 1. Pure noise has shares too, by degrees of freedom: read components.
  double share = stats::nan;
  /// MeanSquares::component over subjects, items, templates and rephrasings, replicates averaged; of the residual its
  /// mean square. NaN: one label, a replicate, or one template and one rephrasing, which leave no error.
  stats::VarianceComponent component = {};
  std::int32_t degrees = 0;  ///< of freedom
};

struct VarianceShares {
  std::vector<VarianceSource> sources;  ///< those of variance_sources
  std::int32_t num_cells = 0;           ///< computed on
  std::int32_t num_left_out = 0;        ///< with a score, not computed on
  VarianceStatus status = VarianceStatus::no_values;
};

/// What shares are computed of: a complete table, its mean taken off.
struct CentredTable {
  CellTable table;
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

/// `none`: the interval of the variance between subjects is not above 0, so that nothing is reliable; `not_computed`:
/// one subject, one template and one rephrasing, or no variance at all.
enum class ReliabilityStatus : std::uint8_t { ok = 0, none = 1, not_computed = 2 };

/// Share of the variance of a subject's mean of one item that comes from the subject (Brennan 2001, Generalizability
/// Theory, ch. 4): where subjects are compared with each other, E rho^2; where the mean itself counts, Phi.
struct Reliability {
  double relative = stats::nan;
  double absolute = stats::nan;
};

/// One measure.
struct VarianceRow {
  VarianceShares shares;
  stats::VarianceComponent subjects;  ///< variance between subjects within items
  ReliabilityStatus status = ReliabilityStatus::not_computed;
  Reliability own;                          ///< with the templates and rephrasings of the table
  std::vector<Reliability> projected = {};  ///< [rephrasing_count, template_count]; NaN: see `own`, or the count is of
                                            ///< an axis with one label, of which nothing else is known
  /// Fewest with E rho^2 of 0.9 beside the table's own number of the others; NaN: no number is enough.
  double enough_templates = stats::nan;
  double enough_rephrasings = stats::nan;
};

struct Variance {
  results::AxisSchema measures;  ///< all of the table, or `variance_measure`
  std::vector<std::size_t> template_counts;
  std::vector<std::size_t> rephrasing_counts;  ///< the table's own first
  std::vector<VarianceRow> rows;               ///< [measure]
};

/// Of the measures that `comparison.variance` chooses. A replicate that is the mean of the others counts only where
/// they have no score. Throws InputError for measures that the table does not have.
Variance variance_of(const Scores& scores, const sweep::Comparison& comparison);

std::vector<Finding> findings_of(const Variance& variance, const sweep::Comparison& comparison);

}  // namespace stereosweep::findings
