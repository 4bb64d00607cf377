#include "findings/contrasts/Contrasts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <tuple>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "findings/PlainInterval.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;
using stats::nan;
using sweep::Comparison;
using sweep::Contrast;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A score table in memory: six subjects, pairs of sentences, two measures.
struct Table {
  std::array<AxisSchema, 6> axes;
  std::vector<double> values;  ///< [measure, subject, template, rephrasing, replicate, item]

  std::size_t length(std::size_t axis) const { return axes[axis].labels.size(); }
  double at(const std::array<std::size_t, 6>& place) const {
    std::size_t index = 0;
    for (std::size_t axis = 0; axis < 6; ++axis) {
      index = index * length(axis) + place[axis];
    }
    return values[index];
  }
  Scores scores() const {
    Scores scores;
    for (std::size_t axis = 0; axis < 6; ++axis) {
      scores.axes[axis] = &axes[axis];
    }
    scores.read = [this](std::size_t measure) {
      const auto size = values.size() / length(0);
      return std::vector<double>(values.begin() + static_cast<std::ptrdiff_t>(measure * size),
                                 values.begin() + static_cast<std::ptrdiff_t>((measure + 1) * size));
    };
    return scores;
  }
};

AxisSchema numbered(const std::string& name, const std::string& stem, std::size_t count) {
  AxisSchema axis{name, "", {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    axis.labels.push_back(stem + std::to_string(i));
  }
  return axis;
}

Table make_table(std::uint64_t seed, std::size_t num_pairs, std::size_t num_rephrasings, double missing) {
  Table table;
  table.axes = {numbered("measure", "m", 2),
                numbered("subject", "s", 6),
                numbered("template", "t", 2 * num_pairs),
                numbered("rephrasing", "r", num_rephrasings),
                numbered("replicate", "k", 2),
                numbered("item", "i", 3)};
  table.axes[1].coordinates = {{"kind", "", {"group", "group", "group", "group", "intersection", "intersection"}},
                               {"domain", "", {"gender", "gender", "race", "race", "race x gender", "race x gender"}}};
  AxisSchema::Coordinate stereotype{"stereotype", "", {}};
  AxisSchema::Coordinate pair{"pair", "", {}};
  for (std::size_t sentence = 0; sentence < 2 * num_pairs; ++sentence) {
    stereotype.values.push_back(sentence % 2 == 0 ? "pro" : "anti");
    pair.values.push_back(sentence == 0 ? "" : "p" + std::to_string(sentence / 2));  // the first has lost its partner
  }
  table.axes[2].coordinates = {stereotype, pair};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit;
  std::size_t size = 1;
  for (const auto& axis : table.axes) {
    size *= axis.labels.size();
  }
  for (std::size_t i = 0; i < size; ++i) {
    const double value = seed % 3 == 0 ? std::round(8 * unit(random)) / 4 : unit(random) - 0.45;
    table.values.push_back(unit(random) < missing ? nan : value);
  }
  return table;
}

using Takes = std::function<bool(std::size_t)>;
const Takes every_label = [](std::size_t) { return true; };
Takes one_of(std::vector<std::size_t> places) {
  return [places = std::move(places)](std::size_t place) { return std::ranges::find(places, place) != places.end(); };
}

/// Which places of subject, template, rephrasing, replicate a side takes.
using PlainSide = std::array<Takes, 4>;

/// A contrast as the program reads it, and what it means on the tables above.
struct Case {
  Contrast contrast;
  std::string name;
  PlainSide left;
  std::optional<PlainSide> right;
  bool by_pair = false;
  bool same_rephrasings = true;
  bool same_subjects = false;
};

const Takes pro = [](std::size_t sentence) { return sentence % 2 == 0; };
const Takes anti = [](std::size_t sentence) { return sentence % 2 == 1; };

std::vector<Case> all_cases() {
  using enum Contrast::Against;
  std::vector<Case> cases;
  const auto add = [&](Contrast contrast, const std::string& each, PlainSide left, std::optional<PlainSide> right) {
    Case made{std::move(contrast), "", std::move(left), std::move(right)};
    made.name = made.contrast.name + (each.empty() ? "" : ": " + each);
    made.by_pair = !made.contrast.paired.empty();
    cases.push_back(std::move(made));
  };
  add({.name = "subjects", .left = {{"subject", {"s1", "s0"}}}, .right = {{"subject", {"s2", "s3", "s4"}}}}, "",
      {one_of({0, 1}), every_label, every_label, every_label},
      PlainSide{one_of({2, 3, 4}), every_label, every_label, every_label});
  add({.name = "zero", .left = {{"subject.domain", {"race"}}, {"subject", {"s3", "s0"}}}, .right = {}, .against = zero},
      "", {one_of({3}), every_label, every_label, every_label}, std::nullopt);
  add({.name = "rest", .left = {{"subject", {"s0", "s2"}}, {"replicate", {"k1"}}}, .right = {}, .against = rest}, "",
      {one_of({0, 2}), every_label, every_label, one_of({1})},
      PlainSide{one_of({1, 3}), every_label, every_label, one_of({1})});
  for (std::size_t subject = 0; subject < 6; ++subject) {
    const auto others = [=](std::size_t other) { return other != subject && (other < 4) == (subject < 4); };
    add({.name = "one", .left = {}, .right = {}, .against = rest, .each = "subject"}, "s" + std::to_string(subject),
        {one_of({subject}), every_label, every_label, every_label},
        PlainSide{others, every_label, every_label, every_label});
  }
  for (const auto& [label, takes] : {std::pair("pro", pro), std::pair("anti", anti)}) {
    add({.name = "in", .left = {{"subject", {"s0"}}}, .right = {{"subject", {"s5"}}}, .each = "template.stereotype"},
        label, {one_of({0}), takes, every_label, every_label}, PlainSide{one_of({5}), takes, every_label, every_label});
  }
  add({.name = "paired",
       .left = {{"template.stereotype", {"pro"}}},
       .right = {{"template.stereotype", {"anti"}}},
       .paired = "template.pair"},
      "", {every_label, pro, every_label, every_label}, PlainSide{every_label, anti, every_label, every_label});
  cases.back().same_subjects = true;
  add({.name = "crossed",
       .left = {{"template.stereotype", {"pro"}}, {"subject", {"s0", "s1"}}},
       .right = {{"template.stereotype", {"anti"}}, {"subject", {"s2", "s3"}}},
       .paired = "template.pair"},
      "", {one_of({0, 1}), pro, every_label, every_label}, PlainSide{one_of({2, 3}), anti, every_label, every_label});
  add({.name = "pairs together",
       .left = {{"subject", {"s0"}}},
       .right = {{"subject", {"s1"}}},
       .paired = "template.pair"},
      "", {one_of({0}), every_label, every_label, every_label},
      PlainSide{one_of({1}), every_label, every_label, every_label});
  add({.name = "rephrasings", .left = {{"rephrasing", {"r0"}}}, .right = {{"rephrasing", {"r1"}}}}, "",
      {every_label, every_label, one_of({0}), every_label},
      PlainSide{every_label, every_label, one_of({1}), every_label});
  cases.back().same_rephrasings = false;
  cases.back().same_subjects = true;
  add({.name = "replicates", .left = {{"replicate", {"k0"}}}, .right = {{"replicate", {"k1"}}}, .measures = {"m1"}}, "",
      {every_label, every_label, every_label, one_of({0})},
      PlainSide{every_label, every_label, every_label, one_of({1})});
  cases.back().same_subjects = true;
  return cases;
}

/// What one row must hold, by the definitions, and the sums of its blocks.
struct Plain {
  ContrastRow row;
  std::vector<double> blocks;
  std::string key;
};

constexpr std::uint64_t seed_of_all = 77;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return values.empty() ? nan : sum / static_cast<double>(values.size());
}

