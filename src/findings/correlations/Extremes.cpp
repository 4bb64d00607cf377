#include "findings/correlations/Extremes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/text/Text.hpp"
#include "findings/sharing/Sharing.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

const std::string key = "statistics.extremes";

std::vector<ItemGroup> groups_of(const Scores& scores, const sweep::ExtremesRequest& request,
                                 std::vector<std::string>& faults) {
  if (!request.of.empty()) {
    return item_groups(scores, request.of, key, faults);
  }
  const auto& items = *scores.axes[item_axis];
  auto groups = dimension_groups(items);
  return groups.empty() ? item_groups(scores, {{items.name, items.labels}}, key, faults) : groups;
}

/// [group, subject] of one measure.
std::vector<ExtremeRow> rows_of(const Scores& scores, const std::vector<double>& values,
                                const std::vector<ItemGroup>& groups) {
  const auto num_subjects = scores.length(subject_axis);
  const auto means = subject_means(scores, values, groups);
  std::vector<std::vector<double>> rounds(means.size());
  const auto& replicates = scores.axes[replicate_axis]->labels;
  for (std::size_t replicate = 0; replicate < replicates.size(); ++replicate) {
    if (replicates[replicate] == results::ScoreTable::mean_replicate) {
      continue;
    }
    const auto of_round = subject_means(scores, values, groups, {replicate});
    for (std::size_t cell = 0; cell < means.size(); ++cell) {
      if (std::isfinite(of_round[cell])) {
        rounds[cell].push_back(of_round[cell]);
      }
    }
  }
  std::vector<ExtremeRow> rows;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<double> ranked;
    for (std::size_t subject = 0; subject < num_subjects; ++subject) {
      ranked.push_back(means[subject * groups.size() + group]);
    }
    equalise(ranked);
    for (std::size_t subject = 0; subject < num_subjects; ++subject) {
      const auto cell = subject * groups.size() + group;
      auto variance = stats::standard_deviation(rounds[cell]);
      variance.value *= variance.value;
      const auto higher = std::ranges::count_if(ranked, [&](double other) { return other > ranked[subject]; });
      const auto place = std::isnan(means[cell]) ? 0 : static_cast<std::int32_t>(higher) + 1;
      rows.push_back({means[cell], variance, static_cast<std::int32_t>(rounds[cell].size()), place});
    }
  }
  return rows;
}

/// Both ends side by side.
std::string table_of(const Extremes& extremes, std::span<const ExtremeRow> rows, std::size_t most) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t subject) { return rows[subject].place == 0; });
  std::ranges::stable_sort(order, {}, [&](std::size_t subject) { return rows[subject].place; });
  results::TextTable table({"highest", "mean", "variance", "lowest", "mean", "variance"});
  const auto cells_of = [&](std::size_t subject) {
    const auto& row = rows[subject];
    return std::vector<std::string>{extremes.subjects[subject], results::fixed(row.mean),
                                    row.variance.defined() ? results::significant(row.variance.value)
                                                           : std::string(stats::name_of(row.variance.reason))};
  };
  const auto shown = std::min(most, order.size());
  for (std::size_t place = 0; place < shown; ++place) {
    auto cells = cells_of(order[place]);
    const auto lowest = cells_of(order[order.size() - 1 - place]);
    cells.insert(cells.end(), lowest.begin(), lowest.end());
    table.add(std::move(cells));
  }
  return shown == 0 ? "no scores\n" : table.text();
}

}  // namespace

Extremes extremes_of(const Scores& scores, const sweep::ExtremesRequest& request) {
  std::vector<std::string> faults;
  Extremes extremes;
  extremes.measures = chosen_measures(scores, request.measures, key, faults);
  extremes.subjects = scores.axes[subject_axis]->labels;
  const auto groups = groups_of(scores, request, faults);
  require_no_faults(faults);
  for (const auto measure : extremes.measures) {
    extremes.measure_names.push_back(scores.axes[measure_axis]->labels[measure]);
  }
  for (const auto& group : groups) {
    extremes.groups.push_back(group.name);
  }
  for (const auto& rows : share_measures<ExtremeRow>(
           scores, extremes.measures,
           [&](const std::vector<double>&values, std::size_t /*place*/) { return rows_of(scores, values, groups); })) {
    extremes.rows.insert(extremes.rows.end(), rows.begin(), rows.end());
  }
  return extremes;
}

void write_extremes(results::Layout& layout, const Extremes& extremes) {
  layout.add_axis({"extreme_of", "item, or what items have in common", extremes.groups, {}});
  const std::vector<std::string> axes = {measure_axis_of(layout, extremes.measures, "extreme_measure"), "extreme_of",
                                         results::score_axis_names[subject_axis]};
  layout.write(results::number_cube("extreme_mean", "", "mean over items, templates, rephrasings and rounds",
                                    "unit: measure_units"),
               axes, extremes.rows, &ExtremeRow::mean);
  layout.write(results::number_cube("extreme_variance", "", "variance (n - 1) of the rounds' means",
                                    "unit: measure_units squared"),
               axes, extremes.rows, [](const auto& row) { return row.variance.value; });
  layout.write(results::number_cube("extreme_rounds", "1", "rounds with a score"), axes, extremes.rows,
               &ExtremeRow::num_rounds);
  layout.write(
      results::number_cube("extreme_place", "1", "1: the highest mean; equal means share the best place", "0: no mean"),
      axes, extremes.rows, &ExtremeRow::place);
  layout.write(results::flag_cube("extreme_variance_status", "why there is no variance", stats::reason_names()), axes,
               extremes.rows, [](const auto& row) { return row.variance.reason; });
}

std::string extremes_text(const Extremes& extremes, std::int64_t most) {
  std::string text;
  const auto num_subjects = extremes.subjects.size();
  for (std::size_t measure = 0; measure < extremes.measures.size(); ++measure) {
    for (std::size_t group = 0; group < extremes.groups.size(); ++group) {
      const auto first = (measure * extremes.groups.size() + group) * num_subjects;
      text += "\nHighest and lowest " + extremes.groups[group] + " in " + extremes.measure_names[measure] + '\n' +
              table_of(extremes, std::span(extremes.rows).subspan(first, num_subjects), static_cast<std::size_t>(most));
    }
  }
  return text +
         results::wrapped(
             "variance: of the rounds' means (n - 1); too_few: there is one round. The ends of a ranking are "
             "the subjects with the largest errors too: with another draw of rounds others may stand there.") +
         '\n';
}

}  // namespace stereosweep::findings
