#include "findings/contrasts/Contrasts.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "stats/CrossedTable.hpp"
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

/// Mean of a subject's cells of a side where `takes` says so of (template, rephrasing); a cell averages replicates.
template <class TakesPlace>
double subject_mean(const Table& table, const Place& place, const PlainSide& side, std::size_t s, TakesPlace takes) {
  std::vector<double> found;
  for (std::size_t t = 0; t < table.length(2); ++t) {
    for (std::size_t r = 0; r < table.length(3); ++r) {
      std::vector<double> cell;
      for (std::size_t k = 0; k < table.length(4); ++k) {
        const double value = table.at({place.measure, s, t, r, k, place.item});
        if (side[0](s) && side[1](t) && side[2](r) && side[3](k) && takes(t, r) && !std::isnan(value)) {
          cell.push_back(value);
        }
      }
      if (!cell.empty()) {
        found.push_back(mean_of(cell));
      }
    }
  }
  return mean_of(found);
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

/// Scores of one subject on one side, [block x columns + column].
struct PlainUnit {
  bool is_left = true;
  std::size_t subject = 0;
  std::vector<double> cells;
};

std::vector<PlainUnit> plain_units(const Table& table, const Case& one, const Place& place) {
  const auto& names = one.by_pair ? table.axes[2].coordinates[1].values : table.axes[2].labels;
  const auto num_columns = one.same_rephrasings ? table.length(3) : 1;
  std::vector<PlainUnit> units;
  const auto add = [&](const PlainSide& side, bool is_left) {
    for (std::size_t subject = 0; subject < table.length(1); ++subject) {
      if (!side[0](subject)) {
        continue;
      }
      PlainUnit unit{is_left, subject, {}};
      for (const auto& name : block_names(table, one)) {
        for (std::size_t column = 0; column < num_columns; ++column) {
          unit.cells.push_back(subject_mean(table, place, side, subject, [&](std::size_t t, std::size_t r) {
            return names[t] == name && (!one.same_rephrasings || r == column);
          }));
        }
      }
      units.push_back(std::move(unit));
    }
  };
  add(one.left, true);
  if (one.right) {
    add(*one.right, false);
  }
  return units;
}

/// Numbers that complete tables have by plain means. Rows of tables that lack cells are held against other properties.
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
  const auto units = plain_units(table, one, place);
  const auto num_columns = one.same_rephrasings ? table.length(3) : 1;
  const auto num_cells = names.size() * num_columns;
  const auto mean_where = [&](bool is_left, auto read) {
    std::vector<double> found;
    for (const auto& unit : units) {
      if (unit.is_left == is_left) {
        found.push_back(read(unit));
      }
    }
    return found.empty() ? 0 : mean_of(found);
  };
  std::vector<double> lefts;
  std::vector<double> rights;
  std::vector<double> differences;
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    const auto read = [&](const PlainUnit& unit) { return unit.cells[cell]; };
    lefts.push_back(mean_where(true, read));
    rights.push_back(mean_where(false, read));
    differences.push_back(lefts.back() - rights.back());
  }
  std::vector<double> means;
  for (std::size_t block = 0; block < names.size(); ++block) {
    const auto first = differences.begin() + static_cast<std::ptrdiff_t>(block * num_columns);
    means.push_back(mean_of({first, first + static_cast<std::ptrdiff_t>(num_columns)}));
    plain.blocks.push_back(means.back() * static_cast<double>(num_columns));
  }
  row.num_templates = static_cast<std::int32_t>(names.size());
  row.num_rephrasings = static_cast<std::int32_t>(num_columns);
  row.num_cells = row.num_possible = static_cast<std::int32_t>(num_cells);
  row.left = mean_of(lefts);
  row.right = mean_of(rights);
  row.difference = row.left - row.right;
  std::vector<std::vector<double>> groups(2);
  std::map<std::size_t, double> paired;
  for (const auto& unit : units) {
    groups[unit.is_left ? 0 : 1].push_back(mean_of(unit.cells));
    paired[unit.subject] += (unit.is_left ? 1 : -1) * mean_of(unit.cells);
  }
  if (one.same_subjects) {
    groups = {{}};
    for (const auto& [subject, part] : paired) {
      groups.front().push_back(part);
    }
  } else if (!one.right) {
    groups.pop_back();
  }
  row.over_subjects = stats::test_mean(row.difference, stats::error_of_group_means(groups), comparison.confidence);
  row.reason = stats::Reason::too_few;
  if (means.size() > 1) {
    double squares = 0;
    for (const double mean : means) {
      squares += (mean - mean_of(means)) * (mean - mean_of(means));
    }
    const double deviation = std::sqrt(squares / static_cast<double>(means.size() - 1));
    row.effect = deviation > 1e-12 ? mean_of(means) / deviation : nan;
    row.flip.two_sided = row.flip.interval.low = row.flip.interval.high = plain_flips(plain.blocks);
    const auto error = stats::crossed_squares(differences, num_columns).error();
    const auto test = stats::test_mean(row.difference, error, comparison.confidence);
    row.low = test.low;
    row.high = test.high;
    row.p = test.p;
    row.degrees = error.degrees;
    row.reason = stats::Reason::ok;
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
    family[i]->row.p_benjamini_hochberg = std::min(1.0, smallest);
    family[i]->row.p_yekutieli = std::min(1.0, smallest * harmonic);
  }
  std::vector<double> sums;
  for (const auto* one : family) {
    if (one->key != family.front()->key) {
      return;
    }
    sums.insert(sums.end(), one->blocks.begin(), one->blocks.end());
  }
  const stats::SignFlipMaxT tests(sums, family.front()->blocks.size(),
                                  {.seed = seed_of_all, .draws = static_cast<std::uint64_t>(comparison.draws)});
  const auto adjusted = tests.adjusted(tests.reached(0, 1));
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->row.p_flip_max_t =
        std::isnan(adjusted[i]) ? family[i]->row.flip.two_sided : std::max(family[i]->row.flip.two_sided, adjusted[i]);
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