struct Place {
  std::size_t measure;
  std::size_t item;
};

/// Scores of a side where `takes` says so of [subject, template, rephrasing, replicate].
template <class TakesPlace>
std::vector<double> scores_where(const Table& table, const Place& place, const PlainSide& side, TakesPlace takes) {
  std::vector<double> found;
  for (std::size_t s = 0; s < table.length(1); ++s) {
    for (std::size_t t = 0; t < table.length(2); ++t) {
      for (std::size_t r = 0; r < table.length(3); ++r) {
        for (std::size_t k = 0; k < table.length(4); ++k) {
          const double value = table.at({place.measure, s, t, r, k, place.item});
          if (side[0](s) && side[1](t) && side[2](r) && side[3](k) && takes(s, t, r) && !std::isnan(value)) {
            found.push_back(value);
          }
        }
      }
    }
  }
  return found;
}

/// |mean - mean| of every way to choose as many of the pool.
double plain_relabelling(const std::vector<double>& left, const std::vector<double>& right) {
  if (left.size() < 2 || right.size() < 2) {
    return nan;
  }
  auto pool = left;
  pool.insert(pool.end(), right.begin(), right.end());
  double reached = 0;
  double all_choices = 0;
  for (unsigned chosen = 0; chosen < 1U << pool.size(); ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) == left.size()) {
      std::vector<double> here;
      std::vector<double> there;
      for (std::size_t i = 0; i < pool.size(); ++i) {
        ((chosen >> i & 1U) != 0 ? here : there).push_back(pool[i]);
      }
      const auto distance = std::abs(mean_of(here) - mean_of(there));
      reached += distance >= std::abs(mean_of(left) - mean_of(right)) - 1e-11 ? 1 : 0;
      ++all_choices;
    }
  }
  return reached / all_choices;
}

