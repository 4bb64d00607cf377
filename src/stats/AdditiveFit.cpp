#include "stats/AdditiveFit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/Lists.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::stats {
namespace {

template <class Use>
void each_score(std::size_t num_units, const UnitScores& scores_of, const Use& use) {
  for (std::size_t unit = 0; unit < num_units; ++unit) {
    const auto scores = scores_of(unit);
    for (std::size_t cell = 0; cell < scores.size(); ++cell) {
      if (!std::isnan(scores[cell])) {
        use(unit, cell, scores[cell]);
      }
    }
  }
}

/// Of the cells of one unit in one row.
struct RowOfUnit {
  double count = 0;
  double shared = 0;  ///< share of the other units in them, added up
  double weight = 0;  ///< in the estimate
};

}  // namespace

std::vector<std::size_t> joined_units(std::size_t num_units, std::size_t num_cells, const UnitScores& scores_of) {
  auto first = base::places_below(num_units);
  std::vector<std::size_t> in(num_cells, num_units);
  for (bool changed = true; std::exchange(changed, false);) {
    each_score(num_units, scores_of, [&](std::size_t unit, std::size_t cell, double) {
      const auto least = std::min(first[unit], in[cell]);
      changed = changed || first[unit] != least || in[cell] != least;
      first[unit] = in[cell] = least;
    });
  }
  return first;
}

template <class Read>
std::vector<double> AdditiveFit::in_cell(const Read& read) const {
  std::vector<double> sums(in_cells.size(), 0);
  each_score(counts_.size(), scores_of_,
             [&](std::size_t unit, std::size_t cell, double score) { sums[cell] += read(unit, score); });
  return sums;
}

AdditiveFit::AdditiveFit(std::size_t num_units, std::size_t num_cells, UnitScores scores_of)
    : in_cells(num_cells, 0), scores_of_(std::move(scores_of)), counts_(num_units, 0) {
  double sum = 0;
  double count = 0;
  each_score(num_units, scores_of_, [&](std::size_t unit, std::size_t cell, double score) {
    counts_[unit] += 1;
    in_cells[cell] += 1;
    sum += score;
    count += 1;
    largest = std::max(largest, std::abs(score));
  });
  const double centre = sum / count;  // what all scores have in common would only cost digits
  auto means = in_cell([&](std::size_t, double score) { return score - centre; });
  std::vector<double> right(num_units, 0);
  each_score(num_units, scores_of_, [&](std::size_t unit, std::size_t cell, double score) {
    right[unit] += score - centre - means[cell] / in_cells[cell];
  });
  unit_effects = solve(std::move(right), largest);
  cell_effects = in_cell([&](std::size_t unit, double score) { return score - unit_effects[unit]; });
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    cell_effects[cell] /= in_cells[cell];
  }
}

