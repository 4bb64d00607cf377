#include "findings/runs/RunComparison.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "base/Lists.hpp"
#include "findings/Names.hpp"
#include "findings/correlations/SubjectScores.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

std::vector<RunPair> pairs_of(std::size_t num_runs, std::optional<std::size_t> against) {
  std::vector<RunPair> pairs;
  for (std::size_t right = 0; right < num_runs; ++right) {
    for (std::size_t left = 0; left < num_runs; ++left) {
      const bool is_asked = against                          ? right == *against && left != right
                            : num_runs <= most_runs_in_pairs ? left > right
                                                             : right == 0 && left > 0;
      if (is_asked) {
        pairs.push_back({left, right});
      }
    }
  }
  return pairs;
}

/// The runs as replicates of one score table, each the mean of its own replicates.
class TableOfRuns {
 public:
  explicit TableOfRuns(const JoinedRuns& joined) : joined_(joined) {
    replicates_ = {
        results::score_axis_names[replicate_axis], "run", base::mapped(joined.runs(), &RunScores::label), {}};
  }
  TableOfRuns(const TableOfRuns&) = delete;
  TableOfRuns& operator=(const TableOfRuns&) = delete;

  Scores scores() const {
    Scores scores;
    for (std::size_t axis = 0; axis < scores.axes.size(); ++axis) {
      scores.axes[axis] = axis == measure_axis     ? &joined_.measures()
                          : axis == replicate_axis ? &replicates_
                                                   : &joined_.axis(axis);
    }
    scores.read = [this](std::size_t measure) { return read(measure); };
    return scores;
  }

 private:
  std::vector<double> read(std::size_t measure) const {
    const auto cells = joined_.cells(measure);
    const auto num_runs = joined_.runs().size();
    const auto num_items = joined_.items().labels.size();
    std::vector<double> values;
    for (std::size_t i = 0; i < cells.runs.size(); ++i) {
      const auto of_run = cell_values(joined_.axes_of(cells.runs[i]), cells.values[i]);
      values.resize(num_runs * of_run.size(), stats::nan);
      for (std::size_t sentence = 0; sentence < of_run.size() / num_items; ++sentence) {
        std::copy_n(of_run.begin() + static_cast<std::ptrdiff_t>(sentence * num_items), num_items,
                    values.begin() + static_cast<std::ptrdiff_t>((sentence * num_runs + cells.runs[i]) * num_items));
      }
    }
    return values;
  }

  const JoinedRuns& joined_;
  AxisSchema replicates_;
};

struct Series {
  RunSeries name;
  std::vector<double> means = {};  ///< [subject, item]
};

class RunComparer {
 public:
  RunComparer(const JoinedRuns& joined, const RunQuestion& question) : joined_(joined), question_(question) {
    runs_.runs = question.run_axis;
    runs_.measures = joined.measures();
    runs_.subjects = joined.subjects();
    runs_.items = joined.items();
    runs_.why_unpaired = joined.why_unpaired();
    runs_.not_shared = joined.not_shared();
    if (joined.is_paired()) {
      runs_.num_templates = joined.num_shared(template_axis);
      runs_.num_rephrasings = joined.num_shared(rephrasing_axis);
      runs_.num_replicates = joined.num_shared(replicate_axis);
    }
  }

  RunComparison take() {
    take_means();
    if (joined_.is_paired()) {
      compare_pairs();
    }
    add_people();
    correlate();
    return std::move(runs_);
  }

 private:
  std::size_t num_measures() const { return runs_.measures.labels.size(); }
  std::size_t num_cells() const { return runs_.subjects.labels.size() * runs_.items.labels.size(); }

  void take_means() {
    runs_.means.assign(runs_.runs.labels.size() * num_measures() * num_cells(), {stats::nan, 0});
    for (std::size_t measure = 0; measure < num_measures(); ++measure) {
      const auto cells = joined_.cells(measure);
      measured_.push_back(cells.runs);
      runs_.num_shared.push_back(cells.num_shared);
      runs_.num_dropped.push_back(cells.num_dropped);
      for (std::size_t i = 0; i < cells.runs.size(); ++i) {
        const auto means = joined_.means(cells, i);
        const auto run = cells.runs[i];
        std::ranges::copy(means, runs_.means.begin() + static_cast<std::ptrdiff_t>(runs_.cell(run, measure, 0, 0)));
      }
      if (joined_.is_paired()) {
        runs_.variance.push_back(
            shares_of(centred(table_of(cells)), RunsCompared::several, question_.comparison.confidence));
      }
    }
    for (std::size_t run = 0; run < runs_.runs.labels.size(); ++run) {
      for (std::size_t measure = 0; measure < num_measures(); ++measure) {
        if (std::ranges::find(measured_[measure], run) == measured_[measure].end()) {
          continue;
        }
        auto& values = series_.emplace_back(Series{{runs_.runs.labels[run], runs_.measures.labels[measure]}}).means;
        for (std::size_t place = 0; place < num_cells(); ++place) {
          values.push_back(runs_.means[runs_.cell(run, measure, 0, 0) + place].value);
        }
      }
    }
  }

  /// Empty where fewer than two runs have the measure.
  CellTable table_of(const RunCells& cells) const {
    if (cells.runs.size() < 2) {
      return {};
    }
    CellTable table{{cells.runs.size(), runs_.subjects.labels.size(), runs_.num_templates, runs_.num_rephrasings,
                     runs_.num_replicates, runs_.items.labels.size()},
                    {}};
    for (const auto& values : cells.values) {
      table.values.insert(table.values.end(), values.begin(), values.end());
    }
    return without_mean_replicate(std::move(table), joined_.axis(replicate_axis).labels);
  }

