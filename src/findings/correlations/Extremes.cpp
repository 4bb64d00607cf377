#include <algorithm>
#include <cmath>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Means.hpp"
#include "findings/correlations/Correlations.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

const std::string extremes_key = "statistics.extremes";

/// One subject.
struct ExtremeRow {
  MeanRow mean;           ///< compared with the other subjects
  stats::Value variance;  ///< of the rounds' means (n - 1), the unit's square; `too_few`: fewer than two rounds
  std::int32_t num_rounds = 0;
  std::int32_t place = 0;       ///< 1: the highest; equal means share the best place (as in sports); 0: no mean
  std::int32_t from_below = 0;  ///< the same from the lowest
};

std::vector<ItemGroup> groups_of(const Scores& scores, const sweep::ExtremesRequest& request,
                                 std::vector<std::string>& faults) {
  if (!request.of.empty()) {
    return item_groups(scores, request.of, extremes_key, faults);
  }
  const auto& items = *scores.axes[item_axis];
  auto groups = dimension_groups(items);
  return groups.empty() ? single_items(items) : groups;
}

/// [subject]: means of each round with a score.
std::vector<std::vector<double>> round_means(const Cells& cells, const ItemGroup& group) {
  std::vector<std::vector<double>> rounds(cells.length(subject_axis));
  for (const auto& round : cells.rounds()) {
    const auto means = subject_means(round, {group});
    for (std::size_t subject = 0; subject < means.size(); ++subject) {
      if (std::isfinite(means[subject])) {
        rounds[subject].push_back(means[subject]);
      }
    }
  }
  return rounds;
}

void append_rows(const std::vector<MeanRow>& means, const std::vector<std::vector<double>>& rounds,
                 std::vector<ExtremeRow>& rows) {
  auto ranked = base::mapped(means, &MeanRow::mean);
  equalise(ranked);
  const auto place_among = [&](auto precedes) {
    return static_cast<std::int32_t>(std::ranges::count_if(ranked, precedes)) + 1;
  };
  for (std::size_t subject = 0; subject < means.size(); ++subject) {
    auto variance = stats::standard_deviation(rounds[subject]);
    variance.value *= variance.value;
    auto& row =
        rows.emplace_back(ExtremeRow{means[subject], variance, static_cast<std::int32_t>(rounds[subject].size())});
    if (const double own = ranked[subject]; !std::isnan(own)) {
      row.place = place_among([&](double other) { return other > own; });
      row.from_below = place_among([&](double other) { return other < own; });
    }
  }
}

}  // namespace

Finding extremes_of(const Scores& scores, const sweep::Comparison& comparison) {
  const auto& request = *comparison.extremes;
  std::vector<std::string> faults;
  const auto measures = chosen_measures(scores, request.measures, extremes_key, faults);
  const auto groups = groups_of(scores, request, faults);
  require_no_faults(faults);
  std::vector<ExtremeRow> rows;
  for (const auto measure : measures) {
    const auto values = scores.read(measure);
    const auto statuses = scores.read_statuses ? scores.read_statuses(measure) : std::vector<std::uint8_t>();
    const Cells cells(scores, values, statuses);
    for (const auto& group : groups) {
      append_rows(compared_means(scores, measure, cells, {group}, comparison.confidence), round_means(cells, group),
                  rows);
    }
  }
  Finding finding{.name = "extreme",
                  .axes = {measure_axis_of(scores, measures, "extreme_measure"),
                           {"extreme_of", "item, or what items have in common", names_of(groups), {}},
                           *scores.axes[subject_axis]}};
  const auto means = base::mapped(rows, &ExtremeRow::mean);
  add_means(finding, means, "mean", "subjects", comparison.confidence);
  const RowColumns add{finding, rows};
  add(Role::value, "variance", squared_unit, "variance (n - 1) of the rounds' means", &ExtremeRow::variance,
      &stats::Value::value);
  add(Role::n, "rounds", "1", "rounds with a score", &ExtremeRow::num_rounds).of = "variance";
  add(Role::status, "variance_status", "", "why there is no variance", &ExtremeRow::variance, &stats::Value::reason)
      .of = "variance";
  add(Role::value, "place", "1", "1: the highest mean; equal means share the best place; 0: no mean",
      &ExtremeRow::place);
  add(Role::value, "end", "1",
      "place from the nearer end, of the highest mean 1, of the lowest -1; none beyond statistics.extremes.most",
      [&](const ExtremeRow& row) -> double {
        const auto nearer = row.place <= row.from_below ? row.place : -row.from_below;
        return nearer != 0 && std::abs(nearer) <= request.most ? nearer : stats::nan;
      });
  finding.views = {{.title = "Highest and lowest means: ",
                    .columns = table_columns("subject, place, mean, low, high, cells: n" + answers_column(means) +
                                             ", from all: deviation, p Holm: p_holm, variance"),
                    .by = "rank",
                    .each = {"extreme_of", "measure"},
                    .only = "end",
                    .none = "no scores"}};
  const RowLabels group_names(finding, "extreme_of");
  const RowLabels subjects(finding, "subject");
  const auto claim = [&, row = std::size_t{0}](const ExtremeRow& extreme) mutable {
    const auto place = row++;
    return std::isnan(extreme.mean.deviation)
               ? ""
               : subjects.of(place) + " are " + (extreme.mean.deviation > 0 ? "above" : "below") +
                     " the mean of all subjects on " + group_names.of(place);
  };
  finding.question = {{base::mapped(rows, claim), "deviation", "cell", "difference"}};
  finding.notes =
      "Chosen: of " + base::counted(scores.length(subject_axis), "subject") +
      " those at both ends, first those with the best evidence that they differ from the mean of all. place: from the "
      "highest mean, 1. from all: that difference; p Holm: its p, adjusted for all "
      "subjects from which these were chosen. low, high: " +
      results::percent(comparison.confidence) +
      " interval over other templates and rephrasings. variance: of the rounds' means (n - 1); too few: there is one "
      "round.";
  return finding;
}

}  // namespace stereosweep::findings
