// How often the 95 % intervals of rates and of ratings hold the truth: bench_rates [SETS [SEED]]
// Simulated tables of templates x rephrasings: answers of 0 or 1 by a chance that each template draws (beta; `alike`:
// how much answers to one template agree, the correlation within it), and ratings 1 to 5 that are rounded normals with
// effects of templates. One line a design.
// Exit status 1 where a coverage is surely below 90 %, or an interval leaves its scale.
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "stats/CrossedTable.hpp"
#include "stats/RateInterval.hpp"
#include "stats/Summary.hpp"

namespace {

using namespace stereosweep;

constexpr double least_coverage = 0.9;
constexpr double sure = 1e-8;

struct Design {
  std::size_t templates = 10;
  std::size_t rephrasings = 1;
  double truth = 0.5;  ///< rate
  double alike = 0;    ///< 0 to 1
};

double drawn_chance(const Design& design, std::mt19937_64& random) {
  if (design.alike == 0) {
    return design.truth;
  }
  const double both = 1 / design.alike - 1;
  std::gamma_distribution<double> first(design.truth * both);
  std::gamma_distribution<double> second((1 - design.truth) * both);
  const double left = first(random);
  return left / (left + second(random));
}

std::vector<double> drawn_answers(const Design& design, std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit;
  std::vector<double> cells;
  for (std::size_t t = 0; t < design.templates; ++t) {
    const double chance = drawn_chance(design, random);
    for (std::size_t r = 0; r < design.rephrasings; ++r) {
      cells.push_back(unit(random) < chance ? 1 : 0);
    }
  }
  return cells;
}

constexpr stats::ScaleEnds rating_ends{1, 5};

std::vector<double> drawn_ratings(const Design& design, double centre, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> cells;
  for (std::size_t t = 0; t < design.templates; ++t) {
    const double own = centre + 0.7 * normal(random);
    for (std::size_t r = 0; r < design.rephrasings; ++r) {
      cells.push_back(std::clamp(std::round(own + 0.7 * normal(random)), rating_ends.lowest, rating_ends.highest));
    }
  }
  return cells;
}

struct Held {
  int held = 0;
  int none = 0;
  bool leaves = false;

  void count(const std::vector<double>& cells, const Design& design, const stats::ScaleEnds& ends, double truth) {
    const auto squares = stats::crossed_squares(cells, design.rephrasings);
    const auto interval = stats::test_cells(squares, stats::mean(cells).value, ends, 0.95);
    none += std::isnan(interval.low) ? 1 : 0;
    held += interval.low <= truth && truth <= interval.high ? 1 : 0;
    leaves = leaves || interval.low < ends.lowest || interval.high > ends.highest;
  }
};

bool print_line(const char* name, const Design& design, double truth, const Held& held, int sets) {
  std::printf("%s %4zu x %zu  truth %5.3f  alike %.1f  held %5.1f %%  none %d%s\n", name, design.templates,
              design.rephrasings, truth, design.alike, 100.0 * held.held / sets, held.none,
              held.leaves ? "  LEAVES ITS SCALE" : "");
  return held.leaves || cdf(boost::math::binomial(sets, least_coverage), held.held) < sure;
}

}  // namespace

int main(int argc, char** argv) {
  const int sets = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  bool fails = false;
  for (const double truth : {0.5, 0.9, 0.95, 0.99}) {
    for (const std::size_t templates : {10U, 20U, 40U}) {
      for (const auto& [rephrasings, alike] : {std::pair<std::size_t, double>{1, 0}, {5, 0}, {5, 0.3}}) {
        const Design design{templates, rephrasings, truth, alike};
        Held held;
        for (int set = 0; set < sets; ++set) {
          held.count(drawn_answers(design, random), design, {0, 1}, truth);
        }
        fails = print_line("rate   ", design, truth, held, sets) || fails;
      }
    }
  }
  for (const double centre : {3.0, 4.5}) {
    constexpr int for_truth = 400;
    Design many{1000, 5};
    double truth = 0;
    for (int set = 0; set < for_truth; ++set) {
      truth += stats::mean(drawn_ratings(many, centre, random)).value / for_truth;
    }
    for (const std::size_t templates : {3U, 5U, 10U, 20U, 40U}) {
      for (const std::size_t rephrasings : {1U, 5U}) {
        const Design design{templates, rephrasings, truth, 0};
        Held held;
        for (int set = 0; set < sets; ++set) {
          held.count(drawn_ratings(design, centre, random), design, rating_ends, truth);
        }
        fails = print_line("rating ", design, truth, held, sets) || fails;
      }
    }
  }
  return fails ? 1 : 0;
}
