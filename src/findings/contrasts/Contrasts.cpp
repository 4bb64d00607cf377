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
  std::size_t plan = 0;  ///< its place
};
/// What the ranks tell each other.
template <base::Either<Tested> Told>
auto fields_of(Told& tested) {
  using Numbers = std::conditional_t<std::is_const_v<Told>, const ContrastNumbers, ContrastNumbers>;
  auto& row = tested.row;
  return std::tie(static_cast<Numbers&>(row), row.contrast, row.measure, row.item, row.claim, row.left_subjects,
                  row.right_subjects, tested.blocks, tested.plan);
}

class Comparer {
 public:
  Comparer(const Scores& scores, const sweep::Comparison& comparison, std::uint64_t seed)
      : scores_(scores), comparison_(comparison), seed_(seed), plans_(plan_contrasts_of(scores, comparison)) {}

  std::vector<ContrastRow> take() {
    each_compared(scores_, plans_, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
      add(plans, measure, values);
    });
    adjust();
    return base::mapped(tested_, &Tested::row);
  }

 private:
  /// Collective. Ranks share the contrasts; where these are few, the items of each.
  void add(std::span<const ContrastPlan* const> plans, std::size_t measure, std::span<const double> values) {
    const auto num_items = scores_.length(item_axis);
    const bool is_many = plans.size() >= contrasts_a_rank * static_cast<std::size_t>(scores_.ranks.size());
    const auto together = is_many ? num_items : 1;
    const auto parts = num_items / together;
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
    std::ranges::move(base::joined(units), std::back_inserter(tested_));
  }

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

  Tested test(const ContrastPlan& plan, std::size_t measure, const ComparedMeans& means, std::size_t item) const {
    Tested tested;
    auto& row = tested.row;
    tested.plan = static_cast<std::size_t>(&plan - plans_.data());
    const auto compared = means.of(item);
    static_cast<ComparedNumbers&>(row) = compared;
    row.contrast = plan.name;
    row.measure = scores_.axes[measure_axis]->labels[measure];
    row.item = scores_.axes[item_axis]->labels[item];
    row.left_subjects = subjects_of(plan, 1);
    row.right_subjects = subjects_of(plan, -1);
    row.claim = claim_of(plan.words, row.measure, *scores_.axes[item_axis], item, row.difference > 0);
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
    const auto between_subjects = stats::error_of_group_means(compared.subjects);
    row.over_subjects = stats::test_mean(row.difference, between_subjects, comparison_.confidence);
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
    row.flip = stats::sign_flip_test(sums, flips());
  }

  /// Of a difference that lies between these ends. Where 0 is one of them or beyond, nothing is tested: no score could
  /// be on its other side.
  static void keep_inside(const stats::ScaleEnds& ends, ContrastRow& row) {
    for (auto* number : {&row.low, &row.high, &row.over_subjects.low, &row.over_subjects.high}) {
      *number = std::isnan(*number) ? *number : std::clamp(*number, ends.lowest, ends.highest);
    }
    if (ends.lowest >= 0 || ends.highest <= 0) {
      row.flip = ContrastNumbers().flip;
      row.over_subjects.p = stats::nan;
    }
  }

  stats::SignFlipSettings flips() const {
    return {
        .seed = seed_, .draws = static_cast<std::uint64_t>(comparison_.draws), .confidence = comparison_.confidence};
  }

  void adjust() {
    std::map<std::string, std::vector<Tested*>> families;
    for (auto& tested : tested_) {
      if (!std::isnan(tested.row.flip.two_sided)) {
        families[family_of(tested.row.contrast, tested.row.measure, comparison_.family)].push_back(&tested);
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
    const auto key_of = [&](const Tested* tested) -> const std::string& { return plans_[tested->plan].blocks_key; };
    if (std::ranges::adjacent_find(members, std::ranges::not_equal_to(), key_of) != members.end()) {
      return;  // other templates: nothing to flip together
    }
    const auto sums = base::joined(members, &Tested::blocks);  // max-T takes draws x members x templates additions
    const auto adjusted = shared_max_t(scores_.ranks, sums, members.front()->blocks.size(), flips());
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->row.p_flip_max_t = std::max(members[i]->row.flip.two_sided, adjusted[i]);
    }
  }

  const Scores& scores_;
  const sweep::Comparison& comparison_;
  std::uint64_t seed_;
  std::vector<ContrastPlan> plans_;
  std::vector<Tested> tested_;
};