double plain_flips(const std::vector<double>& blocks) {
  const auto sum_of = [&](unsigned signs) {
    double sum = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      sum += (signs >> i & 1U) != 0 ? -blocks[i] : blocks[i];
    }
    return std::abs(sum);
  };
  double reached = 0;
  for (unsigned signs = 0; signs < 1U << blocks.size(); ++signs) {
    reached += sum_of(signs) >= sum_of(0) - 1e-11 ? 1 : 0;
  }
  return reached / static_cast<double>(1U << blocks.size());
}

stats::Interval plain_interval(const std::vector<std::vector<double>>& cells, const Comparison& comparison) {
  const auto rows = cells.size();
  const auto columns = cells.front().size();
  std::vector<double> means;
  for (std::size_t replicate = 0; replicate < static_cast<std::size_t>(comparison.replicates); ++replicate) {
    std::vector<double> drawn;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const auto row = base::random_below(rows, seed_of_all, (std::uint64_t{1} << 40U) ^ replicate, i);
        const auto column = base::random_below(columns, seed_of_all, (std::uint64_t{2} << 40U) ^ replicate, j);
        if (!std::isnan(cells[row][column])) {
          drawn.push_back(cells[row][column]);
        }
      }
    }
    means.push_back(mean_of(drawn));
  }
  auto interval = stats::percentile_interval(means, comparison.confidence);
  if (interval.reason == stats::Reason::ok) {
    std::erase_if(means, [](double mean) { return std::isnan(mean); });
    std::tie(interval.low, interval.high) =
        plain_ends(cells, means, interval.low, interval.high, comparison.confidence);
  }
  return interval;
}

/// Names of the blocks that both sides have, in the order of templates.
std::vector<std::string> block_names(const Table& table, const Case& one) {
  const auto& names = one.by_pair ? table.axes[2].coordinates[1].values : table.axes[2].labels;
  const auto has = [&](const PlainSide& side, const std::string& name) {
    for (std::size_t t = 0; t < names.size(); ++t) {
      if (names[t] == name && side[1](t)) {
        return true;
      }
    }
    return false;
  };
  std::vector<std::string> blocks;
  for (const auto& name : names) {
    if (!name.empty() && std::ranges::find(blocks, name) == blocks.end() && has(one.left, name) &&
        (!one.right || has(*one.right, name))) {
      blocks.push_back(name);
    }
  }
  return blocks;
}

/// Left and right of every [block][column]; 0 on the right of a contrast with zero.
std::vector<std::vector<std::pair<double, double>>> plain_cells(const Table& table, const Case& one,
                                                                const Place& place) {
  const auto& names = one.by_pair ? table.axes[2].coordinates[1].values : table.axes[2].labels;
  const auto num_columns = one.same_rephrasings ? table.length(3) : 1;
  std::vector<std::vector<std::pair<double, double>>> cells;
  for (const auto& name : block_names(table, one)) {
    auto& row = cells.emplace_back();
    for (std::size_t column = 0; column < num_columns; ++column) {
      const auto in_cell = [&](std::size_t, std::size_t t, std::size_t r) {
        return names[t] == name && (!one.same_rephrasings || r == column);
      };
      row.emplace_back(mean_of(scores_where(table, place, one.left, in_cell)),
                       one.right ? mean_of(scores_where(table, place, *one.right, in_cell)) : 0);
    }
  }
  return cells;
}

