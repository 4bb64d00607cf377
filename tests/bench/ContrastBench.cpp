// How far the p and intervals of contrasts keep what they state: bench_contrast [SETS]
// Simulated score tables; every score is a sum of normal effects. Prints (a) the share of p at or below 0.05 where the
// sides do not differ: 12 subjects (6 and 6), 10 templates, 4 rephrasings, 10 items, one cell in ten missing; (b) how
// often the 95 % interval holds the true difference. Exit status 1 where a stated level lies outside of the 99.9 %
// interval of its share, or a coverage is surely below `least_coverage`. Rows marked * break an assumption on purpose.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "findings/Contrasts.hpp"
#include "stats/Summary.hpp"

namespace {

using namespace stereosweep;

constexpr double nominal = 0.05;
constexpr double sure = 0.999;
constexpr double least_coverage = 0.8;  // with few templates intervals are too narrow

/// Standard deviations of what scores have in common; the rest of a score has 1.
struct Effects {
  double sentence = 1;
  double rephrasing = 1;
  double subject = 0;
  double subject_in_sentence = 1;    ///< the same for all items by half
  double subject_in_rephrasing = 0;  ///< the same in all templates
};

struct Size {
  std::size_t subjects;  ///< the first half is the left side
  std::size_t templates;
  std::size_t rephrasings;
  std::size_t items;
};

struct Table {
  std::array<results::AxisSchema, 6> axes;
  std::vector<double> values;
};

Table empty_table(const Size& size) {
  Table table;
  const std::array<std::size_t, 6> lengths = {1, size.subjects, size.templates, size.rephrasings, 1, size.items};
  for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
    table.axes[axis].name = results::score_axis_names[axis];
    for (std::size_t place = 0; place < lengths[axis]; ++place) {
      table.axes[axis].labels.push_back(std::to_string(place));
    }
  }
  auto& side = table.axes[1].coordinates.emplace_back("side", "", std::vector<std::string>()).values;
  for (std::size_t subject = 0; subject < size.subjects; ++subject) {
    side.push_back(2 * subject < size.subjects ? "left" : "right");
  }
  return table;
}

class Simulation {
 public:
  std::vector<double> draw(std::size_t count, double deviation) {
    std::vector<double> values(count);
    std::ranges::generate(values, [&] { return deviation * normal_(random_); });
    return values;
  }

  /// Subjects do not differ but by the effects.
  Table null_table(const Size& size, const Effects& effects, double missing) {
    auto table = empty_table(size);
    const auto sentences = draw(size.templates * size.items, effects.sentence);
    const auto rephrasings = draw(size.rephrasings * size.items, effects.rephrasing);
    const auto subjects = draw(size.subjects * size.items, effects.subject);
    const auto shared = draw(size.subjects * size.templates, effects.subject_in_sentence * std::sqrt(0.5));
    const auto own = draw(size.subjects * size.templates * size.items, effects.subject_in_sentence * std::sqrt(0.5));
    const auto wording = draw(size.subjects * size.rephrasings * size.items, effects.subject_in_rephrasing);
    for (std::size_t s = 0; s < size.subjects; ++s) {
      for (std::size_t t = 0; t < size.templates; ++t) {
        for (std::size_t r = 0; r < size.rephrasings; ++r) {
          for (std::size_t i = 0; i < size.items; ++i) {
            const auto st = s * size.templates + t;
            const double value = sentences[t * size.items + i] + rephrasings[r * size.items + i] +
                                 subjects[s * size.items + i] + shared[st] + own[st * size.items + i] +
                                 wording[(s * size.rephrasings + r) * size.items + i] + normal_(random_);
            table.values.push_back(unit_(random_) < missing ? stats::nan : value);
          }
        }
      }
    }
    return table;
  }

  /// One subject a side; the difference is `mean` and an effect of each template (1), rephrasing (0.5) and cell (1).
  Table shifted_table(const Size& size, double mean) {
    auto table = empty_table(size);
    const auto sentences = draw(size.templates, 1);
    const auto rephrasings = draw(size.rephrasings, 0.5);
    const auto right = draw(size.templates * size.rephrasings, 1);
    for (std::size_t cell = 0; cell < right.size(); ++cell) {
      const double effect = sentences[cell / size.rephrasings] + rephrasings[cell % size.rephrasings];
      table.values.push_back(right[cell] + mean + effect + normal_(random_));
    }
    table.values.insert(table.values.end(), right.begin(), right.end());
    return table;
  }

