// How far the mean of a table is off whose rows and columns are two samples, crossed with each other (templates and
// rephrasings): random effects of the rows, of the columns, and a rest of each cell. Student's t of such a mean and of
// paired differences, and intervals of what is left of a sum and difference of mean squares.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "stats/Bootstrap.hpp"

namespace stereosweep::stats {

/// Variances of the effects, each at least 0.
struct CrossedVariances {
  double rows = 0;
  double columns = 0;
  double rest = 0;
  double sum() const { return rows + columns + rest; }
};

/// Of the cells that exist: what an estimate of variances says of the variance of their mean, by Henderson's method III
/// on the additive model (Henderson 1953, Biometrics 9; Searle, Casella and McCulloch 1992, Variance Components, ch.
/// 5), its rank by the components of the graph of rows and columns. In a complete table these are the mean squares of
/// the two-way analysis of variance over the number of cells.
struct CrossedSquares {
  double rows = 0;           ///< of rows, which contain the rest; 0 with fewer than two
  double columns = 0;        ///< of columns, which contain the rest; 0 with fewer than two
  double rest = 0;           ///< of cells alone; 0 where no degrees are left for it
  double rows_alone = 0;     ///< variance of the mean where columns have no effects (one-way in rows)
  double columns_alone = 0;  ///< and where rows have none
  double cells_alone = 0;    ///< and where neither has: cells are independent
  double row_ratio = 0;      ///< F of rows given columns, with `row_degrees` and `rest_degrees`
  double column_ratio = 0;   ///< F of columns given rows
  double row_degrees = 0;
  double column_degrees = 0;
  double rest_degrees = 0;  ///< cells less the rank of the additive model
  double row_spread = 0;    ///< sum over rows of the squared share of the cells: 1 / rows in a complete table
  double column_spread = 0;
  double most_row_degrees = HUGE_VAL;  ///< that rows give the error, where they do not weigh alike
  double total = 0;                    ///< sum of squares around the mean; of `complete_squares` 0, as the next two
  double within_rows = 0;
  double within_columns = 0;
  std::size_t num_rows = 0;
  std::size_t num_columns = 0;
  std::size_t num_cells = 0;

  /// Of the mean over other rows and columns: rows + columns - rest (neither below rest). An effect without evidence (F
  /// above the level 0.25; 0.35 with four rows or columns, 0.5 with fewer) is left out of the model: else two estimates
  /// that cannot fall below 0 would make intervals too wide where there are no effects (Bancroft 1944, Annals of
  /// Mathematical Statistics 15; Bozivich, Bancroft and Hartley 1956, same 27). Missing cells hide effects: 1 less the
  /// level is multiplied by the share of cells that exist. Degrees of freedom by Satterthwaite (1946, Biometrics
  /// Bulletin 2), the fewest that it has with the estimates, with that of rows or with that of columns at its upper 75
  /// % limit: else tables whose few columns happen to differ little would seem to have many degrees, and p of 0.005
  /// would come twice as often as they should. With two rows or columns at most 1.5, since one degree often misses an
  /// effect. Without degrees for the rest but with several rows and columns: sums by row and by column (Cameron,
  /// Gelbach and Miller 2011, Journal of Business & Economic Statistics 29), up to twice too large.
  MeanError error() const;
  CrossedVariances variances() const;
};

/// `cells` [row, column]; NaN: none. A row or column without a cell does not count. `most_row_degrees`: where rows do
/// not weigh alike.
CrossedSquares crossed_squares(std::span<const double> cells, std::size_t num_columns,
                               double most_row_degrees = HUGE_VAL);

/// Of a complete table, two rows or more, what follows from its `rows`, `columns` and `rest`; one column: `rows` alone.
CrossedSquares complete_squares(double rows, double columns, double rest, std::size_t num_rows,
                                std::size_t num_columns);
/// The expectations of these in such a table with these true variances.
CrossedSquares expected_squares(const CrossedVariances& variances, std::size_t num_rows, std::size_t num_columns);

/// Where an effect's p is at most this, CrossedSquares::error takes it into the model of a complete table; `fewest`:
/// rows or columns.
double evidence_level(std::size_t fewest);

/// What a sample variance with these degrees of freedom (above 0) is multiplied by, to give the upper limit that the
/// true one stays below with this probability (normal values).
double upper_variance_factor(double degrees, double probability);

/// Of a sum of variances (one that is taken off is negative), by Satterthwaite (1946, Biometrics Bulletin 2): the
/// fewest with the estimates or with one of those that are added at its upper 75 % limit, since few degrees may hide a
/// large variance. All `degrees` are above 0.
double fewest_degrees(std::span<const double> variances, std::span<const double> degrees);

/// Of the sum over groups of their means, which are other samples (Welch 1947, Biometrika 34): sum of variance (n - 1)
/// over n, degrees of freedom by Satterthwaite, the fewest with the estimates or one of them at its upper 75 % limit:
/// two values that happen to differ little would else have the degrees of the others. Of one group that of a mean. NaN
/// degrees without groups, with a group of fewer than two, or where nothing varies by more than 1e-12 of it.
MeanError error_of_group_means(std::span<const std::vector<double>> groups);

/// Student's t of a mean against 0 and its interval, from one variance: the interval lacks 0 exactly where p is below
/// 1 - confidence.
struct MeanTest {
  double p = nan;  ///< two-sided
  double low = nan;
  double high = nan;
};

/// NaN where the error's variance or degrees are not above 0.
MeanTest test_mean(double mean, const MeanError& error, double confidence);

struct PairedTest {
  double difference = nan;  ///< mean of left - right
  double t = nan;           ///< difference / (standard deviation (n - 1) / sqrt(n))
  double p = nan;           ///< two-sided, n - 1 degrees of freedom
  std::size_t n = 0;
  /// `too_few`: fewer than two pairs; `constant`: the differences vary by no more than 1e-12 of the values, and t
  /// has no value.
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

/// As scipy.stats.ttest_rel, which gives an infinite t where ours has the reason `constant`. Both spans have the same
/// length. Assumes that the differences are independent draws of a normal distribution.
PairedTest paired_t_test(std::span<const double> left, std::span<const double> right);

/// A mean square of an analysis of variance, and how often it counts in a component (negative: it is taken off).
struct CountedSquare {
  double coefficient = 0;
  double value = 0;
  double degrees = 0;  ///< at least 1
};

struct VarianceComponent {
  double value = nan;  ///< sum of coefficient x value; below 0 where the squares say so by chance
  double low = nan;    ///< may be below 0
  double high = nan;
};

/// Modified large sample interval of a sum and difference of independent mean squares (Ting, Burdick, Graybill,
/// Jeyaratnam and Lu 1990, Journal of Statistical Computation and Simulation 35; Burdick and Graybill 1992, Confidence
/// Intervals on Variance Components, ch. 3): exact where one square alone counts. Normal effects are assumed.
VarianceComponent variance_component(std::span<const CountedSquare> squares, double confidence);

}  // namespace stereosweep::stats