const std::pair<const char*, std::function<double(const ContrastRow&)>> numbers[] = {
    {"left", &ContrastRow::left},
    {"right", &ContrastRow::right},
    {"difference", &ContrastRow::difference},
    {"low", &ContrastRow::low},
    {"high", &ContrastRow::high},
    {"effect", &ContrastRow::effect},
    {"p", &ContrastRow::p},
    {"degrees", &ContrastRow::degrees},
    {"p_flip", [](const ContrastRow& row) { return row.flip.two_sided; }},
    {"p_flip_low", [](const ContrastRow& row) { return row.flip.interval.low; }},
    {"p_flip_high", [](const ContrastRow& row) { return row.flip.interval.high; }},
    {"p_subjects", [](const ContrastRow& row) { return row.over_subjects.p; }},
    {"subjects_low", [](const ContrastRow& row) { return row.over_subjects.low; }},
    {"subjects_high", [](const ContrastRow& row) { return row.over_subjects.high; }},
    {"p_flip_max_t", &ContrastRow::p_flip_max_t},
    {"p_holm", &ContrastRow::p_holm},
    {"p_benjamini_hochberg", &ContrastRow::p_benjamini_hochberg},
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
  const auto table = make_table(seed, 2 + seed % 3, 2 + seed / 3 % 2, 0);
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
      expect_same(field(row), field(plain), where + name);
    }
    for (const auto field : {&ContrastRow::p_holm, &ContrastRow::p_benjamini_hochberg, &ContrastRow::p_yekutieli}) {
      EXPECT_FALSE(row.*field < row.p) << where;
    }
    EXPECT_FALSE(row.p_flip_max_t < row.flip.two_sided) << where;
  }
}

TEST(Contrasts, AreThoseOfThePlainDefinitions) {
  const auto cases = all_cases();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    check_table(seed, cases);
  }
}

/// Effects of subjects, and what each subject lacks.
struct Uneven {
  std::vector<double> subjects;
  std::vector<std::vector<std::size_t>> missing;  ///< [subject]: templates
};