double plain_subjects(const Table& table, const Case& one, const Place& place) {
  const auto& names = one.by_pair ? table.axes[2].coordinates[1].values : table.axes[2].labels;
  const auto blocks = block_names(table, one);
  const auto means = [&](const PlainSide& side) {
    std::vector<double> found;
    for (std::size_t subject = 0; subject < table.length(1); ++subject) {
      const auto mean = mean_of(scores_where(table, place, side, [&](std::size_t s, std::size_t t, std::size_t) {
        return s == subject && std::ranges::find(blocks, names[t]) != blocks.end();
      }));
      if (!std::isnan(mean)) {
        found.push_back(mean);
      }
    }
    return found;
  };
  return one.right && !one.same_subjects ? plain_relabelling(means(one.left), means(*one.right)) : nan;
}

Plain plain_row(const Table& table, const Case& one, const Place& place, const Comparison& comparison) {
  Plain plain;
  auto& row = plain.row;
  row.contrast = one.name;
  row.measure = table.axes[0].labels[place.measure];
  row.item = table.axes[5].labels[place.item];
  auto names = block_names(table, one);
  std::ranges::sort(names);
  for (const auto& name : names) {
    plain.key += name + ' ';
  }
  std::vector<double> left;
  std::vector<double> right;
  std::vector<double> means;
  std::vector<std::vector<double>> differences;
  for (const auto& block : plain_cells(table, one, place)) {
    std::vector<double> present;
    auto& all_columns = differences.emplace_back();
    for (const auto& [on_left, on_right] : block) {
      all_columns.push_back(on_left - on_right);
      ++row.num_possible;
      if (!std::isnan(on_left - on_right)) {
        left.push_back(on_left);
        right.push_back(on_right);
        present.push_back(on_left - on_right);
      }
    }
    plain.blocks.push_back(present.empty() ? 0 : mean_of(present) * static_cast<double>(present.size()));
    if (!present.empty()) {
      means.push_back(mean_of(present));
    }
  }
  row.num_templates = static_cast<std::int32_t>(means.size());
  row.num_cells = static_cast<std::int32_t>(left.size());
  for (std::size_t column = 0; !differences.empty() && column < differences.front().size(); ++column) {
    const auto is_there = [&](const auto& block) { return !std::isnan(block[column]); };
    row.num_rephrasings += std::ranges::any_of(differences, is_there) ? 1 : 0;
  }
  if (left.empty()) {
    return plain;
  }
  row.left = mean_of(left);
  row.right = mean_of(right);
  row.difference = row.left - row.right;
  row.p_subjects = plain_subjects(table, one, place);
  row.reason = stats::Reason::too_few;
  if (means.size() > 1) {
    double squares = 0;
    for (const double mean : means) {
      squares += (mean - mean_of(means)) * (mean - mean_of(means));
    }
    const double deviation = std::sqrt(squares / static_cast<double>(means.size() - 1));
    row.effect = deviation > 1e-12 ? mean_of(means) / deviation : nan;
    row.p = row.p_low = row.p_high = plain_flips(plain.blocks);
    const auto interval = plain_interval(differences, comparison);
    row.low = interval.low;
    row.high = interval.high;
    row.reason = interval.reason;
  }
  return plain;
}

