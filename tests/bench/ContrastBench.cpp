// How far the p and intervals of contrasts and means keep what they state: bench_contrast [SETS [SEED [LINE]]]
// Simulated score tables without a difference; every score is a sum of random effects and a rest of deviation 1. One
// line a kind of table: share of tables with p <= 0.05 (t over templates and rephrasings; signs of templates flipped;
// Welch's t over subjects), with an adjusted p <= 0.05 for any item (max-T of flips, Holm of t), and with 0 inside of
// the 95 % interval, each with its standard error. Exit status 1 where p and interval of a row contradict each other,
// or a share is surely not what is stated. * breaks an assumption of that p. One item of each table counts by itself,
// since items of a table are not independent; families count all of them. Then the same of intersections: two groups
// and what is both of them, `emerge_p`, `emerge_p` where both parts have the same scores, `interaction_p`. Below it the
// power that `plan --power` promises: tables with a difference, and pilots that say how many templates are enough for
// 80 %.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/Random.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/intersections/Intersections.hpp"
#include "findings/power/Power.hpp"
#include "stats/Power.hpp"
#include "stats/Summary.hpp"

namespace {

using namespace stereosweep;

constexpr double nominal = 0.05;
constexpr double sure = 1 - 1e-8;
constexpr std::size_t few = 5;  ///< templates or rephrasings, from which on shares are stated
constexpr double most_alarms = 0.065;
constexpr double least_coverage = 0.935;
constexpr double most_coverage = 0.985;

/// Standard deviations of what scores have in common.
struct Effects {
  double sentence = 1;
  double rephrasing = 1;
  double subject = 0;
  double subject_in_sentence = 0;    ///< the same for all items by half
  double subject_in_rephrasing = 0;  ///< the same in all templates
};

/// One subject is compared with 0; of more the first half with the second.
struct Size {
  std::size_t subjects = 1;
  std::size_t templates = 1;
  std::size_t rephrasings = 1;
  std::size_t items = 1;
};

/// Of all effects and the rest: skewed as exponential times (skewness 2), heavy as Student's t with 3 degrees.
enum class Shape { normal, skewed, heavy };
enum class Claim { stated, broken };

struct Kind {
  const char* name;
  Size size;
  Effects effects = {};
  double missing = 0;
  Shape shape = Shape::normal;
  Claim flips = Claim::stated;
  std::size_t own_templates = 0;  ///< that a subject has, drawn anew; 0: all
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
  explicit Simulation(std::uint64_t seed) : random_(seed) {}
  /// Fills `table`; no subject differs but by the effects.
  void fill(Table& table, const Kind& kind) {
    const auto& [name, size, effects, missing, shape, flips, own_templates] = kind;
    const auto sentences = draw(size.templates * size.items, effects.sentence, shape);
    const auto rephrasings = draw(size.rephrasings * size.items, effects.rephrasing, shape);
    const auto subjects = draw(size.subjects * size.items, effects.subject, shape);
    const auto half = effects.subject_in_sentence * std::sqrt(0.5);
    const auto shared = draw(size.subjects * size.templates, half, shape);
    const auto own = draw(size.subjects * size.templates * size.items, half, shape);
    const auto wording = draw(size.subjects * size.rephrasings * size.items, effects.subject_in_rephrasing, shape);
    const auto rest = draw(size.subjects * size.templates * size.rephrasings * size.items, 1, shape);
    table.values.clear();
    std::vector<std::size_t> order(size.templates);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t s = 0; s < size.subjects; ++s) {
      if (own_templates > 0) {
        std::ranges::shuffle(order, random_);
      }
      for (std::size_t t = 0; t < size.templates; ++t) {
        const bool is_lacking = own_templates > 0 && order[t] >= own_templates;
        for (std::size_t r = 0; r < size.rephrasings; ++r) {
          for (std::size_t i = 0; i < size.items; ++i) {
            const auto st = s * size.templates + t;
            const double value = sentences[t * size.items + i] + rephrasings[r * size.items + i] +
                                 subjects[s * size.items + i] + shared[st] + own[st * size.items + i] +
                                 wording[(s * size.rephrasings + r) * size.items + i] + rest[table.values.size()];
            table.values.push_back(is_lacking || (missing > 0 && unit_(random_) < missing) ? stats::nan : value);
          }
        }
      }
    }
  }

