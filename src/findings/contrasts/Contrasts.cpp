#include "findings/contrasts/Contrasts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "base/Lists.hpp"
#include "findings/contrasts/ComparedCells.hpp"
#include "findings/sharing/Sharing.hpp"
#include "stats/CrossedTable.hpp"
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
    std::optional<ComparedMeans> means;
    const auto units = share_bytes(scores_.ranks, plans.size() * parts, [&](std::size_t unit) {
      const ContrastPlan& plan = *plans[unit / parts];
      if (last != &plan) {
        means.emplace(scores_, plan, values);
        last = &plan;
      }
      base::ByteWriter out;
      for (auto item = unit % parts * together; item < (unit % parts + 1) * together; ++item) {
        const auto tested = test(plan, measure, *means, item);
        const ContrastNumbers& numbers = tested.row;
        out.raw(std::as_bytes(std::span(&numbers, 1))).array<double>(tested.blocks);
      }
      return out.take();
    });
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      base::ByteReader in(units[unit]);
      for (auto item = unit % parts * together; item < (unit % parts + 1) * together; ++item) {
        auto& tested = tested_.emplace_back();
        ContrastNumbers& numbers = tested.row;
        std::memcpy(&numbers, in.take(sizeof(numbers)).data(), sizeof(numbers));
        tested.blocks = in.array<double>();
        const ContrastPlan& plan = *plans[unit / parts];
        tested.row.contrast = plan.name;
        tested.row.measure = scores_.axes[measure_axis]->labels[measure];
        tested.row.item = items[item];
        tested.blocks_key = plan.blocks_key;
        tested.family = family_of(tested.row);
      }
    }
  }

  std::vector<ContrastRow> take() {
    adjust();
    return base::mapped(tested_, &Tested::row);
  }

 private:
  std::string family_of(const ContrastRow& row) const {
    switch (comparison_.family) {
      case sweep::Comparison::Family::contrast:
        return row.contrast + '\n' + row.measure;
      case sweep::Comparison::Family::measure:
        return row.measure;
      case sweep::Comparison::Family::all:
        break;
    }
    return "";
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
    const auto squares = stats::crossed_squares(compared.differences, plan.num_columns);
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
                         stats::crossed_squares(compared.differences, plan.num_columns)});
    }
  };
  each_compared(scores, comparison, [&](const auto& plans, std::size_t measure, const std::vector<double>& values) {
    std::ranges::for_each(plans, [&](const ContrastPlan* plan) { add(*plan, measure, values); });
  });
  return spreads;
}

}  // namespace stereosweep::findings
