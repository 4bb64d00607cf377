#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/Lists.hpp"
#include "findings/people/People.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t replicates_together = 256;  // whose means are held; a power of two

bool is_drawn(const SampledCells& side) {
  return std::ranges::any_of(side.tables.front().lines, [](const auto& lines) { return lines.stream.has_value(); });
}

std::set<std::size_t> tables_of(const SampledCells& side, const CellList& list) {
  std::set<std::size_t> places;
  std::ranges::for_each(list, [&](std::size_t cell) { places.insert(cell / side.cells_of_each); });
  return places;
}

/// What a bootstrap draws around, by cells.
struct DrawnCells {
  std::vector<double> means;
  /// Variance of each mean over other draws of as many; 0: nothing to draw.
  std::vector<double> noise = {};
  /// sqrt(n / (n - 1)) of n to draw from: by so much a replicate varies too little.
  std::vector<double> expansion = {};
};

DrawnCells drawn_cells(const SampledCells& side, std::vector<double> means) {
  DrawnCells cells{std::move(means)};
  for (const auto& [lines, values] : side.tables) {
    auto smallest = std::numeric_limits<double>::infinity();
    for (const auto& [count, stream] : lines) {
      smallest = stream && count > 1 ? std::min(smallest, static_cast<double>(count)) : smallest;
    }
    for (std::size_t cell = 0; cell < side.cells_of_each; ++cell) {
      const auto squares = stats::crossed_squares(stats::column_of(values, cell, side.cells_of_each), lines[1].count);
      // where cells are missing an estimate may be below 0
      const double rows = lines[0].stream ? std::max(squares.rows, 0.0) : 0;
      const double columns = lines[1].stream ? std::max(squares.columns, 0.0) : 0;
      cells.noise.push_back(rows > 0 && columns > 0 ? std::max(squares.rest, rows + columns - squares.rest)
                                                    : rows + columns);
      cells.expansion.push_back(std::isinf(smallest) ? 1 : std::sqrt(smallest / (smallest - 1)));
    }
  }
  return cells;
}

/// One side under some draws.
struct Drawn {
  std::vector<double> means;  ///< [replicate, cell], or [cell] where nothing is drawn
  /// [rows, columns][table]: ClusterBootstrap::noise_levels; no tables where the lines are not drawn.
  std::array<std::vector<std::vector<double>>, 2> levels = {};
};

/// Replicates `first` to `first + count`; `first` is a multiple of a power of two that is at least `count`.
Drawn draw(const SampledCells& side, std::size_t first, std::size_t count, std::uint64_t seed) {
  const auto num_cells = side.cells_of_each;
  Drawn drawn{std::vector<double>(count * side.tables.size() * num_cells)};
  for (std::size_t place = 0; place < side.tables.size(); ++place) {
    const auto& [lines, values] = side.tables[place];
    const auto draws = base::mapped(lines, [&](const SampledLines& own) {
      return own.stream ? stats::ClusterBootstrap(own.count, count, seed, *own.stream ^ first)
                        : stats::ClusterBootstrap(own.count, count);
    });
    const auto means = stats::crossed_means(values, draws[0], draws[1], num_cells);
    for (std::size_t replicate = 0; replicate < count; ++replicate) {
      std::copy_n(
          means.begin() + static_cast<std::ptrdiff_t>(replicate * num_cells), num_cells,
          drawn.means.begin() + static_cast<std::ptrdiff_t>((replicate * side.tables.size() + place) * num_cells));
    }
    for (std::size_t axis = 0; axis < lines.size(); ++axis) {
      if (lines[axis].stream) {
        drawn.levels[axis].push_back(draws[axis].noise_levels());
      }
    }
  }
  return drawn;
}

/// A list's cells of one side: what becomes of a draw of them.
class DrawnSide {
 public:
  DrawnSide(const CellList& list, const DrawnCells& cells) : list_(list), values_(list.size()) {
    std::vector<double> means;
    double noise = 0;
    for (const auto cell : list) {
      if (!std::isnan(cells.means[cell])) {
        means.push_back(cells.means[cell]);
        noise += cells.noise[cell];
      }
    }
    const auto n = static_cast<double>(means.size());
    const double deviation = stats::standard_deviation(means).value;  // NaN: fewer than two
    const double own = 1 - noise / n / (deviation * deviation);
    const double shrinkage = std::isnan(own) ? 1 : std::sqrt(std::max(own, least_own));
    const double unit = deviation > 0 ? deviation * smallest_difference : 1;
    for (const auto cell : list) {
      factors_.push_back(cells.expansion[cell] / unit);
      shifts_.push_back((shrinkage - cells.expansion[cell]) / unit * cells.means[cell]);
    }
  }