 private:
  std::vector<double> draw(std::size_t count, double deviation, Shape shape) {
    std::vector<double> values(count, 0);
    if (deviation > 0) {
      std::ranges::generate(values, [&] {
        return deviation * (shape == Shape::normal   ? normal_(random_)
                            : shape == Shape::skewed ? exponential_(random_) - 1
                                                     : heavy_(random_) / std::sqrt(3.0));
      });
    }
    return values;
  }

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::exponential_distribution<double> exponential_;
  std::student_t_distribution<double> heavy_{3};
  std::uniform_real_distribution<double> unit_;
};

findings::Scores scores_of(const Table& table) {
  findings::Scores scores;
  for (std::size_t axis = 0; axis < table.axes.size(); ++axis) {
    scores.axes[axis] = &table.axes[axis];
  }
  scores.read = [&table](std::size_t) { return table.values; };
  return scores;
}

/// The first half of the subjects with the other; one subject with zero.
sweep::Comparison comparison_of(const findings::Scores& scores) {
  const bool is_alone = scores.length(findings::subject_axis) == 1;
  sweep::Comparison comparison{.replicates = 1000, .draws = 1000};
  comparison.contrasts = {{.name = "sides",
                           .left = {{"subject.side", {"left"}}},
                           .right = {{"subject.side", {"right"}}},
                           .against = is_alone ? sweep::Contrast::Against::zero : sweep::Contrast::Against::selected}};
  return comparison;
}

/// How many tables of a kind did what.
struct Counts {
  std::uint64_t crossed = 0;
  std::uint64_t flipped = 0;
  std::uint64_t relabelled = 0;
  std::uint64_t max_t = 0;
  std::uint64_t holm = 0;
  std::uint64_t held = 0;
};

void count(Counts& counts, const Table& table, std::uint64_t seed) {
  const auto scores = scores_of(table);
  const auto comparison = comparison_of(scores);
  const auto rows = findings::compare(scores, comparison, seed);
  const auto& first = rows.front();
  const auto any = [&](double findings::ContrastRow::*p) {
    return std::ranges::any_of(rows, [&](const auto& row) { return row.*p <= nominal; }) ? 1U : 0U;
  };
  const auto contradicts = [](const findings::ContrastRow& row) {
    return !std::isnan(row.low) && (row.p < nominal) != (row.low > 0 || row.high < 0);
  };
  if (std::ranges::any_of(rows, contradicts)) {
    std::fputs("p and interval of a row contradict each other\n", stderr);
    std::exit(1);
  }
  counts.crossed += first.p <= nominal ? 1 : 0;
  counts.flipped += first.flip.two_sided <= nominal ? 1 : 0;
  counts.relabelled += first.over_subjects.p <= nominal ? 1 : 0;
  counts.max_t += any(&findings::ContrastRow::p_flip_max_t);
  counts.holm += any(&findings::ContrastRow::p_holm);
  counts.held += first.low <= 0 && 0 <= first.high ? 1 : 0;
}

/// A share between bounds, its standard error, and whether it surely lies elsewhere.
struct Share {
  std::uint64_t count;
  std::uint64_t sets;
  double least = 0;
  double most = 1;
  Claim claim = Claim::stated;

  std::string text() const {
    const double share = static_cast<double>(count) / static_cast<double>(sets);
    std::array<char, 40> text;
    std::snprintf(text.data(), text.size(), "%.1f +-%.1f%s", 100 * share,
                  100 * std::sqrt(share * (1 - share) / static_cast<double>(sets)), claim == Claim::broken ? "*" : " ");
    return text.data();
  }
  bool is_kept() const {
    const auto interval = stats::fixed_draws_interval(count, sets, sure);
    return claim == Claim::broken || (interval.low <= most && interval.high >= least);
  }
};