/// Adjusted p of a family, each by its textbook formula.
void plain_adjust(std::vector<Plain*>& family, const Comparison& comparison) {
  std::ranges::stable_sort(family, [](auto* a, auto* b) { return a->row.p < b->row.p; });
  const auto m = static_cast<double>(family.size());
  double harmonic = 0;
  double largest = 0;
  for (std::size_t i = 0; i < family.size(); ++i) {
    harmonic += 1 / static_cast<double>(i + 1);
    largest = std::max(largest, (m - static_cast<double>(i)) * family[i]->row.p);
    family[i]->row.p_holm = std::min(1.0, largest);
  }
  double smallest = HUGE_VAL;
  for (auto i = family.size(); i-- > 0;) {
    smallest = std::min(smallest, family[i]->row.p * m / static_cast<double>(i + 1));
    family[i]->row.p_hochberg = std::min(1.0, smallest);
    family[i]->row.p_yekutieli = std::min(1.0, smallest * harmonic);
  }
  std::vector<double> sums;
  for (const auto* one : family) {
    if (one->key != family.front()->key) {
      return;
    }
    sums.insert(sums.end(), one->blocks.begin(), one->blocks.end());
  }
  const auto adjusted =
      stats::sign_flip_max_t(sums, family.front()->blocks.size(),
                             {.seed = seed_of_all, .draws = static_cast<std::uint64_t>(comparison.draws)});
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->row.p_max_t = std::isnan(adjusted[i]) ? family[i]->row.p : std::max(family[i]->row.p, adjusted[i]);
  }
}

std::vector<Plain> plain_rows(const Table& table, const std::vector<Case>& cases, const Comparison& comparison) {
  std::vector<Plain> rows;
  for (std::size_t measure = 0; measure < table.length(0); ++measure) {
    for (const auto& one : cases) {
      for (std::size_t item = 0; (one.contrast.measures.empty() || measure == 1) && item < table.length(5); ++item) {
        rows.push_back(plain_row(table, one, {measure, item}, comparison));
      }
    }
  }
  std::map<std::string, std::vector<Plain*>> families;
  for (auto& one : rows) {
    const auto& row = one.row;
    const auto family = comparison.family == Comparison::Family::all       ? ""
                        : comparison.family == Comparison::Family::measure ? row.measure
                                                                           : row.contrast + '/' + row.measure;
    if (!std::isnan(row.p)) {
      families[family].push_back(&one);
    }
  }
  for (auto& [name, family] : families) {
    plain_adjust(family, comparison);
  }
  return rows;
}

void expect_same(double found, double expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << what << ' ' << found;
  } else {
    EXPECT_NEAR(found, expected, 1e-11 * std::max(1.0, std::abs(expected))) << what;
  }
}

constexpr std::pair<const char*, double ContrastRow::*> numbers[] = {{"left", &ContrastRow::left},
                                                                     {"right", &ContrastRow::right},
                                                                     {"difference", &ContrastRow::difference},
                                                                     {"low", &ContrastRow::low},
                                                                     {"high", &ContrastRow::high},
                                                                     {"effect", &ContrastRow::effect},
                                                                     {"p", &ContrastRow::p},
                                                                     {"p_low", &ContrastRow::p_low},
                                                                     {"p_high", &ContrastRow::p_high},
                                                                     {"p_subjects", &ContrastRow::p_subjects},
                                                                     {"p_max_t", &ContrastRow::p_max_t},
                                                                     {"p_holm", &ContrastRow::p_holm},
                                                                     {"p_hochberg", &ContrastRow::p_hochberg},
                                                                     {"p_yekutieli", &ContrastRow::p_yekutieli}};

Comparison comparison_of(const std::vector<Case>& cases, Comparison::Family family) {
  Comparison comparison;
  comparison.family = family;
  comparison.confidence = 0.9;
  comparison.replicates = 100;
  comparison.draws = 200;
  for (const auto& one : cases) {
    if (comparison.contrasts.empty() || comparison.contrasts.back().name != one.contrast.name) {
      comparison.contrasts.push_back(one.contrast);
    }
  }
  return comparison;
}

