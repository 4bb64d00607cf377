#include "findings/contrasts/Contrasts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "base/Lists.hpp"
#include "findings/contrasts/ComparedCells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/PValues.hpp"
#include "stats/permutation/SignFlip.hpp"

namespace stereosweep::findings {
namespace {

constexpr double rounding = 1e-12;           // templates' differences that vary by less are equal
constexpr std::size_t contrasts_a_rank = 4;  // where there are as many, each is computed by one rank

/// A row and the sums of its blocks, which flip.
struct Tested {
  ContrastRow row;
  std::vector<double> blocks;
  std::string blocks_key;
  std::string family;
};
/// What the ranks tell each other.
template <base::Either<Tested> Row>
auto fields_of(Row& tested) {
  using Numbers = std::conditional_t<std::is_const_v<Row>, const ContrastNumbers, ContrastNumbers>;
  return std::tie(static_cast<Numbers&>(tested.row), tested.blocks);
}

class Comparer {
 public:
  Comparer(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
      : scores_(scores), comparison_(comparison), seed_(seed) {}

  /// Collective. Ranks share the contrasts; where these are few, the items of each.
  void add(std::span<const ContrastPlan* const> plans, std::size_t measure, std::span<const double> values) {
    const auto& items = scores_.axes[item_axis]->labels;
    const bool is_many = plans.size() >= contrasts_a_rank * static_cast<std::size_t>(scores_.ranks.size());
    const auto together = is_many ? items.size() : 1;
    const auto parts = items.size() / together;
    const ContrastPlan* last = nullptr;
    const auto in_score = scores_.read_statuses ? answers_in_score(*scores_.axes[measure_axis], measure) : -1;
    const auto statuses = in_score > 0 ? scores_.read_statuses(measure) : std::vector<std::uint8_t>();
    std::optional<ComparedMeans> means;
    auto units = share<Tested>(scores_.ranks, plans.size() * parts, [&](std::size_t unit) {
      const ContrastPlan& plan = *plans[unit / parts];
      if (last != &plan) {
        means.emplace(scores_, plan, values, statuses, in_score);
        last = &plan;
      }
      std::vector<Tested> rows;
      for (auto item = unit % parts * together; item < (unit % parts + 1) * together; ++item) {
        rows.push_back(test(plan, measure, *means, item));
        rows.back().row.num_answers = in_score < 0 ? -1 : means->num_answers(item);
      }
      return rows;
    });
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      const ContrastPlan& plan = *plans[unit / parts];
      for (std::size_t place = 0; place < together; ++place) {
        auto& tested = tested_.emplace_back(std::move(units[unit][place]));
        const auto item = unit % parts * together + place;
        tested.row.contrast = plan.name;
        tested.row.measure = scores_.axes[measure_axis]->labels[measure];
        tested.row.item = items[item];
        tested.row.left_subjects = subjects_of(plan, 1);
        tested.row.right_subjects = subjects_of(plan, -1);
        tested.row.claim =
            claim_of(plan.words, tested.row.measure, *scores_.axes[item_axis], item, tested.row.difference > 0);
        tested.blocks_key = plan.blocks_key;
        tested.family = family_of(plan.name, tested.row.measure, comparison_.family);
      }
    }
  }

  std::vector<ContrastRow> take() {
    adjust();
    return base::mapped(tested_, &Tested::row);
  }

 private:
  /// Of the sides whose means count with this sign.
  std::string subjects_of(const ContrastPlan& plan, int sign) const {
    constexpr std::size_t most = 6;
    std::vector<std::string> names;
    for (const auto& side : plan.sides) {
      for (std::size_t place = 0; side.sign() * sign > 0 && place < side.takes[0].size(); ++place) {
        if (side.takes[0][place]) {
          base::add_once(names, scores_.axes[subject_axis]->labels[place]);
        }
      }
    }
    return names.empty() ? "" : results::first_names(names, most);
  }