Influences AdditiveFit::influences(const std::vector<double>& parts, const std::vector<std::size_t>& rows) const {
  constexpr double fewest_rows = 1.1;  // from which the effect of a unit and its variance can be told
  const double all_parts = std::accumulate(parts.begin(), parts.end(), 0.0);
  const auto n = static_cast<double>(in_cells.size());
  const auto num_units = counts_.size();
  auto right = parts;
  each_score(num_units, scores_of_,
             [&](std::size_t unit, std::size_t cell, double) { right[unit] -= all_parts / n / in_cells[cell]; });
  const auto multipliers = solve(std::move(right), largest_magnitude(parts));
  auto of_cells = in_cell([&](std::size_t unit, double) { return -multipliers[unit]; });
  Influences influences;
  for (std::size_t cell = 0; cell < in_cells.size(); ++cell) {
    of_cells[cell] = (of_cells[cell] + all_parts / n) / in_cells[cell];
    influences.of_cells.push_back(all_parts * cell_effects[cell]);
  }
  const auto length = std::ranges::max(rows) + 1;
  std::vector<RowOfUnit> of_rows(num_units * length);
  each_score(num_units, scores_of_, [&](std::size_t unit, std::size_t cell, double) {
    auto& row = of_rows[unit * length + rows[cell]];
    row.count += 1;
    row.shared += 1 - 1 / in_cells[cell];
    row.weight += multipliers[unit] + of_cells[cell];
  });
  std::vector<double> lost(num_units, 0);
  std::vector<double> squares(length, 0);
  for (std::size_t place = 0; place < of_rows.size(); ++place) {
    lost[place / length] += of_rows[place].count > 0 ? of_rows[place].shared / of_rows[place].count : 0;
    squares[place % length] += of_rows[place].weight * of_rows[place].weight;
  }
  const double sum = std::accumulate(squares.begin(), squares.end(), 0.0);
  influences.row_degrees = sum * sum / std::inner_product(squares.begin(), squares.end(), squares.begin(), 0.0) - 1;
  const auto num_rows = static_cast<double>(std::set(rows.begin(), rows.end()).size());
  for (auto& one : lost) {  // cells that others lack say nothing of a unit's effect
    const double shared =
        std::fmax(one * static_cast<double>(num_units) / static_cast<double>(num_units - 1), fewest_rows);
    one = std::sqrt(shared / (shared - 1) * (num_rows - 1) / num_rows);
  }
  each_score(num_units, scores_of_, [&](std::size_t unit, std::size_t cell, double score) {
    influences.of_cells[cell] += n * (multipliers[unit] + of_cells[cell]) * rest(unit, cell, score) * lost[unit];
  });
  return influences;
}

/// The normal equations with the cells eliminated, by conjugate gradients (Hestenes and Stiefel 1952, Journal of
/// Research of the National Bureau of Standards 49). They leave a constant open, which no caller sees. `most`: of the
/// numbers that `rest` is a sum of, whose rounding is not fitted.
std::vector<double> AdditiveFit::solve(std::vector<double> rest, double most) const {
  constexpr double small = 1e-31;
  const double total = std::accumulate(rest.begin(), rest.end(), 0.0);  // 0 but for rounding, as the equations want
  const double all_counts = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  std::vector<std::size_t> units;
  for (std::size_t unit = 0; unit < counts_.size(); ++unit) {
    if (counts_[unit] > 0) {
      units.push_back(unit);
      rest[unit] -= total * counts_[unit] / all_counts;
    }
  }
  std::vector<double> solution(counts_.size(), 0);
  std::vector<double> direction(counts_.size(), 0);
  const auto product = [&](const std::vector<double>& left, const std::vector<double>& right) {
    double sum = 0;
    for (const auto unit : units) {
      sum += left[unit] * right[unit] / counts_[unit];
    }
    return sum;
  };
  double size = product(rest, rest);
  const double wanted =
      std::max(size * small, std::pow(4 * std::numeric_limits<double>::epsilon() * most, 2) * all_counts);
  double last = 0;
  for (std::size_t round = 0; size > wanted && round < 4 * counts_.size() + 20; ++round) {
    for (const auto unit : units) {
      direction[unit] = rest[unit] / counts_[unit] + (last > 0 ? size / last : 0) * direction[unit];
    }
    const auto sums = in_cell([&](std::size_t unit, double) { return direction[unit]; });
    std::vector<double> image(counts_.size(), 0);
    each_score(counts_.size(), scores_of_, [&](std::size_t unit, std::size_t cell, double) {
      image[unit] += direction[unit] - sums[cell] / in_cells[cell];
    });
    double curvature = 0;
    for (const auto unit : units) {
      curvature += direction[unit] * image[unit];
    }
    if (!(curvature > 0)) {
      break;
    }
    for (const auto unit : units) {
      solution[unit] += size / curvature * direction[unit];
      rest[unit] -= size / curvature * image[unit];
    }
    last = size;
    size = product(rest, rest);
  }
  return solution;
}

}  // namespace stereosweep::stats