void check_table(std::uint64_t seed, const std::vector<Case>& cases) {
  constexpr double missing[] = {0, 0.1, 0.6, 0.97};
  const auto table = make_table(seed, 2 + seed % 3, 2 + seed / 3 % 2, missing[seed % 4]);
  const auto comparison = comparison_of(cases, static_cast<Comparison::Family>(seed / 4 % 3));
  const auto rows = compare(table.scores(), comparison, seed_of_all);
  const auto expected = plain_rows(table, cases, comparison);
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const auto& plain = expected[i].row;
    const auto where = std::to_string(seed) + " " + row.contrast + " " + row.measure + " " + row.item + " ";
    ASSERT_EQ(where, std::to_string(seed) + " " + plain.contrast + " " + plain.measure + " " + plain.item + " ");
    EXPECT_EQ(row.num_templates, plain.num_templates) << where;
    EXPECT_EQ(row.num_rephrasings, plain.num_rephrasings) << where;
    EXPECT_EQ(row.num_cells, plain.num_cells) << where;
    EXPECT_EQ(row.num_possible, plain.num_possible) << where;
    EXPECT_EQ(row.reason, plain.reason) << where;
    for (const auto& [name, field] : numbers) {
      expect_same(row.*field, plain.*field, where + name);
    }
    for (const auto field :
         {&ContrastRow::p_max_t, &ContrastRow::p_holm, &ContrastRow::p_hochberg, &ContrastRow::p_yekutieli}) {
      EXPECT_FALSE(row.*field < row.p) << where;
    }
  }
}

TEST(Contrasts, AreThoseOfThePlainDefinitions) {
  const auto cases = all_cases();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    check_table(seed, cases);
  }
}

TEST(Contrasts, OneContrastAloneHasAMaxTOfAllItsMeasures) {
  for (const auto& one : all_cases()) {
    if (one.contrast.each.empty()) {
      for (std::uint64_t seed = 100; seed < 104; ++seed) {
        check_table(seed, {one});
      }
    }
  }
}

TEST(Contrasts, NoPDependsOnTheUnitOfTheScores) {
  const Comparison comparison{.contrasts = {{.name = "pairs",
                                             .left = {{"subject", {"s0", "s1", "s2"}}},
                                             .right = {{"subject", {"s3", "s4", "s5"}}},
                                             .against = Contrast::Against::selected}},
                              .draws = 100};
  auto table = make_table(7, 4, 2, 0);
  const auto rows = compare(table.scores(), comparison, 1);
  std::ranges::for_each(table.values, [](double& value) { value = std::ldexp(value, -60); });  // about 1e-18
  const auto tiny = compare(table.scores(), comparison, 1);
  for (std::size_t place = 0; place < rows.size(); ++place) {
    EXPECT_EQ(tiny[place].p, rows[place].p);
    EXPECT_EQ(tiny[place].p_subjects, rows[place].p_subjects);
    EXPECT_EQ(tiny[place].p_max_t, rows[place].p_max_t);
    EXPECT_EQ(tiny[place].effect, rows[place].effect);
  }
  EXPECT_TRUE(std::ranges::any_of(rows, [](const auto& row) { return row.p_subjects < 1; }));
}

TEST(Contrasts, EqualScoresDifferInNoTemplate) {
  auto table = make_table(3, 6, 3, 0.3);  // sides of different numbers of scores, so that sums are rounded differently
  std::ranges::for_each(table.values, [](double& value) { value = std::isnan(value) ? nan : 0.1; });
  const Contrast groups{.name = "groups",
                        .left = {{"subject", {"s0", "s1"}}},
                        .right = {{"subject.domain", {"race"}}},
                        .against = Contrast::Against::selected};
  auto interaction = groups;
  interaction.name = "interaction";
  interaction.minus.emplace(Contrast::Minus{.left = {{"subject", {"s4"}}}, .right = {{"subject", {"s1", "s5"}}}});
  interaction.minus->against = Contrast::Against::selected;
  for (const auto& row : compare(table.scores(), {.contrasts = {groups, interaction}, .draws = 100}, 1)) {
    EXPECT_GT(row.num_templates, 4);
    EXPECT_EQ(row.difference, 0);
    EXPECT_EQ(row.p, 1);
    EXPECT_EQ(row.p_max_t, 1);
    EXPECT_TRUE(std::isnan(row.effect));
    EXPECT_EQ(row.low, 0);
    EXPECT_EQ(row.high, 0);
  }
}