  /// The numbers of one row; its names are filled in by the caller.
  Tested test(const ContrastPlan& plan, std::size_t measure, const ComparedMeans& means, std::size_t item) const {
    Tested tested;
    auto& row = tested.row;
    const auto compared = means.of(item);
    row.left = compared.left;
    row.right = compared.right;
    row.difference = compared.difference;
    row.num_cells = compared.num_cells;
    row.num_subjects = compared.num_subjects;
    row.num_left_out = compared.num_left_out;
    row.num_missing = compared.num_missing;
    row.num_possible = static_cast<std::int32_t>(compared.differences.size());
    std::vector<double> block_means;
    std::vector<double> sums;  // of the blocks that have cells
    tested.blocks.assign(plan.num_blocks, 0);
    for (std::size_t block = 0; block < plan.num_blocks; ++block) {
      int present = 0;
      for (std::size_t column = 0; column < plan.num_columns; ++column) {
        const double difference = compared.differences[block * plan.num_columns + column];
        if (!std::isnan(difference)) {
          tested.blocks[block] += difference;
          ++present;
        }
      }
      if (present > 0) {
        block_means.push_back(tested.blocks[block] / present);
        sums.push_back(tested.blocks[block]);
      }
    }
    const auto squares = compared.squares(plan.num_columns);
    row.num_templates = static_cast<std::int32_t>(block_means.size());
    row.num_rephrasings = static_cast<std::int32_t>(squares.num_columns);
    if (row.num_cells == 0) {
      return tested;
    }
    test_subjects(compared, row);
    const auto ends = ends_of(*scores_.axes[measure_axis], measure);
    const auto scale =
        plan.sides.size() == 1 ? ends : std::nullopt;  // one side alone is tested as its mean (Means.hpp)
    static_cast<stats::CellsTest&>(row) = stats::test_cells(squares, row.difference, scale, comparison_.confidence);
    if (block_means.size() > 1) {
      test_blocks(block_means, sums, row);
    }
    if (ends) {
      keep_inside(plan.ends_of_differences(*ends), row);
    }
    return tested;
  }

  void test_blocks(const std::vector<double>& block_means, const std::vector<double>& sums, ContrastRow& row) const {
    const double mean = stats::mean(block_means).value;
    const double deviation = stats::standard_deviation(block_means).value;
    row.effect = deviation > rounding * std::abs(mean) ? mean / deviation : stats::nan;
    const auto flipped = stats::sign_flip_test(sums, flips());
    row.p_flip = flipped.two_sided;
    row.p_flip_low = flipped.interval.low;
    row.p_flip_high = flipped.interval.high;
  }

  void test_subjects(const ComparedItem& compared, ContrastRow& row) const {
    const auto test =
        stats::test_mean(row.difference, stats::error_of_group_means(compared.subjects), comparison_.confidence);
    row.p_subjects = test.p;
    row.subjects_low = test.low;
    row.subjects_high = test.high;
  }

  /// Of a difference that lies between these ends. Where 0 is one of them or beyond, nothing is tested: no score could
  /// be on its other side.
  static void keep_inside(const stats::ScaleEnds& ends, ContrastRow& row) {
    const auto inside = [&](double& number) {
      number = std::isnan(number) ? number : std::clamp(number, ends.lowest, ends.highest);
    };
    for (auto* number : {&row.low, &row.high, &row.subjects_low, &row.subjects_high}) {
      inside(*number);
    }
    if (ends.lowest >= 0 || ends.highest <= 0) {
      row.p_flip = row.p_flip_low = row.p_flip_high = row.p_subjects = stats::nan;
    }
  }

  stats::SignFlipSettings flips() const {
    return {
        .seed = seed_, .draws = static_cast<std::uint64_t>(comparison_.draws), .confidence = comparison_.confidence};
  }

  void adjust() {
    std::map<std::string, std::vector<Tested*>> families;
    for (auto& tested : tested_) {
      if (!std::isnan(tested.row.p_flip)) {
        families[tested.family].push_back(&tested);
      }
    }
    for (const auto& [name, members] : families) {
      adjust_family(members);
    }
  }