/// Prints a line; whether all is as stated.
bool measure(Simulation& simulation, const Kind& kind, std::size_t num_sets) {
  const auto& size = kind.size;
  auto table = empty_table(size);
  Counts counts;
  for (std::size_t set = 0; set < num_sets; ++set) {
    simulation.fill(table, kind);
    count(counts, table, set);
  }
  const bool is_small = size.templates < few || (size.rephrasings > 1 && size.rephrasings < few);
  const bool is_stated = !is_small && kind.shape != Shape::skewed && kind.effects.subject == 0;
  const bool has_family = size.items > 1;
  const bool has_sides = size.subjects > 1;
  const auto alarms = [&](std::uint64_t number, double most, Claim claim) {
    return Share{.count = number, .sets = num_sets, .most = most, .claim = claim};
  };
  const auto claim = is_stated ? Claim::stated : Claim::broken;
  const std::array<std::optional<Share>, 6> shares = {
      alarms(counts.crossed, most_alarms, claim),
      alarms(counts.flipped, nominal, kind.flips),
      has_sides ? std::optional(alarms(counts.relabelled, most_alarms, Claim::stated)) : std::nullopt,
      has_family ? std::optional(alarms(counts.max_t, nominal, kind.flips)) : std::nullopt,
      has_family ? std::optional(alarms(counts.holm, most_alarms, claim)) : std::nullopt,
      Share{.count = counts.held, .sets = num_sets, .least = least_coverage, .most = most_coverage, .claim = claim}};
  const auto sizes = (has_sides ? std::to_string(size.subjects) + " x " : "") + std::to_string(size.templates) + " x " +
                     std::to_string(size.rephrasings) + (has_family ? " x " + std::to_string(size.items) : "");
  std::printf("%-32s %16s", kind.name, sizes.c_str());
  bool as_stated = true;
  for (const auto& share : shares) {
    std::printf(" %10s", share ? share->text().c_str() : "- ");
    as_stated = as_stated && (!share || share->is_kept());
  }
  std::printf("%s\n", as_stated ? "" : "  NOT as stated");
  std::fflush(stdout);
  return as_stated;
}

/// The same of an intersection of the first two of three subjects.
bool measure_intersections(Simulation& simulation, const Kind& kind, std::size_t num_sets) {
  const auto& size = kind.size;
  auto table = empty_table(size);
  auto& coordinates = table.axes[findings::subject_axis].coordinates;
  coordinates = {{"kind", "", {"group", "group", "intersection"}},
                 {"domain", "", {"one", "other", "one x other"}},
                 {"first", "", {"a", "b", "a"}},
                 {"second", "", {"", "", "b"}}};
  sweep::Comparison comparison;
  comparison.intersections.emplace();
  const auto rows_of = [&] {
    return findings::intersections_of(scores_of(table), comparison).of_measures.front().items;
  };
  std::array<std::uint64_t, 6> counts = {};
  for (std::size_t set = 0; set < num_sets; ++set) {
    simulation.fill(table, kind);
    const auto rows = rows_of();
    const auto any = [&](double findings::EmergenceRow::*p) {
      return std::ranges::any_of(rows, [&](const auto& row) { return row.*p <= nominal; }) ? 1U : 0U;
    };
    const auto& first = rows.front();
    counts[0] += first.beyond.p <= nominal ? 1 : 0;
    counts[2] += first.interaction_test.p <= nominal ? 1 : 0;
    counts[3] += any(&findings::EmergenceRow::p_holm);
    counts[4] += any(&findings::EmergenceRow::interaction_p_holm);
    counts[5] += first.interaction_test.low <= 0 && 0 <= first.interaction_test.high ? 1 : 0;
    const auto of_subject = static_cast<std::ptrdiff_t>(table.values.size() / size.subjects);
    std::copy_n(table.values.begin(), of_subject, table.values.begin() + of_subject);
    counts[1] += rows_of().front().beyond.p <= nominal ? 1 : 0;
  }
  const bool is_small = size.templates < few || (size.rephrasings > 1 && size.rephrasings < few);
  const auto claim = is_small || kind.shape == Shape::skewed ? Claim::broken : Claim::stated;
  const auto sizes = std::to_string(size.templates) + " x " + std::to_string(size.rephrasings);
  std::printf("%-32s %16s", kind.name, sizes.c_str());
  bool as_stated = true;
  for (std::size_t place = 0; place < counts.size(); ++place) {
    const bool is_interval = place + 1 == counts.size();
    const Share share{.count = counts[place],
                      .sets = num_sets,
                      .least = is_interval ? least_coverage : 0,
                      .most = is_interval ? most_coverage : most_alarms,
                      .claim = claim};
    std::printf(" %10s", share.text().c_str());
    as_stated = as_stated && share.is_kept();
  }
  std::printf("%s\n", as_stated ? "" : "  NOT as stated");
  std::fflush(stdout);
  return as_stated;
}

