// How often the 95 % intervals of variance components hold the variance: bench_variance_shares [SETS [SEED]]
// Simulated score tables of subjects x items over templates and rephrasings, all of them drawn: effects of each, on
// subject x item, on subject x template, on subject x rephrasing, a rest. `none`: how often no number of templates is
// said to be enough since the variance between subjects is not above 0. One line a kind of table; the last kinds are
// pure noise. With one rephrasing, what rephrasings add to single subjects counts as the subjects' own. Exit status 1
// where a coverage is surely below 90 %, or noise has `enough templates` surely too often.
#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "findings/variance/Variance.hpp"

namespace {

using namespace stereosweep;
using namespace stereosweep::findings;

constexpr std::array<const char*, 5> shown = {"subject", "item", "both", "template", "rephrasing"};
constexpr double least_coverage = 0.9;
constexpr double sure = 1e-8;

/// Standard deviations.
struct Effects {
  double subject = 0;
  double item = 0;
  double both = 0;
  double template_ = 0;
  double rephrasing = 0;
  double subject_in_template = 0;
  double subject_in_rephrasing = 0;

  std::array<double, 5> sources() const { return {subject, item, both, template_, rephrasing}; }
};

struct Kind {
  std::size_t subjects = 6;
  std::size_t items = 4;
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

CellTable drawn_table(const Kind& kind, Normals& random) {
  const auto& effects = kind.effects;
  const auto by_subject = normals(kind.subjects, effects.subject, random);
  const auto by_item = normals(kind.items, effects.item, random);
  const auto by_both = normals(kind.subjects * kind.items, effects.both, random);
  const auto by_template = normals(kind.templates, effects.template_, random);
  const auto by_rephrasing = normals(kind.rephrasings, effects.rephrasing, random);
  const auto in_template = normals(kind.subjects * kind.templates, effects.subject_in_template, random);
  const auto in_rephrasing = normals(kind.subjects * kind.rephrasings, effects.subject_in_rephrasing, random);
  CellTable table{{1, kind.subjects, kind.templates, kind.rephrasings, 1, kind.items}, {}};
  table.values = normals(kind.subjects * kind.items * kind.templates * kind.rephrasings, 1, random);
  each_cell(table.lengths, [&](const CellIndex& at, std::size_t place) {
    table.values[place] += by_subject[at[1]] + by_item[at[5]] + by_both[at[1] * kind.items + at[5]] +
                           by_template[at[2]] + by_rephrasing[at[3]] + in_template[at[1] * kind.templates + at[2]] +
                           in_rephrasing[at[1] * kind.rephrasings + at[3]];
  });
  return table;
}

struct Counts {
  std::array<int, 5> held{};
  int none = 0;
};

Counts counts_of(const Kind& kind, int sets, Normals& random) {
  Counts counts;
  const auto truth = kind.effects.sources();
  for (int set = 0; set < sets; ++set) {
    const auto cells = centred(drawn_table(kind, random));
    const auto row = shares_of(cells, RunsCompared::one, 0.95);
    for (std::size_t source = 0; source < shown.size(); ++source) {
      const auto& [value, low, high] = row.sources[source].component;
      counts.held[source] += low <= truth[source] * truth[source] && truth[source] * truth[source] <= high ? 1 : 0;
    }
    counts.none += squares_of(cells.table).component(effect::subject, 0.95, effect::item).low > 0 ? 0 : 1;
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  const int sets = argc > 1 ? std::atoi(argv[1]) : 2000;
  Normals random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const std::vector<Effects> all_effects = {
      {0.7, 0.7, 0.4, 0.5, 0.3, 0, 0}, {0.3, 1, 0.2, 1, 0.5, 0.5, 0.3}, {0, 0.5, 0, 1, 0.5, 0.5, 0.3}, {}};
  bool fails = false;
  std::printf("coverage of 95 %% intervals of variance components in %%, %d tables a line\n%20s", sets, "");
  for (const auto* name : shown) {
    std::printf("%12s", name);
  }
  std::printf("%12s", "none");
  for (const auto& effects : all_effects) {
    for (const auto& [subjects, items, templates, rephrasings] : std::vector<std::array<std::size_t, 4>>{
             {6, 4, 35, 20}, {6, 4, 20, 5}, {6, 4, 20, 1}, {20, 16, 8, 5}, {6, 4, 5, 5}, {6, 4, 3, 3}}) {
      const auto counts = counts_of({subjects, items, templates, rephrasings, effects}, sets, random);
      std::printf("\n%3zu x %2zu, %2zu x %2zu   ", subjects, items, templates, rephrasings);
      for (std::size_t source = 0; source < shown.size(); ++source) {
        const bool has_none = source == 4 && rephrasings < 2;
        std::printf("%12s", has_none ? "-" : std::to_string(100.0 * counts.held[source] / sets).substr(0, 5).c_str());
        const bool is_known = rephrasings > 1 || effects.subject_in_rephrasing == 0;
        fails = fails ||
                (!has_none && is_known && cdf(boost::math::binomial(sets, least_coverage), counts.held[source]) < sure);
      }
      std::printf("%11.1f", 100.0 * counts.none / sets);
      const bool has_no_subjects =
          effects.subject == 0 && effects.both == 0 && (rephrasings > 1 || effects.subject_in_rephrasing == 0);
      fails = fails || (has_no_subjects && cdf(boost::math::binomial(sets, least_coverage), counts.none) < sure);
    }
  }
  std::printf("\n");
  return fails ? 1 : 0;
}