  /// Of a replicate's table; up to a constant and a factor that all cells share. Rounded, so that what differs by the
  /// rounding of sums is a tie.
  std::span<const double> matched(std::span<const double> table) {
    for (std::size_t place = 0; place < list_.size(); ++place) {
      values_[place] = std::nearbyint(factors_[place] * table[list_[place]] + shifts_[place]);
    }
    return values_;
  }

 private:
  static constexpr double smallest_difference = 0x1p-40;  ///< in standard deviations of the means
  static constexpr double least_own = 1e-3;  ///< of their variance: a draw without noise then has an order, too

  const CellList& list_;
  std::vector<double> factors_;
  std::vector<double> shifts_;
  std::vector<double> values_;
};

/// [rows, columns that are drawn][replicate]: levels of these tables, added up.
std::vector<std::vector<double>> levels_of(const Drawn& drawn, const std::set<std::size_t>& tables) {
  std::vector<std::vector<double>> sums;
  for (const auto& levels : drawn.levels) {
    if (!levels.empty()) {
      auto& sum = sums.emplace_back(levels.front().size(), 0);
      for (const auto table : tables) {
        std::ranges::transform(sum, levels[table], sum.begin(), std::plus());
      }
    }
  }
  return sums;
}

double product_of(std::span<const double> left, std::span<const double> right) {
  return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

/// Takes what follows the levels linearly out of `taus`; their mean stays.
void take_out(std::span<const std::vector<double>> levels, std::vector<double>& taus) {
  const auto finite = base::places_where(taus.size(), [&](auto replicate) { return std::isfinite(taus[replicate]); });
  auto rest = base::mapped(finite, [&](std::size_t replicate) { return taus[replicate]; });
  std::vector<std::vector<double>> taken;  // centred, at right angles to each other
  for (const auto& level : levels) {
    auto own = base::mapped(finite, [&](std::size_t replicate) { return level[replicate]; });
    const double mean =
        own.empty() ? 0 : std::accumulate(own.begin(), own.end(), 0.0) / static_cast<double>(own.size());
    std::ranges::for_each(own, [&](double& one) { one -= mean; });
    const double before = product_of(own, own);
    for (const auto& other : taken) {
      const double factor = product_of(own, other) / product_of(other, other);
      std::ranges::transform(own, other, own.begin(), [&](double one, double less) { return one - factor * less; });
    }
    const double square = product_of(own, own);
    if (square > 1e-9 * before) {
      const double slope = product_of(own, rest) / square;
      std::ranges::transform(rest, own, rest.begin(), [&](double one, double less) { return one - slope * less; });
      taken.push_back(std::move(own));
    }
  }
  for (std::size_t place = 0; place < finite.size(); ++place) {
    taus[finite[place]] = rest[place];
  }
}

}  // namespace

std::vector<double> means_of_columns(std::span<const double> table, std::size_t num_columns) {
  std::vector<double> means;
  for (std::size_t column = 0; column < num_columns; ++column) {
    means.push_back(stats::mean(stats::finite(stats::column_of(table, column, num_columns))).value);
  }
  return means;
}

std::vector<double> SampledCells::means() const {
  auto means =
      base::joined(tables, [&](const SampledTable& table) { return means_of_columns(table.values, cells_of_each); });
  for (double& mean : means) {
    mean = scale ? 100 * (mean - scale->lowest) / (scale->highest - scale->lowest) : mean;
  }
  return means;
}

std::vector<double> SampledCells::means_on_own_scale() const {
  auto own = means();
  for (double& mean : own) {
    mean = scale ? scale->lowest + mean * (scale->highest - scale->lowest) / 100 : mean;
  }
  return own;
}

SampledCells cells_of_answers(std::span<const Rating> answers, std::size_t num_subjects, std::size_t num_items,
                              const stats::ScaleEnds& scale, std::optional<std::uint64_t> stream) {
  std::vector<std::map<std::string, std::size_t>> rows(num_subjects);  // of each subject: annotator -> row
  for (const auto& answer : answers) {
    rows[*answer.subject].emplace(answer.annotator, 0);
  }
  SampledCells cells{num_items, {}, scale};
  for (std::size_t subject = 0; subject < num_subjects; ++subject) {
    std::size_t count = 0;
    for (auto& [annotator, row] : rows[subject]) {
      row = count++;
    }
    const auto own = stream ? std::optional(*stream + (std::uint64_t{subject} << 20U)) : std::nullopt;
    cells.tables.push_back(
        {{SampledLines{count, own}, SampledLines()}, std::vector<double>(count * num_items, stats::nan)});
  }
  for (const auto& answer : answers) {
    const auto row = rows[*answer.subject].at(answer.annotator);
    cells.tables[*answer.subject].values[row * num_items + *answer.item] = answer.mean;
  }
  return cells;
}