/// Subject + template + rephrasing, without a rest: one measure, one item, one replicate.
Table additive_table(const Uneven& uneven) {
  Table table;
  table.axes = {numbered("measure", "m", 1),   numbered("subject", "s", uneven.subjects.size()),
                numbered("template", "t", 6),  numbered("rephrasing", "r", 3),
                numbered("replicate", "k", 1), numbered("item", "i", 1)};
  for (std::size_t s = 0; s < uneven.subjects.size(); ++s) {
    for (std::size_t t = 0; t < 6; ++t) {
      const bool is_missing = std::ranges::find(uneven.missing[s], t) != uneven.missing[s].end();
      for (std::size_t r = 0; r < 3; ++r) {
        const double value = uneven.subjects[s] + std::pow(static_cast<double>(t), 2) - 0.5 * static_cast<double>(r);
        table.values.push_back(is_missing ? nan : value);
      }
    }
  }
  return table;
}

Contrast kinds() {
  return {.name = "kinds", .left = {{"subject", {"s0", "s1"}}}, .right = {{"subject", {"s2", "s3", "s4"}}}};
}

TEST(Contrasts, UnequalCompositionMakesNoDifference) {
  const Uneven uneven{{1, -1, 3, -3, 0}, {{0, 1, 2}, {}, {5}, {}, {2, 4}}};
  const auto table = additive_table(uneven);
  auto contrast = kinds();
  contrast.right = {{"subject", {"s2", "s3", "s4"}}};
  const auto adjusted = compare(table.scores(), {.contrasts = {contrast}}, 1).front();
  EXPECT_NEAR(adjusted.difference, 0, 1e-12);
  EXPECT_EQ(adjusted.num_subjects, 5);
  EXPECT_EQ(adjusted.num_left_out, 0);
  EXPECT_EQ(adjusted.num_missing, 18);
  EXPECT_EQ(adjusted.num_cells, 18);
  contrast.cells = Contrast::Cells::all;
  EXPECT_GT(std::abs(compare(table.scores(), {.contrasts = {contrast}}, 1).front().difference), 0.1);
  contrast.cells = Contrast::Cells::common;
  const auto common = compare(table.scores(), {.contrasts = {contrast}}, 1).front();
  EXPECT_NEAR(common.difference, 0, 1e-12);
  EXPECT_EQ(common.num_cells, 3);  // template 3
}

TEST(Contrasts, SubjectsThatCannotBeComparedAreLeftOutAndCounted) {
  const Uneven uneven{{1, 5, 0, 2, 4}, {{0, 1, 2}, {}, {3, 4, 5}, {}, {0, 1, 2, 3, 4, 5}}};
  const auto row = compare(additive_table(uneven).scores(), {.contrasts = {kinds()}}, 1).front();
  EXPECT_NEAR(row.difference, (1 + 5) / 2.0 - (0 + 2) / 2.0, 1e-12);
  EXPECT_EQ(row.num_left_out, 1);
  const Uneven apart{{1, 5, 0, 2, 4}, {{3, 4, 5}, {3, 4, 5}, {0, 1, 2}, {0, 1, 2}, {0, 1, 2}}};
  EXPECT_EQ(compare(additive_table(apart).scores(), {.contrasts = {kinds()}}, 1).front().reason,
            stats::Reason::no_values);
}

/// Least squares of subject on a side + cell, by many rounds of averaging.
TEST(Contrasts, AdjustedDifferencesAreThoseOfLeastSquares) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto one = all_cases()[seed % 2 == 0 ? 0 : 12];
    const auto table = make_table(seed + 5, 5, 2, 0.15);
    const auto comparison = comparison_of({one}, Comparison::Family::all);
    for (const auto& row : compare(table.scores(), comparison, 1)) {
      const auto item = static_cast<std::size_t>(row.item.back() - '0');
      const auto measure = static_cast<std::size_t>(row.measure.back() - '0');
      const auto units = plain_units(table, one, {measure, item});
      if (row.num_left_out > 0 || row.num_cells < row.num_possible || row.num_missing == 0) {
        continue;
      }
      std::vector<double> effects(units.size(), 0);
      for (int round = 0; round < 3000; ++round) {
        std::vector<double> cells(units.front().cells.size());
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
          std::vector<double> rests;
          for (std::size_t unit = 0; unit < units.size(); ++unit) {
            if (!std::isnan(units[unit].cells[cell])) {
              rests.push_back(units[unit].cells[cell] - effects[unit]);
            }
          }
          cells[cell] = mean_of(rests);
        }
        for (std::size_t unit = 0; unit < units.size(); ++unit) {
          std::vector<double> rests;
          for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            if (!std::isnan(units[unit].cells[cell])) {
              rests.push_back(units[unit].cells[cell] - cells[cell]);
            }
          }
          effects[unit] = mean_of(rests);
        }
      }
      std::array<std::vector<double>, 2> sides;
      for (std::size_t unit = 0; unit < units.size(); ++unit) {
        sides[units[unit].is_left ? 0 : 1].push_back(effects[unit]);
      }
      EXPECT_NEAR(row.difference, mean_of(sides[0]) - mean_of(sides[1]), 1e-9) << seed;
    }
  }
}

