// How often the 95 % intervals of shares of variance hold the share: bench_variance_shares [SETS [SEED]]
// Simulated score tables of 6 subjects x 4 items, which are given, over templates and rephrasings, which are drawn:
// effects of their own, effects on single (subject, item), a rest. The share that has to be held is that of the
// expected sums of squares. One line a kind of table. Exit status 1 where a coverage with 20 templates and several
// rephrasings is surely below 90 %.
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "findings/variance/VarianceShares.hpp"

namespace {

using namespace stereosweep::findings;

constexpr std::size_t num_subjects = 6;
constexpr std::size_t num_items = 4;
constexpr std::size_t num_pairs = num_subjects * num_items;
constexpr std::array<const char*, 6> shown = {"subject", "item", "both", "template", "rephrasing", "rest"};
constexpr double least_coverage = 0.9;
constexpr double sure = 1e-8;

/// Standard deviations.
struct Effects {
  double template_ = 0;
  double rephrasing = 0;
  double pair_in_template = 0;
  double pair_in_rephrasing = 0;
  double rest = 1;
};

struct Kind {
  std::size_t templates = 1;
  std::size_t rephrasings = 1;
  Effects effects;
};

using Normals = std::mt19937_64;

std::vector<double> normals(std::size_t size, double deviation, Normals& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(size);
  std::ranges::generate(values, [&] { return deviation * normal(random); });
  return values;
}

CellTable drawn_table(const Kind& kind, const std::vector<double>& given, Normals& random) {
  const auto& effects = kind.effects;
  const auto by_template = normals(kind.templates, effects.template_, random);
  const auto by_rephrasing = normals(kind.rephrasings, effects.rephrasing, random);
  const auto in_template = normals(num_pairs * kind.templates, effects.pair_in_template, random);
  const auto in_rephrasing = normals(num_pairs * kind.rephrasings, effects.pair_in_rephrasing, random);
  CellTable table{{1, num_subjects, kind.templates, kind.rephrasings, 1, num_items}, {}};
  table.values = normals(num_pairs * kind.templates * kind.rephrasings, effects.rest, random);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    const auto pair = at[1] * num_items + at[5];
    table.values[place] += given[pair] + by_template[at[2]] + by_rephrasing[at[3]] +
                           in_template[pair * kind.templates + at[2]] + in_rephrasing[pair * kind.rephrasings + at[3]];
  });
  return table;
}

/// Shares of the expected sums of squares, in the order of `shown`.
std::vector<double> expected_shares(const Kind& kind, const std::vector<double>& given) {
  const auto templates = static_cast<double>(kind.templates);
  const auto rephrasings = static_cast<double>(kind.rephrasings);
  const auto square = [](double value) { return value * value; };
  const double rest = square(kind.effects.rest);
  const double in_templates = rest + rephrasings * square(kind.effects.pair_in_template);
  const double in_rephrasings = rest + templates * square(kind.effects.pair_in_rephrasing);
  const double of_pairs = in_templates + in_rephrasings - rest;
  const auto own = shares_of(centred({{1, num_subjects, 1, 1, 1, num_items}, given}), RunsCompared::one, 0.95).shares;
  double given_squares = 0;
  const double mean = std::accumulate(given.begin(), given.end(), 0.0) / num_pairs;
  for (const double value : given) {
    given_squares += square(value - mean) * templates * rephrasings;
  }
  std::vector<double> squares = {
      own[0] * given_squares + (num_subjects - 1) * of_pairs, own[1] * given_squares + (num_items - 1) * of_pairs,
      own[2] * given_squares + (num_subjects - 1) * (num_items - 1) * of_pairs,
      (templates - 1) * (in_templates + num_pairs * rephrasings * square(kind.effects.template_)),
      (rephrasings - 1) * (in_rephrasings + num_pairs * templates * square(kind.effects.rephrasing))};
  squares.push_back((num_pairs - 1) * ((templates - 1) * in_templates + (rephrasings - 1) * in_rephrasings) +
                    num_pairs * (templates - 1) * (rephrasings - 1) * rest);
  const double total = std::accumulate(squares.begin(), squares.end(), 0.0);
  std::ranges::for_each(squares, [&](double& value) { value /= total; });
  return squares;
}

}  // namespace

int main(int argc, char** argv) {
  const int sets = argc > 1 ? std::atoi(argv[1]) : 2000;
  Normals random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const auto given = normals(num_pairs, 0.7, random);
  const std::vector<Effects> all_effects = {
      {0.5, 0.3, 0.3, 0.2, 1}, {1, 0.5, 0.2, 0.2, 0.5}, {0.2, 0.1, 0.5, 0.1, 0.5}};
  bool fails = false;
  std::printf("coverage of 95 %% intervals in %%, %d tables a line\n%11s", sets, "");
  for (const auto* name : shown) {
    std::printf("%12s", name);
  }
  for (const auto& [templates, rephrasings] :
       std::vector<std::pair<std::size_t, std::size_t>>{{35, 20}, {20, 20}, {20, 5}, {20, 1}, {8, 5}, {5, 5}, {3, 3}}) {
    for (const auto& effects : all_effects) {
      const Kind kind{templates, rephrasings, effects};
      const auto expected = expected_shares(kind, given);
      std::vector<int> held(shown.size(), 0);
      for (int set = 0; set < sets; ++set) {
        const auto row = shares_of(centred(drawn_table(kind, given, random)), RunsCompared::one, 0.95);
        for (std::size_t source = 0; source < shown.size(); ++source) {
          const auto place = source + 1 == shown.size() ? row.shares.size() - 1 : source;
          held[source] += row.lows[place] <= expected[source] && expected[source] <= row.highs[place] ? 1 : 0;
        }
      }
      std::printf("\n%4zu x %2zu  ", templates, rephrasings);
      for (std::size_t source = 0; source < shown.size(); ++source) {
        const bool has_none = shown[source] == std::string("rephrasing") && rephrasings < 2;
        std::printf("%12s", has_none ? "-" : std::to_string(100.0 * held[source] / sets).substr(0, 5).c_str());
        const boost::math::binomial coverage(sets, least_coverage);
        fails = fails || (!has_none && templates >= 20 && rephrasings > 1 && cdf(coverage, held[source]) < sure);
      }
    }
  }
  std::printf("\n");
  return fails ? 1 : 0;
}
