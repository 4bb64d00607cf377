// False alarms of the p of a correlation and coverage of its interval (nominal 5 % and 95 %):
// bench_shuffled_correlation [TABLES [DRAWS]]. Two lists of a true Pearson correlation r, drawn as the line says:
// normal; both times one scale that the two values of a subject share (lognormal; 1 or 4; of Student's t with 3 degrees
// of freedom); or exponentials of normal lists. One line a design and number of subjects; for Spearman, Pearson and
// Kendall in %: p <= 0.05 by the studentised statistic, by the plain correlation, and how often the interval held the
// truth (found with 1,000,000 subjects), of the tables that have one.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "stats/permutation/Relabelling.hpp"
#include "stats/permutation/ShuffledCorrelation.hpp"

namespace {

using namespace stereosweep;
using Random = std::mt19937_64;
using Lists = std::pair<std::vector<double>, std::vector<double>>;
enum class Shape { normal, lognormal_scale, two_scales, student, lognormal };
constexpr std::array shape_names = {"normal", "lognormal scale", "two scales", "Student t 3", "lognormal"};
constexpr std::array kinds = {stats::CorrelationKind::spearman, stats::CorrelationKind::pearson,
                              stats::CorrelationKind::kendall};

Lists draw(Shape shape, double r, std::size_t size, Random& random) {
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi_square(3);
  Lists lists;
  for (std::size_t place = 0; place < size; ++place) {
    double left = normal(random);
    double right = r * left + std::sqrt(1 - r * r) * normal(random);
    const double scale = shape == Shape::lognormal_scale ? std::exp(normal(random))
                         : shape == Shape::two_scales    ? (random() % 5 == 0 ? 4.0 : 1.0)
                         : shape == Shape::student       ? 1 / std::sqrt(chi_square(random) / 3)
                                                         : 1.0;
    left *= scale;
    right *= scale;
    lists.first.push_back(shape == Shape::lognormal ? std::exp(left) : left);
    lists.second.push_back(shape == Shape::lognormal ? std::exp(right) : right);
  }
  return lists;
}

/// Share of draws whose plain correlation is as far from 0.
double plain_p(const Lists& lists, stats::CorrelationKind kind, std::size_t num_draws, std::uint64_t seed) {
  const double observed = std::abs(stats::correlate(lists.first, lists.second, kind).value);
  std::vector<std::size_t> order(lists.first.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t reached = 0;
  std::vector<double> moved(order.size());
  for (std::size_t draw = 0; draw < num_draws; ++draw) {
    stats::shuffle(order, seed, draw);
    for (std::size_t place = 0; place < order.size(); ++place) {
      moved[place] = lists.second[order[place]];
    }
    reached += std::abs(stats::correlate(lists.first, moved, kind).value) >= observed - 1e-12 ? 1 : 0;
  }
  return static_cast<double>(reached + 1) / static_cast<double>(num_draws + 1);
}

void measure(Shape shape, double r, std::size_t size, std::size_t num_tables, std::size_t num_draws) {
  Random random(size);
  std::array<double, kinds.size()> truths{};
  const auto many = draw(shape, r, 1'000'000, random);
  std::array<std::size_t, kinds.size()> alarms{};
  std::array<std::size_t, kinds.size()> plain{};
  std::array<std::size_t, kinds.size()> held{};
  std::array<std::size_t, kinds.size()> intervals{};
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    truths[kind] = shape == Shape::lognormal_scale && kinds[kind] == stats::CorrelationKind::pearson
                       ? r
                       : stats::correlate(many.first, many.second, kinds[kind]).value;
  }
  for (std::size_t table = 0; table < num_tables; ++table) {
    const auto lists = draw(shape, r, size, random);
    const auto found =
        stats::shuffled_correlation_p(lists.first, lists.second, kinds, {.seed = table, .draws = num_draws});
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      alarms[kind] += found[kind].p <= 0.05 ? 1 : 0;
      plain[kind] += plain_p(lists, kinds[kind], num_draws, table) <= 0.05 ? 1 : 0;
      const auto& interval = found[kind].interval;
      intervals[kind] += interval.reason == stats::Reason::ok ? 1 : 0;
      held[kind] += interval.low <= truths[kind] && truths[kind] <= interval.high ? 1 : 0;
    }
  }
  std::printf("%-16s %4.1f %4zu", shape_names.at(static_cast<std::size_t>(shape)), r, size);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto share = [](std::size_t part, std::size_t all) {
      return 100.0 * static_cast<double>(part) / static_cast<double>(all);
    };
    std::printf("   %5.1f %5.1f %5.1f", share(alarms[kind], num_tables), share(plain[kind], num_tables),
                share(held[kind], intervals[kind]));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t num_tables = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
  const std::size_t num_draws = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 999;
  std::printf(
      "%zu tables, %zu draws; p <= 0.05, plain p <= 0.05, interval held (%%)\n%-16s %4s %4s   %-19s%-19s%-19s\n",
      num_tables, num_draws, "lists", "r", "n", "   spearman", "   pearson", "   kendall");
  for (const double r : {0.0, 0.5, 0.9}) {
    for (const auto shape :
         {Shape::normal, Shape::lognormal_scale, Shape::two_scales, Shape::student, Shape::lognormal}) {
      for (const std::size_t size : {7, 10, 20, 50}) {
        measure(shape, r, size, num_tables, num_draws);
      }
    }
  }
  return 0;
}
