#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Names.hpp"
#include "findings/runs/RunComparison.hpp"
#include "findings/variance/Variance.hpp"
#include "results/tables/TerminalTable.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {

JoinedRuns::JoinedRuns(std::vector<RunScores> runs)
    : runs_(std::move(runs)),
      is_mixed_(std::ranges::any_of(runs_, [&](const auto& run) { return run.probe != runs_.front().probe; })),
      why_unpaired_(is_mixed_ ? "the results are of different probes" : "") {
  join_measures();
  for (const auto axis : {subject_axis, item_axis}) {
    join_axis(axis);
    if (axes_[axis].labels.empty()) {
      const auto have = base::mapped(runs_, [&](const RunScores& run) {
        return "'" + run.label + "' has " + results::first_names(run.scores.axes[axis]->labels, 4);
      });
      base::refuse(std::string("no ") + results::score_axis_names[axis] + " is in all results", base::join(have, "; "));
    }
  }
  if (is_mixed_) {
    return;
  }
  for (const auto axis : {template_axis, rephrasing_axis, replicate_axis}) {
    join_axis(axis);
    if (axes_[axis].labels.empty() && why_unpaired_.empty()) {
      why_unpaired_ = std::string("no ") + results::score_axis_names[axis] + " is in all results";
    }
  }
}

std::vector<std::string> JoinedRuns::names_of(std::size_t axis, std::size_t run, std::size_t place) const {
  const auto& schema = *runs_[run].scores.axes[axis];
  if (!is_mixed_) {
    return {schema.labels[place]};
  }
  const auto left = schema.value("left", place);
  const auto right = schema.value("right", place);
  std::vector<std::string> names = {normalised(schema.value("name", place)), normalised(schema.labels[place])};
  if (!left.empty() && !right.empty()) {
    names.push_back(normalised(left + " - " + right));
  }
  std::erase(names, "");
  return names;
}

void JoinedRuns::join_measures() {
  measures_ = {results::score_axis_names[measure_axis], "what is measured", {}, {}};
  measures_.coordinates = {{"units", "unit", {}},
                           {"description", "definition", {}},
                           {"lowest", "least score possible", {}},
                           {"highest", "greatest score possible", {}}};
  constexpr std::size_t first_end = 2;  // ends on which runs do not agree are not known
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const auto& axis = *runs_[run].scores.axes[measure_axis];
    for (std::size_t place = 0; place < axis.labels.size(); ++place) {
      const auto found = std::ranges::find(measures_.labels, axis.labels[place]);
      const auto at = static_cast<std::size_t>(found - measures_.labels.begin());
      if (found == measures_.labels.end()) {
        measures_.labels.push_back(axis.labels[place]);
        measure_places_.emplace_back(runs_.size());
      }
      for (std::size_t i = 0; i < measures_.coordinates.size(); ++i) {
        auto& known = measures_.coordinates[i].values;
        const auto value = axis.value(measures_.coordinates[i].name, place);
        known.resize(measures_.labels.size(), value);
        if (i >= first_end && known[at] != value) {
          known[at].clear();
        }
      }
      measure_places_[at][run] = place;
    }
  }
}

void JoinedRuns::join_axis(std::size_t axis) {
  const auto& first = *runs_.front().scores.axes[axis];
  // Labels of the first run, each with the places where the others know it by one of its names.
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> owner(first.labels.size());
  for (std::size_t place = 0; place < first.labels.size(); ++place) {
    owner[place] = place;
    for (const auto& key : names_of(axis, 0, place)) {
      owner[place] = std::min(owner[place], known.try_emplace(key, owner[place]).first->second);
    }
  }
  std::vector<std::vector<std::vector<std::size_t>>> found(runs_.size());
  NotShared not_shared{first.name, {}};
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    found[run].resize(first.labels.size());
    const auto& labels = runs_[run].scores.axes[axis]->labels;
    for (std::size_t place = 0; place < labels.size(); ++place) {
      const auto names = names_of(axis, run, place);
      const auto name = std::ranges::find_if(names, [&](const auto& key) { return known.contains(key); });
      if (name == names.end()) {
        base::add_once(not_shared.labels, labels[place]);
      } else {
        found[run][owner[known.at(*name)]].push_back(place);
      }
    }
  }
  std::vector<std::size_t> shared;
  for (std::size_t place = 0; place < first.labels.size(); ++place) {
    if (std::ranges::none_of(found, [&](const auto& of_run) { return of_run[place].empty(); })) {
      shared.push_back(place);
    } else if (owner[place] == place) {
      base::add_once(not_shared.labels, first.labels[place]);
    }
  }
  axes_[axis] = first.part(shared);
  places_[axis].assign(runs_.size(), {});
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (const auto place : shared) {
      places_[axis][run].push_back(found[run][place]);
    }
  }
  if (!not_shared.labels.empty()) {
    not_shared_.push_back(std::move(not_shared));
  }
}