  void adjust_family(const std::vector<Tested*>& members) const {
    const auto put = [&](stats::Adjustment adjustment, double ContrastRow::*place) {
      stats::adjust_rows(
          members, [](const Tested* tested) { return tested->row.p; },
          [&](Tested* tested) -> double& { return tested->row.*place; }, adjustment);
    };
    put(stats::Adjustment::holm, &ContrastRow::p_holm);
    put(stats::Adjustment::benjamini_hochberg, &ContrastRow::p_benjamini_hochberg);
    put(stats::Adjustment::benjamini_yekutieli, &ContrastRow::p_yekutieli);
    const auto& key = members.front()->blocks_key;
    if (std::ranges::any_of(members, [&](const auto* tested) { return tested->blocks_key != key; })) {
      return;  // other templates: nothing to flip together
    }
    const auto sums = base::joined(members, &Tested::blocks);  // max-T takes draws x members x templates additions
    const auto adjusted = shared_max_t(scores_.ranks, sums, members.front()->blocks.size(), flips());
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->row.p_flip_max_t = std::max(members[i]->row.p_flip, adjusted[i]);
    }
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  std::uint64_t seed_;
  std::vector<Tested> tested_;
};

/// In the order of measures: `use(plans, measure, values)` with the contrasts that there are in the measure.
template <class Use>
void each_compared(const Scores& scores, const sweep::Comparison& comparison, const Use& use) {
  const auto plans = plan_contrasts_of(scores, comparison);
  for (std::size_t measure = 0; measure < scores.axes[measure_axis]->labels.size(); ++measure) {
    std::vector<const ContrastPlan*> own;
    for (const auto& plan : plans) {
      if (base::contains(plan.measures, measure)) {
        own.push_back(&plan);
      }
    }
    if (!own.empty()) {
      use(own, measure, scores.read(measure));
    }
  }
}

/// What keeps a reader from taking the numbers as they stand.
std::vector<std::string> warnings_of(const Finding& finding, const std::vector<ContrastRow>& rows) {
  std::vector<std::string> warnings;
  std::int32_t fewest = std::numeric_limits<std::int32_t>::max();
  std::int32_t left_out = 0;
  std::int32_t missing = 0;
  bool has_few_degrees = false;
  for (const auto& row : rows) {
    fewest = std::isnan(row.p_flip) ? fewest : std::min(fewest, row.num_templates);
    left_out = std::max(left_out, row.num_left_out);
    missing = std::max(missing, row.num_missing);
    has_few_degrees = has_few_degrees || row.degrees < 2;
  }
  if (fewest < 6) {
    warnings.push_back("With " + std::to_string(fewest) + " templates no p of flipped signs (" +
                       finding.variable("p_flip") + ") is below " + results::p_value(std::ldexp(1.0, 1 - fewest)) +
                       ".");
  }
  if (has_few_degrees) {
    warnings.push_back(few_degrees_text(finding.variable("degrees")));
  }
  if (left_out > 0 || missing > 0) {
    warnings.push_back("Composition is not equal: up to " + std::to_string(missing) +
                       " scores of a row's subjects are missing, and up to " + std::to_string(left_out) +
                       " subjects are left out (" + finding.variable("num_missing") + ", " +
                       finding.variable("num_left_out") + ").");
  }
  return warnings;
}

/// How scores are compared where subjects lack cells.
std::string cells_text(const sweep::Comparison& comparison) {
  using Cells = sweep::Contrast::Cells;
  const auto has = [&](Cells cells) {
    return std::ranges::find(comparison.contrasts, cells, &sweep::Contrast::cells) != comparison.contrasts.end();
  };
  return std::string(has(Cells::adjusted) || comparison.contrasts.empty()
                         ? " Cells (adjusted): where subjects lack some, means are those of equal composition by least "
                           "squares."
                         : "") +
         (has(Cells::common) ? " Cells (common): those that all subjects of a row have." : "") +
         (has(Cells::all) ? " Cells (all): all that exist, so that a subject who lacks some may move a mean by what it "
                            "is."
                          : "");
}

/// Which tests are adjusted together.
std::string family_text(sweep::TestFamily family) {
  constexpr std::array texts = {"the items of one contrast and measure", "all contrasts and items of one measure",
                                "all rows"};
  return texts.at(static_cast<std::size_t>(family));
}

/// Which question each number of the table answers, and what to beware of.
std::string notes_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const auto any = [&](auto holds) { return std::ranges::any_of(rows, holds); };
  std::string text = "low, high, p: " + results::percent(comparison.confidence) +
                     " interval and two-sided t test, with one variance, over other templates and rephrasings, these "
                     "subjects taken as given; p adjusted by Holm among " +
                     family_text(comparison.family) + ".";
  if (any([](const ContrastRow& row) { return !std::isnan(row.p_subjects); })) {
    text +=
        " p subjects: two-sided Welch t over other subjects of the sides' kinds, these templates taken as given. "
        "Whether kinds of subjects differ needs both to be small.";
  }
  if (std::ranges::all_of(rows, [](const ContrastRow& row) { return row.num_rephrasings < 2; })) {
    text += " One rephrasing: all of it in this wording.";
  }
  return text + cells_text(comparison);
}

}  // namespace

