#include "stats/CrossedTable.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/Error.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr double rounding = 1e-13;  // of sums of squares, relative to the whole
constexpr double cautious = 0.75;   // probability of the upper limit that a share of few degrees is taken at

/// Sums of the cells of each row or column, and how many there are.
struct Lines {
  explicit Lines(std::size_t length) : sums(length, 0), counts(length, 0) {}
  void add(std::size_t line, double value) {
    sums[line] += value;
    counts[line] += 1;
  }
  double mean(std::size_t line) const { return counts[line] > 0 ? sums[line] / counts[line] : 0; }
  std::size_t num_present() const { return counts.size() - std::ranges::count(counts, 0.0); }
  /// Sum of squares between lines, of cells whose mean is 0.
  double between() const {
    double squares = 0;
    for (std::size_t line = 0; line < sums.size(); ++line) {
      squares += sums[line] * mean(line);
    }
    return squares;
  }
  double spread(double num_cells) const {
    return std::inner_product(counts.begin(), counts.end(), counts.begin(), 0.0) / (num_cells * num_cells);
  }
  /// Variance of the mean of all cells, whose deviations these are, as that of a sum of clusters.
  double cluster_square(double num_cells) const {
    const auto n = static_cast<double>(num_present());
    const double squares = std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
    return n < 2 ? 0 : n / (n - 1) * squares / (num_cells * num_cells);
  }

  std::vector<double> sums;
  std::vector<double> counts;
};

/// What the lines of one axis explain beyond those of the other, and with how many degrees of freedom.
struct Explained {
  double squares = 0;
  double degrees = 0;
};

/// Least squares on rows + columns with the rows eliminated. `deviations` [row, column] lacks NaN where `lines` have
/// none. Where lines fall into components, those that elimination finds dependent are left out.
Explained columns_given_rows(std::span<const double> deviations, const Lines& rows, const Lines& columns) {
  const auto length = columns.sums.size();
  std::vector<double> matrix(length * length, 0);
  std::vector<double> right(length, 0);
  std::vector<std::size_t> present;
  for (std::size_t row = 0; row < rows.sums.size(); ++row) {
    present.clear();
    for (std::size_t column = 0; column < length; ++column) {
      if (!std::isnan(deviations[row * length + column])) {
        present.push_back(column);
      }
    }
    for (const auto column : present) {
      right[column] += deviations[row * length + column] - rows.mean(row);
      matrix[column * length + column] += 1;
      for (const auto other : present) {
        matrix[column * length + other] -= 1 / rows.counts[row];
      }
    }
  }
  Explained explained;
  for (std::size_t pivot = 0; pivot < length; ++pivot) {  // positive semidefinite: no exchange of rows is needed
    const double size = matrix[pivot * length + pivot];
    if (size <= 1e-9 * columns.counts[pivot]) {
      continue;
    }
    explained.squares += right[pivot] * right[pivot] / size;
    explained.degrees += 1;
    for (std::size_t below = pivot + 1; below < length; ++below) {
      const double factor = matrix[below * length + pivot] / size;
      if (factor != 0) {
        right[below] -= factor * right[pivot];
        for (std::size_t column = pivot; column < length; ++column) {
          matrix[below * length + column] -= factor * matrix[pivot * length + column];
        }
      }
    }
  }
  return explained;
}

/// One axis' variance of the mean where the other axis has no effects: the one-way analysis with unequal numbers.
double one_way(const Lines& lines, double total, double num_cells) {
  const auto num_lines = static_cast<double>(lines.num_present());
  if (num_lines < 2) {
    return 0;
  }
  const double between = lines.between();
  const double rest = num_cells > num_lines ? (total - between) / (num_cells - num_lines) : 0;
  const double spread = lines.spread(num_cells);
  const double effect = num_cells > num_lines ? (between - rest * (num_lines - 1)) / (num_cells * (1 - spread))
                                              : between / (num_lines - 1);
  return effect * spread + rest / num_cells;
}

/// Where each row has one cell, its variance contains that of cells; the columns' is what all vary beyond it.
MeanError error_of_one_layer(const CrossedSquares& squares) {
  const auto n = static_cast<double>(squares.num_cells);
  const auto num_columns = static_cast<double>(squares.num_columns);
  if (squares.num_cells == squares.num_columns) {
    return {squares.cells_alone, squares.cells_alone > 0 ? n - 1 : nan};
  }
  const double of_rows = squares.within_columns / (n - num_columns) / n;
  const double of_columns =
      std::max(0.0, squares.total - of_rows * n * (n - 1)) / (n * (1 - squares.column_spread)) * squares.column_spread;
  const double variance = of_rows + of_columns;
  return {variance, variance > 0 ? num_columns - 1 : nan};
}