std::pair<std::vector<double>, std::vector<std::int32_t>> JoinedRuns::gathered(std::size_t run,
                                                                               std::size_t measure) const {
  const auto& scores = runs_[run].scores;
  const auto own = *measure_places_[measure][run];
  const auto values = scores.read(own);
  const auto in_score = scores.read_statuses ? answers_in_score(*scores.axes[measure_axis], own) : -1;
  const auto statuses = in_score > 0 ? scores.read_statuses(own) : std::vector<std::uint8_t>(values.size(), 0);
  std::array<std::vector<std::vector<std::size_t>>, num_cell_axes> places;  // of this run
  CellIndex lengths = {1};
  for (std::size_t axis = subject_axis; axis < num_cell_axes; ++axis) {
    for (std::size_t place = 0; !is_joined(axis) && place < scores.length(axis); ++place) {
      places[axis].push_back({place});
    }
    places[axis] = is_joined(axis) ? places_[axis][run] : std::move(places[axis]);
    lengths[axis] = places[axis].size();
  }
  std::vector<double> chosen;
  std::vector<std::int32_t> answers;
  each_cell(lengths, [&](const CellIndex& at, std::size_t /*place*/) {
    long double sum = 0;  // as stats::mean
    std::size_t count = 0;
    std::int32_t read = 0;
    for (const auto subject : places[subject_axis][at[subject_axis]]) {
      auto row = subject;
      for (const auto axis : {template_axis, rephrasing_axis, replicate_axis}) {
        row = row * scores.length(axis) + places[axis][at[axis]].front();
      }
      for (const auto item : places[item_axis][at[item_axis]]) {
        const auto place = row * scores.length(item_axis) + item;
        if (std::isfinite(values[place])) {
          sum += values[place];
          ++count;
          const bool is_whole = statuses[place] == static_cast<std::uint8_t>(results::ScoreStatus::ok);
          read += in_score <= 0 ? 0 : is_whole ? in_score : 1;
        }
      }
    }
    chosen.push_back(count > 0 ? static_cast<double>(sum / static_cast<long double>(count)) : stats::nan);
    answers.push_back(read);
  });
  return {std::move(chosen), std::move(answers)};
}

RunCells JoinedRuns::cells(std::size_t measure) const {
  RunCells cells;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (measure_places_[measure][run]) {
      cells.runs.push_back(run);
      auto [values, answers] = gathered(run, measure);
      cells.values.push_back(std::move(values));
      cells.answers.push_back(std::move(answers));
    }
  }
  if (!is_paired()) {
    return cells;
  }
  for (std::size_t place = 0; place < cells.values.front().size(); ++place) {
    const auto num =
        std::ranges::count_if(cells.values, [&](const auto& of_run) { return !std::isnan(of_run[place]); });
    if (std::cmp_equal(num, cells.values.size())) {
      ++cells.num_shared;
    } else if (num > 0) {
      ++cells.num_dropped;
      for (std::size_t i = 0; i < cells.values.size(); ++i) {
        cells.values[i][place] = stats::nan;
        cells.answers[i][place] = 0;
      }
    }
  }
  return cells;
}

Scores JoinedRuns::axes_of(std::size_t run) const {
  Scores scores;
  for (std::size_t axis = 0; axis < scores.axes.size(); ++axis) {
    scores.axes[axis] = axis == measure_axis ? &measures_
                        : is_joined(axis)    ? &axes_[axis]
                                             : runs_[run].scores.axes[axis];
  }
  return scores;
}

std::vector<RunMean> JoinedRuns::means(const RunCells& cells, std::size_t place) const {
  const auto axes = axes_of(cells.runs[place]);
  auto means = base::mapped(Cells(axes, cells.values[place]).means({subject_axis, item_axis}),
                            [](const CellMean& mean) { return RunMean{mean}; });
  const auto& replicates = axes.axes[replicate_axis]->labels;
  const auto num_items = axes.length(item_axis);
  const auto& answers = cells.answers[place];
  const auto of_subject = answers.size() / axes.length(subject_axis);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool is_mean = replicates[i / num_items % replicates.size()] == results::ScoreTable::mean_replicate;
    means[i / of_subject * num_items + i % num_items].num_answers += is_mean ? 0 : answers[i];
  }
  return means;
}

}  // namespace stereosweep::findings