TEST(Contrasts, PAndIntervalOfARowNeverContradictEachOther) {
  const auto cases = all_cases();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    constexpr double missing[] = {0, 0.1, 0.6, 0.97};
    const auto table = make_table(seed, 2 + seed % 7, 2 + seed / 3 % 3, missing[seed % 4]);
    const auto comparison = comparison_of(cases, Comparison::Family::measure);
    for (const auto& row : compare(table.scores(), comparison, 1)) {
      EXPECT_EQ(std::isnan(row.low), row.reason != stats::Reason::ok);
      if (row.reason == stats::Reason::ok) {
        EXPECT_EQ(row.p<1 - comparison.confidence, row.low> 0 || row.high < 0);
        EXPECT_NEAR(row.left - row.right, row.difference, 1e-12);
      }
      if (!std::isnan(row.over_subjects.p)) {
        EXPECT_EQ(row.over_subjects.p<1 - comparison.confidence, row.over_subjects.low> 0 ||
                  row.over_subjects.high < 0);
      }
    }
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
    EXPECT_NEAR(tiny[place].p, rows[place].p, 1e-12);
    EXPECT_NEAR(tiny[place].over_subjects.p, rows[place].over_subjects.p, 1e-12);
    EXPECT_EQ(tiny[place].p_flip_max_t, rows[place].p_flip_max_t);
    EXPECT_EQ(tiny[place].effect, rows[place].effect);
  }
  EXPECT_TRUE(std::ranges::any_of(rows, [](const auto& row) { return row.over_subjects.p < 1; }));
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
    EXPECT_EQ(row.p_flip_max_t, 1);
    EXPECT_EQ(row.reason, stats::Reason::constant);
    EXPECT_TRUE(std::isnan(row.effect) && std::isnan(row.low) && std::isnan(row.high));
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
       {"'a': no axis or coordinate 'subjct' (the score table has none). Did you mean 'subject'?",
        "'a': no 's9' on subject", "'a': no measure 'm7'", "'b': left and right are of different templates",
        "Give 'paired: template.COORDINATE'.", "'c': 'paired: subject.kind' names no templates",
        "'d': no axis or coordinate 'template.kind'", "'d': no 'rase' on subject.domain", "Did you mean 'race'?",
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
  EXPECT_EQ(only({1, 4}).flip.two_sided, only({1, 4}).flip.interval.low);
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
  EXPECT_EQ(zero.reason, stats::Reason::constant);
  EXPECT_EQ(zero.difference, 0);
  EXPECT_TRUE(std::isnan(zero.low) && std::isnan(zero.high) && std::isnan(zero.effect));
  EXPECT_EQ(zero.p, 1);
  EXPECT_EQ(zero.p_flip_max_t, 1);
  EXPECT_TRUE(compare(table.scores(), {}, 1).empty());
}

TEST(Contrasts, MoreTemplatesThanCanBeCountedAreDrawn) {
  const auto table = make_table(4, 24, 1, 0);  // 48 templates
  const Contrast first{.name = "x", .left = {{"subject", {"s0"}}}, .right = {{"subject", {"s1"}}}};
  for (const auto& row : compare(table.scores(), {.contrasts = {first}, .draws = 5000}, 3)) {
    EXPECT_EQ(row.num_templates, 48);
    EXPECT_LT(row.flip.interval.low, row.flip.two_sided);
    EXPECT_GT(row.flip.interval.high, row.flip.two_sided);
    EXPECT_GE(row.p_flip_max_t, row.flip.two_sided);
  }
}

}  // namespace
}  // namespace stereosweep::findings