/// Quantile of chi square over its degrees of freedom: the ratio of a mean square to its expectation.
double square_quantile(double probability, double degrees) {
  return boost::math::quantile(boost::math::chi_squared(degrees), probability) / degrees;
}

double ratio_quantile(double probability, double degrees, double other_degrees) {
  return boost::math::quantile(boost::math::fisher_f(degrees, other_degrees), probability);
}

/// Squared distance from the component to one end of its interval. `outside`: the chance to lie beyond it. The lower
/// end is below by what added squares may be too large and squares that are taken off too small; the upper end turns
/// both round.
double squared_distance(std::span<const CountedSquare> squares, double outside, double direction) {
  const auto too_large = [&](double degrees) { return 1 - 1 / square_quantile(1 - outside, degrees); };
  const auto too_small = [&](double degrees) { return 1 / square_quantile(outside, degrees) - 1; };
  double sum = 0;
  for (const auto& square : squares) {
    const bool is_added = direction * square.coefficient > 0;
    const double own = is_added ? too_large(square.degrees) : too_small(square.degrees);
    sum += std::pow(own * square.coefficient * square.value, 2);
    for (const auto& other : squares) {
      if (!is_added || direction * other.coefficient >= 0) {
        continue;
      }
      const double quantile = ratio_quantile(1 - outside, square.degrees, other.degrees);
      const double both =
          (std::pow(quantile - 1, 2) - std::pow(own * quantile, 2) - std::pow(too_small(other.degrees), 2)) / quantile;
      sum += both * std::abs(square.coefficient * other.coefficient) * square.value * other.value;
    }
  }
  return std::max(sum, 0.0);
}

}  // namespace

CrossedSquares crossed_squares(std::span<const double> cells, std::size_t num_columns, double most_row_degrees) {
  STEREOSWEEP_ASSERT(num_columns > 0 && cells.size() % num_columns == 0, "whole rows");
  double sum = 0;
  CrossedSquares squares{.most_row_degrees = most_row_degrees};
  for (const double cell : cells) {
    if (!std::isnan(cell)) {
      sum += cell;
      ++squares.num_cells;
    }
  }
  const auto n = static_cast<double>(squares.num_cells);
  std::vector<double> deviations(cells.begin(), cells.end());
  const auto length = cells.size() / num_columns;
  Lines rows(length);
  Lines columns(num_columns);
  double total = 0;
  for (std::size_t place = 0; place < cells.size(); ++place) {
    if (!std::isnan(cells[place])) {
      deviations[place] -= sum / n;
      total += deviations[place] * deviations[place];
      rows.add(place / num_columns, deviations[place]);
      columns.add(place % num_columns, deviations[place]);
    }
  }
  squares.num_rows = rows.num_present();
  squares.num_columns = columns.num_present();
  if (squares.num_cells < 2) {
    return squares;
  }
  squares.row_spread = rows.spread(n);
  squares.column_spread = columns.spread(n);
  squares.total = total;
  squares.within_rows = total - rows.between();
  squares.within_columns = total - columns.between();
  squares.cells_alone = total / (n - 1) / n;
  squares.rows_alone = one_way(rows, total, n);
  squares.columns_alone = one_way(columns, total, n);
  if (squares.num_rows < 2 || squares.num_columns < 2) {
    squares.rows = squares.num_rows < 2 ? 0 : squares.cells_alone;
    squares.columns = squares.num_columns < 2 ? 0 : squares.cells_alone;
    return squares;
  }
  const bool is_complete = squares.num_cells == squares.num_rows * squares.num_columns;
  const auto by_columns = is_complete ? Explained{columns.between(), static_cast<double>(squares.num_columns) - 1}
                                      : columns_given_rows(deviations, rows, columns);
  const auto num_rows = static_cast<double>(squares.num_rows);
  const double rank = num_rows + by_columns.degrees;
  squares.rest_degrees = n - rank;
  squares.column_degrees = by_columns.degrees;
  squares.row_degrees = rank - static_cast<double>(squares.num_columns);
  if (squares.rest_degrees <= 0) {
    squares.rows = rows.cluster_square(n);
    squares.columns = columns.cluster_square(n);
    return squares;
  }
  double residual = squares.within_rows - by_columns.squares;
  residual = residual <= rounding * total ? 0 : residual;
  const double rest = residual / squares.rest_degrees;
  const double by_rows = std::max(0.0, squares.within_columns - residual);
  const auto ratio = [&](double explained, double degrees) {
    return degrees <= 0 || explained <= rounding * total ? 0 : explained / degrees / rest;
  };
  squares.row_ratio = ratio(by_rows, squares.row_degrees);
  squares.column_ratio = ratio(by_columns.squares, squares.column_degrees);
  squares.rest = rest / n;
  const double row_variance = (by_rows - rest * squares.row_degrees) / (n - static_cast<double>(squares.num_columns));
  const double column_variance = (by_columns.squares - rest * squares.column_degrees) / (n - num_rows);
  squares.rows = row_variance * squares.row_spread + squares.rest;
  squares.columns = column_variance * squares.column_spread + squares.rest;
  return squares;
}