  std::vector<std::size_t> common_measures(const RunPair& pair) const {
    std::vector<std::size_t> common;
    for (std::size_t measure = 0; measure < num_measures(); ++measure) {
      const auto& runs = measured_[measure];
      if (base::contains(runs, pair.left) && base::contains(runs, pair.right)) {
        common.push_back(measure);
      }
    }
    return common;
  }

  void compare_pairs() {
    auto comparison = question_.comparison;
    comparison.contrasts.clear();
    std::map<std::string, std::pair<std::size_t, std::size_t>> places;  // of a contrast: pair, subject
    for (const auto& pair : pairs_of(runs_.runs.labels.size(), question_.against)) {
      const auto common = common_measures(pair);
      if (common.empty()) {
        continue;
      }
      runs_.pairs.push_back(pair);
      for (std::size_t subject = 0; subject < runs_.subjects.labels.size(); ++subject) {
        const auto& label = runs_.subjects.labels[subject];
        sweep::Contrast contrast;
        contrast.name = runs_.pair_label(pair) + " | " + label;
        const auto of_run = [&](std::size_t run) {
          return sweep::Selection{results::score_axis_names[replicate_axis], {runs_.runs.labels[run]}};
        };
        contrast.left = {of_run(pair.left), {"subject", {label}}};
        contrast.right = {of_run(pair.right), {"subject", {label}}};
        contrast.measures = base::mapped(common, [&](std::size_t measure) { return runs_.measures.labels[measure]; });
        places[contrast.name] = {runs_.pairs.size() - 1, subject};
        comparison.contrasts.push_back(std::move(contrast));
      }
    }
    runs_.differences.resize(runs_.pairs.size() * num_measures() * num_cells());
    const TableOfRuns table(joined_);
    for (auto& row : compare(table.scores(), comparison, question_.seed)) {
      const auto [pair, subject] = places.at(row.contrast);
      const auto place = runs_.cell(pair, *results::place_of(runs_.measures.labels, row.measure), subject,
                                    *results::place_of(runs_.items.labels, row.item));
      runs_.differences[place] = std::move(row);
    }
  }

  /// Names are compared as those of a table of ratings are.
  void add_people() {
    if (!question_.people) {
      return;
    }
    const auto& people = *question_.people;
    const NameIndex subjects(people.subjects);
    const NameIndex items(people.items);
    std::vector<double> values;
    for (const auto& subject : runs_.subjects.labels) {
      for (const auto& item : runs_.items.labels) {
        const auto row = subjects.find(subject);
        const auto column = items.find(item);
        values.push_back(row && column ? people.means[*row * people.items.size() + *column] : stats::nan);
      }
    }
    if (std::ranges::any_of(values, [](double value) { return !std::isnan(value); })) {
      series_.push_back({{people_label, "mean rating"}, std::move(values)});
    }
  }

  void correlate() {
    std::vector<std::size_t> all_items(runs_.items.labels.size());
    std::iota(all_items.begin(), all_items.end(), std::size_t{0});
    std::vector<ItemGroup> groups = {{"all", std::move(all_items)}};
    std::ranges::move(dimension_groups(runs_.items), std::back_inserter(groups));
    for (const auto& group : groups) {
      std::vector<bool> is_inside;
      for (std::size_t place = 0; place < num_cells(); ++place) {
        is_inside.push_back(base::contains(group.items, place % runs_.items.labels.size()));
      }
      for (std::size_t right = 0; right < series_.size(); ++right) {
        for (std::size_t left = 0; left < right; ++left) {
          if (are_compared(series_[left].name, series_[right].name)) {
            runs_.correlations.push_back(correlation_of(series_[left], series_[right], is_inside));
            runs_.correlations.back().items = group.name;
          }
        }
      }
    }
  }

  bool are_compared(const RunSeries& left, const RunSeries& right) const {
    return left.run != right.run &&
           (left.measure == right.measure || right.run == people_label || !joined_.is_paired());
  }

  static SeriesCorrelation correlation_of(const Series& left, const Series& right, const std::vector<bool>& is_inside) {
    std::vector<double> lefts;
    std::vector<double> rights;
    for (std::size_t place = 0; place < is_inside.size(); ++place) {
      if (is_inside[place] && !std::isnan(left.means[place]) && !std::isnan(right.means[place])) {
        lefts.push_back(left.means[place]);
        rights.push_back(right.means[place]);
      }
    }
    const auto tau = stats::kendall_tau_b(lefts, rights);
    return {.left = left.name,
            .right = right.name,
            .items = {},
            .tau_b = tau.value,
            .pearson = stats::pearson(lefts, rights).value,
            .spearman = stats::spearman(lefts, rights).value,
            .n = static_cast<std::int32_t>(lefts.size()),
            .reason = tau.reason};
  }

  const JoinedRuns& joined_;
  const RunQuestion& question_;
  RunComparison runs_;
  std::vector<std::vector<std::size_t>> measured_;  ///< [measure]: runs that have it
  std::vector<Series> series_;
};

}  // namespace

RunComparison compare_runs(const JoinedRuns& joined, const RunQuestion& question) {
  return RunComparer(joined, question).take();
}

}  // namespace stereosweep::findings