std::string complaint(const Table& table, const std::vector<Contrast>& contrasts) {
  try {
    compare(table.scores(), {.contrasts = contrasts}, 1);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

TEST(Contrasts, AllFaultsStandInOneError) {
  const auto table = make_table(1, 3, 2, 0);
  const auto report = complaint(
      table, {{.name = "a", .left = {{"subjct", {"s0"}}}, .right = {{"subject", {"s9"}}}, .measures = {"m7"}},
              {.name = "b", .left = {{"template.stereotype", {"pro"}}}, .right = {{"template.stereotype", {"anti"}}}},
              {.name = "c", .left = {{"subject", {"s0"}}}, .right = {{"subject", {"s1"}}}, .paired = "subject.kind"},
              {.name = "d", .left = {{"subject.domain", {"rase"}}}, .right = {}, .each = "template.kind"},
              {.name = "e", .left = {{"item", {"i0"}}}, .right = {}, .each = "subject", .paired = "template.pare"}});
  for (const auto* fault :
       {"'a': no axis or coordinate 'subjct' (the score table has none) did you mean 'subject'?",
        "'a': no 's9' on subject", "'a': no measure 'm7'", "'b': left and right are of different templates",
        "Give 'paired: template.COORDINATE'.", "'c': 'paired: subject.kind' names no templates",
        "'d': no axis or coordinate 'template.kind'", "'d': no 'rase' on subject.domain", "did you mean 'race'?",
        "'e': no axis or coordinate 'item'", "'e': no axis or coordinate 'template.pare'", "mean 'template.pair'?"}) {
    EXPECT_THAT(report, HasSubstr(fault));
  }
  EXPECT_EQ(std::ranges::count(report, '\n'), 8) << report;  // each fault once
}

TEST(Contrasts, CasesWithoutAnIntervalSayWhy) {
  const Contrast first{.name = "x", .left = {{"subject", {"s0"}}}, .right = {{"subject", {"s1"}}}};
  auto table = make_table(5, 3, 2, 0);
  const auto only = [&](const std::vector<std::size_t>& sentences) {
    auto copy = table;
    const auto sentence_size = copy.length(3) * copy.length(4) * copy.length(5);
    for (std::size_t i = 0; i < copy.values.size(); ++i) {
      const auto sentence = i / sentence_size % copy.length(2);
      copy.values[i] = std::ranges::find(sentences, sentence) == sentences.end() ? nan : copy.values[i];
    }
    return compare(copy.scores(), {.contrasts = {first}}, 1).front();
  };
  EXPECT_EQ(only({}).reason, stats::Reason::no_values);
  EXPECT_TRUE(std::isnan(only({}).difference) && std::isnan(only({}).p_holm));
  EXPECT_EQ(only({2}).reason, stats::Reason::too_few);
  EXPECT_FALSE(std::isnan(only({2}).difference));
  EXPECT_TRUE(std::isnan(only({2}).p) && std::isnan(only({2}).low));
  EXPECT_EQ(only({1, 4}).num_templates, 2);
  EXPECT_EQ(only({1, 4}).p, only({1, 4}).p_low);
  // two selections that have no subject in common
  auto nobody = first;
  nobody.left.push_back({"subject.domain", {"race"}});
  const auto row = compare(table.scores(), {.contrasts = {nobody}}, 1).front();
  EXPECT_EQ(row.reason, stats::Reason::no_values);
  EXPECT_EQ(row.num_cells, 0);
  // the same subject on both sides: no difference anywhere
  auto same = first;
  same.right = same.left;
  const auto zero = compare(table.scores(), {.contrasts = {same}}, 1).front();
  EXPECT_EQ(zero.reason, stats::Reason::ok);
  EXPECT_EQ(zero.difference, 0);
  EXPECT_EQ(zero.low, 0);
  EXPECT_EQ(zero.high, 0);
  EXPECT_TRUE(std::isnan(zero.effect));
  EXPECT_EQ(zero.p, 1);
  EXPECT_EQ(zero.p_max_t, 1);
  EXPECT_TRUE(compare(table.scores(), {}, 1).empty());
}

TEST(Contrasts, MoreTemplatesThanCanBeCountedAreDrawn) {
  const auto table = make_table(4, 24, 1, 0);  // 48 templates
  const Contrast first{.name = "x", .left = {{"subject", {"s0"}}}, .right = {{"subject", {"s1"}}}};
  for (const auto& row : compare(table.scores(), {.contrasts = {first}, .draws = 5000}, 3)) {
    EXPECT_EQ(row.num_templates, 48);
    EXPECT_LT(row.p_low, row.p);
    EXPECT_GT(row.p_high, row.p);
    EXPECT_GE(row.p_max_t, row.p);
  }
}

}  // namespace
}  // namespace stereosweep::findings