double upper_variance_factor(double degrees, double probability) {
  return degrees / (2 * boost::math::gamma_p_inv(degrees / 2, 1 - probability));
}

double fewest_degrees(std::span<const double> variances, std::span<const double> degrees) {
  double fewest = nan;
  for (std::size_t raised = 0; raised <= variances.size(); ++raised) {  // the last: none
    double sum = 0;
    double uncertainty = 0;
    for (std::size_t part = 0; part < variances.size(); ++part) {
      const bool is_raised = part == raised && variances[part] > 0;
      const double variance = variances[part] * (is_raised ? upper_variance_factor(degrees[part], cautious) : 1);
      sum += variance;
      uncertainty += variance * variance / degrees[part];
    }
    fewest = std::fmin(fewest, sum * sum / uncertainty);  // NaN is none
  }
  return fewest;
}

double evidence_level(std::size_t fewest) { return fewest >= 5 ? 0.25 : fewest == 4 ? 0.35 : 0.5; }

MeanError CrossedSquares::error() const {
  const auto n = static_cast<double>(num_cells);
  const auto fewest = std::min(num_rows, num_columns);
  if (num_cells < 2) {
    return {0, nan};
  }
  const auto of_rows = [this](double degrees) { return std::min(degrees, most_row_degrees); };
  if (fewest < 2) {
    return {cells_alone, cells_alone > 0 ? of_rows(n - 1) : nan};
  }
  if (num_cells == num_rows) {
    return error_of_one_layer(*this);
  }
  if (rest_degrees <= 0) {
    const double variance = rows + columns;
    return {variance, variance > 0 ? of_rows(static_cast<double>(fewest) - 1) : nan};
  }
  const double filled = n / static_cast<double>(num_rows * num_columns);
  // a row or column of zeros gives F = 1 and so 0.5 exactly: rounding must not decide then
  const double level = (1 - (1 - evidence_level(fewest)) * filled) * (1 + 1e-9);
  const bool has_rows = row_ratio > 0 && ratio_p(row_ratio, row_degrees, rest_degrees) <= level;
  const bool has_columns = column_ratio > 0 && ratio_p(column_ratio, column_degrees, rest_degrees) <= level;
  MeanError error{cells_alone, n - 1};
  if (has_rows && has_columns) {
    const double all_rows = std::max(rows, rest);  // an effect's variance is at least 0
    const double all_columns = std::max(columns, rest);
    error.variance = all_rows + all_columns - rest;
    error.degrees = fewest_degrees(std::array{all_rows, all_columns, -rest},
                                   std::array{of_rows(row_degrees), column_degrees, rest_degrees});
  } else if (has_rows) {
    error = {rows_alone, of_rows(static_cast<double>(num_rows) - 1)};
  } else if (has_columns) {
    error = {columns_alone, static_cast<double>(num_columns) - 1};
  }
  if (fewest == 2) {
    error.degrees = std::min(error.degrees, 1.5);
  }
  if (!(error.variance > 0)) {
    error = {0, nan};
  }
  return error;
}

CrossedVariances CrossedSquares::variances() const {
  if (num_rows < 2 || num_columns < 2 || rest_degrees <= 0) {
    const auto n = static_cast<double>(num_cells);
    return {num_rows < 2 ? 0 : cells_alone * n, num_columns < 2 || num_rows > 1 ? 0 : cells_alone * n, 0};
  }
  return {std::max(0.0, rows - rest) / row_spread, std::max(0.0, columns - rest) / column_spread,
          rest * static_cast<double>(num_cells)};
}