/// What keeps a reader from taking the numbers as they stand.
std::vector<std::string> warnings_of(const Finding& finding, const std::vector<ContrastRow>& rows) {
  std::vector<std::string> warnings;
  std::int32_t fewest = std::numeric_limits<std::int32_t>::max();
  std::int32_t left_out = 0;
  std::int32_t missing = 0;
  bool has_few_degrees = false;
  for (const auto& row : rows) {
    fewest = std::isnan(row.flip.two_sided) ? fewest : std::min(fewest, row.num_templates);
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
  if (any([](const ContrastRow& row) { return !std::isnan(row.over_subjects.p); })) {
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
  return Comparer(scores, comparison, seed).take();
}

std::vector<ContrastSpread> spreads_of(const Scores& scores, const sweep::Comparison& comparison) {
  std::vector<ContrastSpread> spreads;
  const auto& items = scores.axes[item_axis]->labels;
  const auto add = [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    for (const auto* plan : plans) {
      const ComparedMeans means(scores, *plan, values);
      for (std::size_t item = 0; item < items.size(); ++item) {
        const auto compared = means.of(item);
        spreads.push_back({plan->name, scores.axes[measure_axis]->labels[measure], items[item], compared.difference,
                           compared.squares(plan->num_columns)});
      }
    }
  };
  each_compared(scores, plan_contrasts_of(scores, comparison), add);
  return spreads;
}

std::string few_degrees_text(const std::string& variable) {
  return "Rows with fewer than 2 degrees of freedom (" + variable +
         ") have p <= 0.05 only where a difference is more than 5 to 13 standard errors: more templates or rephrasings "
         "are needed.";
}

void add_differences(Finding& finding, const std::vector<ContrastRow>& rows, const sweep::Comparison& comparison) {
  finding.notes = notes_of(rows, comparison);
  finding.warnings = warnings_of(finding, rows);
  const auto family = ", adjusted among " + family_text(comparison.family);
  const RowColumns add{finding, rows};
  add(Role::value, "difference", "", "left minus right, in the measure's unit", &ContrastRow::difference)
      .is_difference = true;
  add.interval({results::percent(comparison.confidence) +
                " interval over other templates and rephrasings: Student's t of crossed random effects"});
  add(Role::p, "p", "1", "two-sided p over other templates and rephrasings: t of the interval's variance",
      &ContrastRow::p);
  add(Role::adjusted, "p_holm", "1", "p after Holm" + family, &ContrastRow::p_holm);
  add(Role::adjusted, "p_benjamini_hochberg", "1", "p after Benjamini and Hochberg" + family,
      &ContrastRow::p_benjamini_hochberg);
  add(Role::adjusted, "p_yekutieli", "1", "p after Benjamini and Yekutieli" + family, &ContrastRow::p_yekutieli);
  add(Role::p, "p_flip", "1", "two-sided p over other templates, these rephrasings taken as given: signs flipped",
      &ContrastRow::flip, &stats::SignFlipResult::two_sided);
  add.interval({.what = "interval of a p_flip that was drawn; p_flip where it was counted",
                .unit = "1",
                .prefix = "p_flip_",
                .of = "p_flip"},
               &ContrastRow::flip, &stats::SignFlipResult::interval);
  add(Role::adjusted, "p_flip_max_t", "1", "p_flip by max-T with common flips" + family, &ContrastRow::p_flip_max_t)
      .of = "p_flip";
  add(Role::low, "p_flip_smallest", "1", "no p_flip can be smaller with as many templates",
      &ContrastRow::smallest_p_flip)
      .of = "p_flip";
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
  const RowColumns add{finding, rows};
  add(Role::p, "p_subjects", "1",
      "two-sided p over other subjects of the sides' kinds, these templates taken as given: Welch's t",
      &ContrastRow::over_subjects, &stats::MeanTest::p);
  add.interval(
      {.what = results::percent(comparison.confidence) + " interval over other subjects", .prefix = "subjects_"},
      &ContrastRow::over_subjects);
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
  if (std::ranges::any_of(rows, [](const auto& row) { return !std::isnan(row.over_subjects.p); })) {
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