constexpr double wanted_power = 0.8;

/// A true difference of `effect` standard deviations of templates' differences, and a pilot of as many rephrasings.
struct PowerKind {
  Kind kind;
  double effect = 0;
  std::size_t pilot_templates = 0;
};

/// Prints a line; whether the power is as promised, and cautious plans reach it four times in five.
bool measure_power(Simulation& simulation, const PowerKind& power, std::size_t num_sets) {
  const auto& size = power.kind.size;
  const auto& effects = power.kind.effects;
  const auto num_rephrasings = static_cast<double>(size.rephrasings);
  const double deviation = std::sqrt(std::pow(effects.sentence, 2) + 1 / num_rephrasings);
  const findings::PowerGoal goal{power.effect * deviation, findings::PowerGoal::Unit::score, wanted_power, nominal};
  const stats::PlannedMean truth{
      goal.size, {std::pow(effects.sentence, 2), std::pow(effects.rephrasing, 2), 1}, size.rephrasings, nominal};
  const double promised = stats::crossed_power(truth, size.templates);
  auto table = empty_table(size);
  auto pilot_kind = power.kind;
  pilot_kind.size.templates = power.pilot_templates;
  auto pilot = empty_table(pilot_kind.size);
  std::uint64_t num_reached = 0;
  std::array<std::uint64_t, 2> num_enough = {0, 0};  // by the pilots' estimate, cautious
  for (std::size_t set = 0; set < num_sets; ++set) {
    simulation.fill(table, power.kind);
    for (auto& value : table.values) {
      value += goal.size;
    }
    const auto scores = scores_of(table);
    num_reached += findings::compare(scores, comparison_of(scores), set).front().p <= nominal ? 1 : 0;
    simulation.fill(pilot, pilot_kind);
    const auto pilot_scores = scores_of(pilot);
    const auto planned = findings::spreads_of(pilot_scores, comparison_of(pilot_scores)).front();
    for (const auto variance : {findings::PilotVariance::estimate, findings::PilotVariance::cautious}) {
      const auto enough = findings::enough_templates(planned, goal, size.rephrasings, variance);
      const bool reaches = !enough || stats::crossed_power(truth, *enough) >= wanted_power;  // none promised: no harm
      num_enough[static_cast<std::size_t>(variance)] += reaches ? 1 : 0;
    }
  }
  const auto claim = power.kind.shape == Shape::skewed ? Claim::broken : Claim::stated;
  const Share reached{num_reached, num_sets, promised - 0.03, promised + 0.03, claim};
  const Share estimated{.count = num_enough[0], .sets = num_sets};
  const Share cautious{.count = num_enough[1], .sets = num_sets, .least = 0.75, .claim = claim};
  const auto sizes = std::to_string(size.templates) + " x " + std::to_string(size.rephrasings);
  const bool as_stated = reached.is_kept() && cautious.is_kept();
  std::printf("%-32s %10s %10.2f %12.1f %12s %10zu %12s %12s%s\n", power.kind.name, sizes.c_str(), power.effect,
              100 * promised, reached.text().c_str(), power.pilot_templates, estimated.text().c_str(),
              cautious.text().c_str(), as_stated ? "" : "  NOT as stated");
  std::fflush(stdout);
  return as_stated;
}