 private:
  std::mt19937_64 random_{20261122};
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> unit_;
};

std::vector<findings::ContrastRow> compare(const Table& table, std::uint64_t seed) {
  findings::Scores scores;
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    scores.axes[axis] = &table.axes[axis];
  }
  scores.read = [&](std::size_t) { return table.values; };
  const sweep::Contrast contrast{
      .name = "sides", .left = {{"subject.side", {"left"}}}, .right = {{"subject.side", {"right"}}}};
  return findings::compare(scores, {.contrasts = {contrast}, .replicates = 1000, .draws = 1000}, seed);
}

enum class Claim { stated, broken };

/// Prints one share; false where a stated level is surely exceeded.
bool print(const char* name, const char* p, std::uint64_t alarms, std::uint64_t tests, Claim claim) {
  const double share = static_cast<double>(alarms) / static_cast<double>(tests);
  std::printf("%-44s %-20s %6llu %7.2f %%%s\n", name, p, static_cast<unsigned long long>(tests), 100 * share,
              claim == Claim::broken ? " *" : "");
  return claim == Claim::broken || stats::fixed_draws_interval(alarms, tests, sure).low <= nominal;
}

/// One item of each table counts by itself, since items of a table are not independent; families count all ten.
bool false_alarms(Simulation& simulation, std::size_t num_sets, const char* name, const Effects& effects, Claim flips,
                  Claim subjects) {
  std::uint64_t flipped = 0;
  std::uint64_t relabelled = 0;
  std::uint64_t max_t = 0;
  std::uint64_t holm = 0;
  for (std::size_t set = 0; set < num_sets; ++set) {
    const auto rows = compare(simulation.null_table({12, 10, 4, 10}, effects, 0.1), set);
    flipped += rows.front().p <= nominal ? 1 : 0;
    relabelled += rows.front().p_subjects <= nominal ? 1 : 0;
    const auto any = [&](double findings::ContrastRow::*p) {
      return std::ranges::any_of(rows, [&](const auto& row) { return row.*p <= nominal; });
    };
    max_t += any(&findings::ContrastRow::p_max_t) ? 1 : 0;
    holm += any(&findings::ContrastRow::p_holm) ? 1 : 0;
  }
  bool as_stated = print(name, "signs flipped", flipped, num_sets, flips);
  as_stated = print(name, "any of 10, max-T", max_t, num_sets, flips) && as_stated;
  as_stated = print(name, "any of 10, Holm", holm, num_sets, flips) && as_stated;
  return print(name, "subjects relabelled", relabelled, num_sets, subjects) && as_stated;
}

bool coverage(Simulation& simulation, std::size_t num_sets, std::size_t templates, std::size_t rephrasings) {
  constexpr double truth = 0.3;
  std::uint64_t held = 0;
  for (std::size_t set = 0; set < num_sets; ++set) {
    const auto row = compare(simulation.shifted_table({2, templates, rephrasings, 1}, truth), set).front();
    held += row.low <= truth && truth <= row.high ? 1 : 0;
  }
  std::printf("%9zu %11zu %6zu %7.2f %%\n", templates, rephrasings, num_sets,
              100 * static_cast<double>(held) / static_cast<double>(num_sets));
  return stats::fixed_draws_interval(held, num_sets, sure).high >= least_coverage;
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t num_sets = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 2000;
  if (num_sets == 0) {
    std::fputs("bench_contrast [SETS]: at least one\n", stderr);
    return 2;
  }
  Simulation simulation;
  std::printf("%-44s %-20s %6s  share <= %.2f\n", "effects besides template and rephrasing", "p", "sets", nominal);
  bool as_stated = false_alarms(simulation, num_sets, "subject in template", {}, Claim::stated, Claim::stated);
  as_stated = false_alarms(simulation, num_sets, "the same, subject", {.subject = 1}, Claim::broken, Claim::stated) &&
              as_stated;
  as_stated = false_alarms(simulation, num_sets, "the same, subject in rephrasing", {.subject_in_rephrasing = 1},
                           Claim::broken, Claim::stated) &&
              as_stated;
  std::printf("\n%9s %11s %6s  95 %% interval holds the difference\n", "templates", "rephrasings", "sets");
  for (const std::size_t templates : {std::size_t{8}, std::size_t{20}, std::size_t{40}}) {
    for (const std::size_t rephrasings : {std::size_t{5}, std::size_t{20}}) {
      as_stated = coverage(simulation, num_sets, templates, rephrasings) && as_stated;
    }
  }
  return as_stated ? 0 : 1;
}
