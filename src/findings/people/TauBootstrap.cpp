#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/Lists.hpp"
#include "findings/Scores.hpp"
#include "findings/Streams.hpp"
#include "findings/people/People.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/TauCounter.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t replicates_together = 256;  // whose means are held; a power of two

/// Scores and ratings of some replicates, each [replicate, cell], or [cell] where nothing is drawn of a side.
struct DrawnTables {
  std::vector<double> scores;
  std::vector<double> ratings;
  std::vector<double> levels;  ///< [subject, replicate], of drawn annotators
};

DrawnTables draw(const ScoreCells& scores, const AnswerTable& answers, const BootstrapSettings& settings,
                 const Replicates& which) {
  DrawnTables drawn;
  if (settings.draws_templates || settings.draws_rephrasings) {
    const auto [first, count, seed] = which;
    using Draws = stats::ClusterBootstrap;
    const auto template_draws = settings.draws_templates
                                    ? Draws(scores.num_templates, count, seed, start_of(Stream::templates) ^ first)
                                    : Draws(scores.num_templates, count);
    const auto rephrasing_draws =
        settings.draws_rephrasings ? Draws(scores.num_rephrasings, count, seed, start_of(Stream::rephrasings) ^ first)
                                   : Draws(scores.num_rephrasings, count);
    drawn.scores = stats::crossed_means(scores.values, template_draws, rephrasing_draws, scores.num_cells());
  } else {
    drawn.scores = scores.means();
  }
  if (settings.draws_annotators) {
    auto own = answers.drawn(which);
    drawn.ratings = std::move(own.means);
    drawn.levels = std::move(own.levels);
  } else {
    drawn.ratings = answers.means();
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

/// One list of cells.
class ListTau {
 public:
  ListTau(const CellList& list, const DrawnCells& scores, const DrawnCells& ratings)
      : scores_(list, scores), ratings_(list, ratings), counter_(list.size()) {}
  void set_scores(std::span<const double> table) { counter_.set_left(scores_.matched(table)); }
  double with_ratings(std::span<const double> table) { return counter_.tau_b(ratings_.matched(table)); }

 private:
  DrawnSide scores_;
  DrawnSide ratings_;
  stats::TauCounter counter_;
};

/// Means that nobody draws.
DrawnCells fixed_cells(std::vector<double> means) {
  const auto count = means.size();
  return {std::move(means), std::vector<double>(count, 0), std::vector<double>(count, 1)};
}

std::set<std::size_t> subjects_of(const CellList& list, const AnswerTable& answers) {
  std::set<std::size_t> subjects;
  std::ranges::transform(list, std::inserter(subjects, subjects.end()),
                         [&](std::size_t cell) { return cell / answers.num_items(); });
  return subjects;
}

/// [replicate]: levels of the annotators of these subjects; 0 where none are drawn.
std::vector<double> sums_of_levels(const DrawnTables& drawn, const std::set<std::size_t>& subjects, std::size_t count) {
  std::vector<double> sums(count, 0);
  if (!drawn.levels.empty()) {
    for (const auto subject : subjects) {
      std::ranges::transform(std::span(drawn.levels).subspan(subject * count, count), sums, sums.begin(), std::plus());
    }
  }
  return sums;
}

/// [replicate] of drawn templates and of drawn rephrasings, of those alone that are drawn.
std::vector<std::vector<double>> noise_levels(const ScoreCells& scores, const BootstrapSettings& settings) {
  std::vector<std::vector<double>> levels;
  const auto add = [&](std::size_t count, std::uint64_t stream) {
    const stats::ClusterBootstrap draws(count, settings.replicates, settings.seed, stream);
    auto& own = levels.emplace_back();
    for (std::size_t replicate = 0; replicate < settings.replicates; ++replicate) {
      own.push_back(draws.noise_level(replicate));
    }
  };
  if (settings.draws_templates) {
    add(scores.num_templates, start_of(Stream::templates));
  }
  if (settings.draws_rephrasings) {
    add(scores.num_rephrasings, start_of(Stream::rephrasings));
  }
  return levels;
}

double product_of(std::span<const double> left, std::span<const double> right) {
  return std::inner_product(left.begin(), left.end(), right.begin(), 0.0);
}

/// Takes what follows the levels linearly out of `taus`; their mean stays.
void take_out(const std::vector<std::vector<double>>& levels, std::vector<double>& taus) {
  std::vector<std::size_t> finite;
  for (std::size_t replicate = 0; replicate < taus.size(); ++replicate) {
    if (std::isfinite(taus[replicate])) {
      finite.push_back(replicate);
    }
  }
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

std::vector<double> column_of(std::span<const double> table, std::size_t column, std::size_t num_columns) {
  std::vector<double> cells;
  for (auto place = column; place < table.size(); place += num_columns) {
    cells.push_back(table[place]);
  }
  return cells;
}

std::vector<double> means_of_columns(std::span<const double> table, std::size_t num_columns) {
  std::vector<double> means;
  for (std::size_t column = 0; column < num_columns; ++column) {
    means.push_back(stats::mean(stats::finite(column_of(table, column, num_columns))).value);
  }
  return means;
}

DrawnCells ScoreCells::drawn_cells(const BootstrapSettings& settings) const {
  auto cells = fixed_cells(means());
  auto smallest = std::numeric_limits<double>::infinity();
  for (const auto& [is_drawn, count] :
       {std::pair(settings.draws_templates, num_templates), std::pair(settings.draws_rephrasings, num_rephrasings)}) {
    smallest = is_drawn && count > 1 ? std::min(smallest, static_cast<double>(count)) : smallest;
  }
  if (std::isinf(smallest)) {
    return cells;
  }
  for (std::size_t cell = 0; cell < cells.means.size(); ++cell) {
    const auto squares = stats::crossed_squares(column_of(values, cell, num_cells()), num_rephrasings);
    // where cells are missing an estimate may be below 0
    const double rows = settings.draws_templates ? std::max(squares.rows, 0.0) : 0;
    const double columns = settings.draws_rephrasings ? std::max(squares.columns, 0.0) : 0;
    cells.noise[cell] =
        rows > 0 && columns > 0 ? std::max(squares.rest, rows + columns - squares.rest) : rows + columns;
    cells.expansion[cell] = std::sqrt(smallest / (smallest - 1));
  }
  return cells;
}

std::vector<std::vector<double>> ScoreCells::by_template() const {
  const auto length = num_rephrasings * num_cells();
  std::vector<std::vector<double>> tables;
  for (std::size_t first = 0; first < values.size(); first += length) {
    tables.push_back(means_of_columns(std::span(values).subspan(first, length), num_cells()));
  }
  return tables;
}

std::vector<std::vector<double>> bootstrap_tau(const ScoreCells& scores, const AnswerTable& answers,
                                               std::span<const CellList> lists, const BootstrapSettings& settings,
                                               const Workers& ranks) {
  const auto num_cells = scores.num_cells();
  const auto score_cells = scores.drawn_cells(settings);
  const auto rating_cells = settings.draws_annotators ? answers.drawn_cells() : fixed_cells(answers.means());
  const auto compute = [&](std::size_t unit) {
    const auto first = unit * replicates_together;
    const Replicates which{first, std::min(replicates_together, settings.replicates - first), settings.seed};
    const auto drawn = draw(scores, answers, settings, which);
    const auto of = [&](const std::vector<double>& tables, std::size_t replicate) {
      return std::span(tables).subspan(tables.size() == num_cells ? 0 : replicate * num_cells, num_cells);
    };
    std::vector<double> found(lists.size() * which.count, stats::nan);  // [list, replicate]
    const auto num_threads = std::max(1U, settings.num_threads);
    stats::on_threads(num_threads, [&](unsigned thread) {
      for (std::size_t list = 0; list < lists.size(); ++list) {
        ListTau tau(lists[list], score_cells, rating_cells);
        tau.set_scores(of(drawn.scores, 0));
        for (std::size_t replicate = thread; replicate < which.count; replicate += num_threads) {
          if (drawn.scores.size() != num_cells) {
            tau.set_scores(of(drawn.scores, replicate));
          }
          found[list * which.count + replicate] = tau.with_ratings(of(drawn.ratings, replicate));
        }
      }
    });
    for (const auto& list : lists) {
      const auto levels = sums_of_levels(drawn, subjects_of(list, answers), which.count);
      found.insert(found.end(), levels.begin(), levels.end());
    }
    return found;
  };
  std::vector<std::vector<double>> found(2 * lists.size());  // taus of each list, then levels of its annotators
  const auto num_units = (settings.replicates + replicates_together - 1) / replicates_together;
  for (const auto& unit : share<double>(ranks, num_units, compute)) {
    for (std::size_t part = 0; part < found.size(); ++part) {
      const auto count = unit.size() / found.size();
      const auto own = std::span(unit).subspan(part * count, count);
      found[part].insert(found[part].end(), own.begin(), own.end());
    }
  }
  auto levels = noise_levels(scores, settings);
  levels.emplace_back();
  for (std::size_t list = 0; list < lists.size(); ++list) {
    levels.back() = std::move(found[lists.size() + list]);
    take_out(levels, found[list]);
  }
  found.resize(lists.size());
  return found;
}

double drawn_degrees(const ScoreCells& scores, const AnswerTable& answers, const CellList& list,
                     const BootstrapSettings& settings) {
  auto degrees = std::numeric_limits<double>::infinity();
  const auto count = [&](double known) { degrees = known > 0 ? std::min(degrees, known) : degrees; };
  if (settings.draws_templates) {
    count(static_cast<double>(scores.num_templates) - 1);
  }
  if (settings.draws_rephrasings) {
    count(static_cast<double>(scores.num_rephrasings) - 1);
  }
  if (settings.draws_annotators) {
    double known = 0;
    for (const auto subject : subjects_of(list, answers)) {
      known += std::max(1.0, static_cast<double>(answers.num_annotators(subject))) - 1;
    }
    count(known);
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