std::vector<PowerKind> all_power_kinds() {
  const Effects alone{.rephrasing = 0};
  const Effects both{.rephrasing = 0.5};
  return {{{"template", {1, 6, 1, 1}, alone}, 1.8, 5},
          {{"template", {1, 7, 1, 1}, alone}, 1.3, 5},
          {{"template", {1, 8, 1, 1}, alone}, 1.2, 5},
          {{"template", {1, 10, 1, 1}, alone}, 1.0, 10},
          {{"template", {1, 15, 1, 1}, alone}, 0.78, 10},
          {{"template", {1, 34, 1, 1}, alone}, 0.5, 10},
          {{"template, rephrasings there", {1, 15, 4, 1}, alone}, 0.78, 10},
          {{"template, rephrasings there", {1, 20, 5, 1}, alone}, 0.66, 20},
          {{"template, rephrasings there", {1, 34, 4, 1}, alone}, 0.5, 20},
          {{"template, half of it rephrasing", {1, 20, 5, 1}, both}, 1.0, 20},
          {{"template, half of it rephrasing", {1, 35, 20, 1}, both}, 0.62, 35},
          {{"rephrasing more than template", {1, 28, 5, 1}, {.sentence = 0.5}}, 2.4, 28},
          {{"neither has an effect", {1, 20, 5, 1}, {.sentence = 0, .rephrasing = 0}}, 0.62, 20},
          {{"skewed, template", {1, 34, 1, 1}, alone, 0, Shape::skewed, Claim::broken}, 0.5, 20}};
}

std::vector<Kind> all_kinds() {
  const Size groups{12, 10, 4, 10};
  std::vector<Kind> kinds = {
      {"subject in template", groups, {.subject_in_sentence = 1}, 0.1},
      {"and subject", groups, {.subject = 1, .subject_in_sentence = 1}, 0.1, Shape::normal, Claim::broken},
      {"and, instead, subject in wording",
       groups,
       {.subject_in_sentence = 1, .subject_in_rephrasing = 1},
       0.1,
       Shape::normal,
       Claim::broken},
      {"subject in template, flips drawn", {4, 46, 1, 10}, {.subject_in_sentence = 1}},
      {"subject, relabellings drawn", {44, 2, 1, 1}, {.subject = 1}, 0, Shape::normal, Claim::broken},
      {"each subject has a third", {6, 12, 5, 1}, {.subject_in_sentence = 1}, 0, Shape::normal, Claim::broken, 4}};
  const auto add = [&](const char* name, const Effects& effects, double missing, Shape shape,
                       const std::vector<std::array<std::size_t, 2>>& sizes) {
    for (const auto& [templates, rephrasings] : sizes) {
      const auto flips = effects.rephrasing > 0 && rephrasings > 1 ? Claim::broken : Claim::stated;
      kinds.push_back({name,
                       {1, templates, rephrasings, 1},
                       effects,
                       missing,
                       shape,
                       shape == Shape::skewed ? Claim::broken : flips});
    }
  };
  add("template", {.rephrasing = 0}, 0, Shape::normal, {{2, 1}, {3, 1}, {5, 1}, {8, 1}, {20, 1}, {35, 1}});
  const Effects both{.rephrasing = 0.5};
  add("template, half of it rephrasing", both, 0, Shape::normal,
      {{2, 2}, {3, 3}, {5, 5}, {8, 5}, {8, 20}, {20, 5}, {20, 20}, {35, 5}, {35, 20}});
  add("template only, rephrasings there", {.rephrasing = 0}, 0, Shape::normal, {{2, 20}, {5, 5}, {20, 20}});
  add("neither has an effect", {.sentence = 0, .rephrasing = 0}, 0, Shape::normal, {{5, 5}, {8, 20}, {20, 20}});
  add("rephrasing more than template", {.sentence = 0.5}, 0, Shape::normal, {{5, 5}, {8, 5}, {28, 5}, {40, 20}});
  add("both, three cells in ten missing", both, 0.3, Shape::normal, {{8, 5}, {20, 5}, {20, 20}});
  add("skewed, template", {.rephrasing = 0}, 0, Shape::skewed, {{5, 1}, {20, 1}, {35, 1}});
  add("skewed, both", both, 0, Shape::skewed, {{8, 5}, {20, 20}, {35, 20}});
  add("t of 3 degrees, both", both, 0, Shape::heavy, {{8, 5}, {20, 5}, {20, 20}});
  return kinds;
}