std::vector<ContrastRow> compare(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed) {
  Comparer comparer(scores, comparison, seed);
  each_compared(scores, comparison, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    comparer.add(plans, measure, values);
  });
  return comparer.take();
}

std::vector<ContrastSpread> spreads_of(const Scores& scores, const sweep::Comparison& comparison) {
  std::vector<ContrastSpread> spreads;
  const auto& items = scores.axes[item_axis]->labels;
  const auto add = [&](const ContrastPlan& plan, std::size_t measure, std::span<const double> values) {
    const ComparedMeans means(scores, plan, values);
    for (std::size_t item = 0; item < items.size(); ++item) {
      const auto compared = means.of(item);
      spreads.push_back({plan.name, scores.axes[measure_axis]->labels[measure], items[item], compared.difference,
                         compared.squares(plan.num_columns)});
    }
  };
  each_compared(scores, comparison, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    std::ranges::for_each(plans, [&](const ContrastPlan* plan) { add(*plan, measure, values); });
  });
  return spreads;
}

std::string few_degrees_text(const std::string& variable) {
  return "Rows with fewer than 2 degrees of freedom (" + variable +
         ") have p <= 0.05 only where a difference is more than 5 to 13 standard errors: more templates or rephrasings "
         "are needed.";
}

void add_differences(Finding& finding, const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  const auto add = [&](Role role, const char* name, const char* unit, const std::string& what, auto read) -> Column& {
    return finding.add(role, rows, name, unit, what, read);
  };
  finding.notes = notes_of(rows, comparison);
  finding.warnings = warnings_of(finding, rows);
  const auto family = ", adjusted among " + family_text(comparison.family);
  const auto interval = results::percent(comparison.confidence) +
                        " interval over other templates and rephrasings: Student's t of crossed random effects";
  add(Role::value, "difference", "", "left minus right, in the measure's unit", &ContrastRow::difference)
      .is_difference = true;
  add(Role::low, "low", "", "lower end of the " + interval, &ContrastRow::low);
  add(Role::high, "high", "", "upper end of the " + interval, &ContrastRow::high);
  add(Role::p, "p", "1", "two-sided p over other templates and rephrasings: t of the interval's variance",
      &ContrastRow::p);
  add(Role::adjusted, "p_holm", "1", "p after Holm" + family, &ContrastRow::p_holm);
  add(Role::adjusted, "p_benjamini_hochberg", "1", "p after Benjamini and Hochberg" + family,
      &ContrastRow::p_benjamini_hochberg);
  add(Role::adjusted, "p_yekutieli", "1", "p after Benjamini and Yekutieli" + family, &ContrastRow::p_yekutieli);
  add(Role::p, "p_flip", "1", "two-sided p over other templates, these rephrasings taken as given: signs flipped",
      &ContrastRow::p_flip);
  const auto of_flips = [&](Role role, const char* name, const std::string& what, auto read) {
    add(role, name, "1", what, read).of = "p_flip";
  };
  of_flips(Role::low, "p_flip_low", "lower end of the interval of a p_flip that was drawn; p_flip where it was counted",
           &ContrastRow::p_flip_low);
  of_flips(Role::high, "p_flip_high",
           "upper end of the interval of a p_flip that was drawn; p_flip where it was counted",
           &ContrastRow::p_flip_high);
  of_flips(Role::adjusted, "p_flip_max_t", "p_flip by max-T with common flips" + family, &ContrastRow::p_flip_max_t);
  of_flips(Role::low, "p_flip_smallest", "no p_flip can be smaller with as many templates",
           &ContrastRow::smallest_p_flip);
  add(Role::n, "num_templates", "1", "templates, or pairs of them, with a difference", &ContrastRow::num_templates);
  add(Role::n, "num_rephrasings", "1", "rephrasings with a difference; 1 where the sides take different ones",
      &ContrastRow::num_rephrasings);
  add(Role::n, "num_cells", "1", "(template, rephrasing) with a difference", &ContrastRow::num_cells);
  add(Role::n, "num_possible", "1", "(template, rephrasing) compared", &ContrastRow::num_possible);
  add(Role::n, "num_subjects", "1", "subjects whose scores are compared", &ContrastRow::num_subjects);
  add(Role::n, "num_left_out", "1", "subjects without enough cells that can be compared", &ContrastRow::num_left_out);
  add(Role::n, "num_missing", "1", "scores that the compared subjects lack in the compared cells",
      &ContrastRow::num_missing);
  if (std::ranges::any_of(rows, [](const auto& row) { return row.num_answers >= 0; })) {
    add(Role::n, "num_answers", "1", "sampled answers that were read in the scores of all sides; 0: they are of none",
        [](const ContrastRow& row) { return std::max(row.num_answers, 0); });
  }
  add(Role::n, "degrees", "1", "degrees of freedom of p and of the interval", &ContrastRow::degrees);
  add(Role::status, "status", "", "why there is no interval and no p", &ContrastRow::reason);
  add(Role::value, "left", "", "mean of the left side", &ContrastRow::left);
  add(Role::value, "right", "", "mean of the right side; 0 for a contrast with zero", &ContrastRow::right);
  add(Role::value, "effect", "1", "mean of the templates' differences over their standard deviation (n - 1)",
      &ContrastRow::effect);
}