CrossedSquares complete_squares(double rows, double columns, double rest, std::size_t num_rows,
                                std::size_t num_columns) {
  const auto n = static_cast<double>(num_rows * num_columns);
  CrossedSquares squares{.rows = rows,
                         .columns = columns,
                         .rest = rest,
                         .rows_alone = rows,
                         .columns_alone = columns,
                         .cells_alone = rows,
                         .row_degrees = static_cast<double>(num_rows) - 1,
                         .column_degrees = static_cast<double>(num_columns) - 1,
                         .row_spread = 1 / static_cast<double>(num_rows),
                         .column_spread = 1 / static_cast<double>(num_columns),
                         .num_rows = num_rows,
                         .num_columns = num_columns,
                         .num_cells = num_rows * num_columns};
  squares.rest_degrees = squares.row_degrees * squares.column_degrees;
  if (num_columns > 1) {
    squares.cells_alone =
        (rows * squares.row_degrees + columns * squares.column_degrees + rest * squares.rest_degrees) / (n - 1);
    squares.row_ratio = rows > 0 ? rows / rest : 0;
    squares.column_ratio = columns > 0 ? columns / rest : 0;
  }
  return squares;
}

CrossedSquares expected_squares(const CrossedVariances& variances, std::size_t num_rows, std::size_t num_columns) {
  const double rest = variances.rest / static_cast<double>(num_rows * num_columns);
  return complete_squares(variances.rows / static_cast<double>(num_rows) + rest,
                          variances.columns / static_cast<double>(num_columns) + rest, rest, num_rows, num_columns);
}

MeanError error_of_group_means(std::span<const std::vector<double>> groups) {
  std::vector<double> variances;
  std::vector<double> degrees;
  double largest = 0;
  for (const auto& group : groups) {
    if (group.size() < 2) {
      return {0, nan};
    }
    const auto n = static_cast<double>(group.size());
    variances.push_back(std::pow(standard_deviation(group).value, 2) / n);
    degrees.push_back(n - 1);
    largest = std::max(largest, largest_magnitude(group));
  }
  const double variance = std::accumulate(variances.begin(), variances.end(), 0.0);
  return {variance, std::sqrt(variance) > 1e-12 * largest ? fewest_degrees(variances, degrees) : nan};
}

MeanTest test_mean(double mean, const MeanError& error, double confidence) {
  if (!(error.variance > 0) || !(error.degrees > 0) || !std::isfinite(error.variance) || !std::isfinite(mean)) {
    return {};
  }
  const double deviation = std::sqrt(error.variance);
  const double half = deviation * student_quantile((1 + confidence) / 2, error.degrees);
  return {two_sided_student(mean * mean / error.variance, error.degrees), mean - half, mean + half};
}

PairedTest paired_t_test(std::span<const double> left, std::span<const double> right) {
  STEREOSWEEP_ASSERT(left.size() == right.size(), "the values are pairs");
  PairedTest result;
  result.n = left.size();
  if (left.empty()) {
    return result;
  }
  std::vector<double> differences(left.size());
  std::ranges::transform(left, right, differences.begin(), std::minus());
  if (!all_finite(differences)) {
    result.reason = Reason::not_finite;
    return result;
  }
  result.difference = mean(differences).value;
  const double deviation = standard_deviation(differences).value;
  if (differences.size() < 2) {
    result.reason = Reason::too_few;
    return result;
  }
  const double largest = std::max(largest_magnitude(left), largest_magnitude(right));
  if (!(deviation > 1e-12 * largest)) {  // else the rounding of equal differences had a t of 1e16
    result.reason = Reason::constant;
    return result;
  }
  const auto degrees = static_cast<double>(differences.size() - 1);
  result.t = result.difference / (deviation / std::sqrt(static_cast<double>(differences.size())));
  result.p = two_sided_student(result.t * result.t, degrees);
  result.reason = Reason::ok;
  return result;
}

VarianceComponent variance_component(std::span<const CountedSquare> squares, double confidence) {
  if (squares.empty()) {
    return {};
  }
  VarianceComponent component{0, 0, 0};
  for (const auto& square : squares) {
    component.value += square.coefficient * square.value;
  }
  const double outside = (1 - confidence) / 2;
  component.low = component.value - std::sqrt(squared_distance(squares, outside, 1));
  component.high = component.value + std::sqrt(squared_distance(squares, outside, -1));
  return component;
}

}  // namespace stereosweep::stats