/// Without a baseline what all have alike is a part of the interaction.
std::vector<Kind> all_intersection_kinds() {
  std::vector<Kind> kinds;
  const auto add = [&](const char* name, const Effects& effects, double missing, Shape shape,
                       const std::vector<std::array<std::size_t, 2>>& sizes) {
    for (const auto& [templates, rephrasings] : sizes) {
      kinds.push_back({name, {3, templates, rephrasings, 10}, effects, missing, shape});
    }
  };
  add("template", {.rephrasing = 0, .subject_in_sentence = 1}, 0, Shape::normal, {{5, 1}, {8, 1}, {20, 1}, {40, 1}});
  const Effects both{.subject_in_sentence = 1, .subject_in_rephrasing = 0.5};
  add("template, half of it rephrasing", both, 0, Shape::normal,
      {{20, 2}, {5, 5}, {8, 5}, {20, 5}, {40, 5}, {8, 20}, {40, 20}});
  add("neither has an effect", {.sentence = 0, .rephrasing = 0}, 0, Shape::normal, {{5, 5}, {8, 20}, {20, 20}});
  const Effects wording{.subject_in_sentence = 0.5, .subject_in_rephrasing = 1};
  add("rephrasing more than template", wording, 0, Shape::normal, {{8, 5}, {28, 5}, {40, 20}});
  add("both, three cells in ten missing", both, 0.3, Shape::normal, {{8, 5}, {20, 5}, {40, 5}});
  add("t of 3 degrees, both", both, 0, Shape::heavy, {{8, 5}, {20, 5}, {40, 5}});
  add("skewed, both", both, 0, Shape::skewed, {{8, 5}, {20, 20}});
  return kinds;
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int place, std::uint64_t usual) {
    return count > place ? std::strtoull(arguments[place], nullptr, 10) : usual;
  };
  const std::size_t num_sets = argument(1, 2000);
  const auto seed = argument(2, 20261122);
  const auto kinds = all_kinds();
  const auto crossed_kinds = all_intersection_kinds();
  const auto power_kinds = all_power_kinds();
  const auto only = argument(3, 0);  // from 1
  const auto num_lines = kinds.size() + crossed_kinds.size() + power_kinds.size();
  if (num_sets == 0 || only > num_lines) {
    std::fputs("bench_contrast [SETS [SEED [LINE]]]: at least one set, a line of the table\n", stderr);
    return 2;
  }
  bool as_stated = true;
  std::size_t line = 0;
  const auto measure_all = [&](const auto& all, auto measure_one) {
    for (const auto& one : all) {
      ++line;
      if (only == 0 || only == line) {
        Simulation simulation(base::mix_bits(seed) ^ line);
        as_stated = measure_one(simulation, one, num_sets) && as_stated;
      }
    }
  };
  std::printf(
      "%zu tables of each kind; shares in %% +- standard error; size: [subjects x] templates x rephrasings\n"
      "[x items]\n\n%-32s %16s %10s %10s %10s %10s %10s %10s\n",
      num_sets, "effects", "size", "p ", "p flips ", "subjects ", "any max-T", "any Holm ", "interval ");
  measure_all(kinds, measure);
  std::printf("\n%-32s %16s %10s %10s %10s %10s %10s %10s\n", "intersections", "size", "emerge ", "like parts",
              "interact. ", "any emerge", "any inter.", "interval ");
  measure_all(crossed_kinds, measure_intersections);
  std::printf("\n%-32s %10s %10s %12s %12s %10s %12s %12s\n", "power", "size", "effect", "promised", "p", "pilot of",
              "enough", "cautious");
  measure_all(power_kinds, measure_power);
  return as_stated ? 0 : 1;
}