Finding finding_of(const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  Finding finding{.name = "contrast"};
  finding.axes = {list_axis<ContrastRow>("contrast", "contrast, measure and item", rows,
                                         {{"name", "name of the contrast", &ContrastRow::contrast},
                                          {"measure", "what is compared", &ContrastRow::measure},
                                          {"item", "what it is about", &ContrastRow::item}})};
  for (const auto& [name, side, subjects] : {std::tuple("left_subjects", "left", &ContrastRow::left_subjects),
                                             std::tuple("right_subjects", "right", &ContrastRow::right_subjects)}) {
    finding.axes.front().coordinates.push_back(
        {name, std::string("subjects of the ") + side + " side, the first six", base::mapped(rows, subjects)});
  }
  add_differences(finding, rows, comparison);
  finding.add(Role::p, rows, "p_subjects", "1",
              "two-sided p over other subjects of the sides' kinds, these templates taken as given: Welch's t",
              &ContrastRow::p_subjects);
  const auto interval = results::percent(comparison.confidence) + " interval over other subjects";
  finding.add(Role::low, rows, "subjects_low", "", "lower end of the " + interval, &ContrastRow::subjects_low);
  finding.add(Role::high, rows, "subjects_high", "", "upper end of the " + interval, &ContrastRow::subjects_high);
  finding.views = {
      {"Contrasts in ",
       table_columns(
           "contrast: name, item, difference, low, high, effect, templates: num_templates, p, p adjusted: p_holm"),
       "p"}};
  if (std::ranges::any_of(rows, [](const auto& row) { return row.num_answers > 0; })) {
    auto& columns = finding.views.front().columns;
    columns.insert(std::ranges::find(columns, "p", [](const auto& column) { return column.first; }),
                   {"num_answers", "answers"});
  }
  if (std::ranges::any_of(rows, [](const auto& row) { return !std::isnan(row.p_subjects); })) {
    finding.views.front().columns.emplace_back("p_subjects", "p subjects");
  }
  finding.question = {{.claims = base::mapped(rows, &ContrastRow::claim),
                       .value = "difference",
                       .counted = "template",
                       .least = "p_flip_smallest"}};
  finding.named = base::joined(comparison.contrasts, &sweep::Contrast::measures);
  return finding;
}

}  // namespace stereosweep::findings