std::vector<std::vector<double>> bootstrap_tau(const SampledCells& scores, const SampledCells& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const Workers& ranks) {
  const std::array sides = {&scores, &answers};
  const std::array means = {scores.means(), is_drawn(answers) ? answers.means_on_own_scale() : answers.means()};
  const std::array cells = {drawn_cells(scores, means[0]), drawn_cells(answers, means[1])};
  const auto num_cells = means[0].size();
  const auto compute = [&](std::size_t unit) {
    const auto first = unit * replicates_together;
    const auto count = std::min(replicates_together, settings.replicates - first);
    std::array<Drawn, 2> drawn;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      drawn[side] = is_drawn(*sides[side]) ? draw(*sides[side], first, count, settings.seed) : Drawn{means[side]};
    }
    const auto of = [&](const Drawn& one, std::size_t replicate) {
      return std::span(one.means).subspan(one.means.size() == num_cells ? 0 : replicate * num_cells, num_cells);
    };
    std::vector<std::vector<double>> found(lists.size(), std::vector<double>(count, stats::nan));
    const auto num_threads = std::max(1U, settings.num_threads);
    stats::on_threads(num_threads, [&](unsigned thread) {
      for (std::size_t list = 0; list < lists.size(); ++list) {
        DrawnSide own_scores(lists[list], cells[0]);
        DrawnSide own_ratings(lists[list], cells[1]);
        stats::TauCounter counter(lists[list].size());
        for (std::size_t replicate = thread; replicate < count; replicate += num_threads) {
          if (replicate == thread || is_drawn(scores)) {
            counter.set_left(own_scores.matched(of(drawn[0], replicate)));
          }
          found[list][replicate] = counter.tau_b(own_ratings.matched(of(drawn[1], replicate)));
        }
      }
    });
    for (const auto& list : lists) {
      for (std::size_t side = 0; side < sides.size(); ++side) {
        std::ranges::move(levels_of(drawn[side], tables_of(*sides[side], list)), std::back_inserter(found));
      }
    }
    return found;
  };
  std::vector<std::vector<double>> found(lists.size());  // taus of each list, then levels of what is drawn of each
  const auto num_units = (settings.replicates + replicates_together - 1) / replicates_together;
  for (const auto& unit : share<std::vector<double>>(ranks, num_units, compute)) {
    found.resize(unit.size());
    for (std::size_t part = 0; part < found.size(); ++part) {
      found[part].insert(found[part].end(), unit[part].begin(), unit[part].end());
    }
  }
  const auto num_levels = found.size() / lists.size() - 1;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    take_out(std::span(found).subspan(lists.size() + list * num_levels, num_levels), found[list]);
  }
  found.resize(lists.size());
  return found;
}

double drawn_degrees(const SampledCells& scores, const SampledCells& answers, const CellList& list) {
  auto degrees = std::numeric_limits<double>::infinity();
  for (const auto* side : {&scores, &answers}) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      double known = 0;
      for (const auto place : tables_of(*side, list)) {
        const auto& lines = side->tables[place].lines[axis];
        known += lines.stream && lines.count > 1 ? static_cast<double>(lines.count) - 1 : 0;
      }
      degrees = known > 0 ? std::min(degrees, known) : degrees;
    }
  }
  return degrees;
}

stats::Interval tau_interval(std::span<const double> replicates, double tau, double degrees, double confidence) {
  const auto finite = stats::finite(replicates);
  if (!finite.empty() && std::ranges::max(finite) - std::ranges::min(finite) < 1e-12) {
    return {stats::nan, stats::nan, stats::Reason::constant};
  }
  auto interval = stats::percentile_interval({replicates.begin(), replicates.end()}, confidence);
  if (interval.reason == stats::Reason::ok) {
    const double upper = (1 + confidence) / 2;
    const double widening =
        std::isinf(degrees) ? 1 : stats::student_quantile(upper, degrees) / stats::normal_quantile(upper);
    const double mean = stats::mean(finite).value;
    interval.low = std::clamp(tau + widening * (interval.low - mean), -1.0, 1.0);
    interval.high = std::clamp(tau + widening * (interval.high - mean), -1.0, 1.0);
  }
  return interval;
}

}  // namespace stereosweep::findings
