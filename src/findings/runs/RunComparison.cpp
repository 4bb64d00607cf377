#include "findings/runs/RunComparison.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/Names.hpp"
#include "findings/contrasts/Contrasts.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "findings/people/Agreement.hpp"
#include "findings/variance/Variance.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

constexpr std::size_t most_names = 6;

/// Left minus right: places on the axis `run`.
struct RunPair {
  std::size_t left = 0;
  std::size_t right = 0;
};

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

/// Runs whose cells are paired, as `replicates` of one score table, each the mean of its own. Borrows both.
Scores table_of_runs(const JoinedRuns& joined, const AxisSchema& replicates) {
  auto scores = joined.axes_of(0);
  scores.axes[replicate_axis] = &replicates;
  scores.read = [&joined, &replicates](std::size_t measure) {
    const auto cells = joined.cells(measure);
    const auto num_runs = replicates.labels.size();
    const auto num_items = joined.items().labels.size();
    std::vector<double> values;
    for (std::size_t i = 0; i < cells.runs.size(); ++i) {
      const auto of_run = Cells(joined.axes_of(cells.runs[i]), cells.values[i]).values();
      values.resize(num_runs * of_run.size(), stats::nan);
      for (std::size_t sentence = 0; sentence < of_run.size() / num_items; ++sentence) {
        std::copy_n(of_run.begin() + static_cast<std::ptrdiff_t>(sentence * num_items), num_items,
                    values.begin() + static_cast<std::ptrdiff_t>((sentence * num_runs + cells.runs[i]) * num_items));
      }
    }
    return values;
  };
  return scores;
}

/// All runs with a measure side by side; empty where fewer than two have it.
CellTable table_of(const JoinedRuns& joined, const RunCells& cells) {
  if (cells.runs.size() < 2) {
    return {};
  }
  const auto length = [&](std::size_t axis) { return joined.axis(axis).labels.size(); };
  CellTable table{{cells.runs.size(), length(subject_axis), length(template_axis), length(rephrasing_axis),
                   length(replicate_axis), length(item_axis)},
                  base::joined(cells.values)};
  return without_mean_replicate(std::move(table), joined.axis(replicate_axis).labels);
}

/// A measure of a run, or people's means.
struct Series {
  std::string run;  ///< its label, or `people_label`
  std::string measure;
  std::vector<double> means = {};  ///< [subject, item]
};

/// Of two series, over (subject, item) where both have a mean. No p: means of one run are not independent of each
/// other.
struct SeriesCorrelation {
  const Series& left;
  const Series& right;
  std::string items;  ///< "all", or a dimension of them
  Agreement agreement;
};

class RunComparer {
 public:
  RunComparer(const JoinedRuns& joined, const RunQuestion& question)
      : joined_(joined),
        question_(question),
        runs_(question.run_axis),
        measures_(joined.measures()),
        subjects_(joined.subjects()),
        items_(joined.items()) {
    means_.resize(runs_.labels.size() * rows_of_run());
    for (std::size_t measure = 0; measure < measures_.labels.size(); ++measure) {
      read(measure);
    }
    for (const auto& pair :
         joined.is_paired() ? pairs_of(runs_.labels.size(), question.against) : std::vector<RunPair>()) {
      if (!common_measures(pair).empty()) {
        pairs_.push_back(pair);
      }
    }
    find_series();
  }

  std::vector<Finding> take() const {
    std::vector<Finding> found;
    if (!pairs_.empty()) {
      found.push_back(differences());
    }
    found.push_back(correlations());
    found.push_back(means());
    found.push_back(counts());
    if (!pairs_.empty()) {
      std::ranges::move(
          findings_of("run_", measures_, RunsCompared::several, variance_, question_.comparison.confidence),
          std::back_inserter(found));
    }
    const auto is_shown = [](const Finding& finding) { return finding.num_rows() > 0 && !finding.views.empty(); };
    if (const auto first = std::ranges::find_if(found, is_shown); first != found.end()) {
      first->sentences = scope();
      if (pairs_.empty()) {
        first->answers = {{"", "No difference between these runs can be tested: " +
                                   (joined_.is_paired() ? "they share no measure" : joined_.why_unpaired()) + "."}};
      }
    }
    return found;
  }

 private:
  std::size_t num_cells() const { return subjects_.labels.size() * items_.labels.size(); }
  std::size_t rows_of_run() const { return measures_.labels.size() * num_cells(); }

  void read(std::size_t measure) {
    const auto cells = joined_.cells(measure);
    measured_.push_back(cells.runs);
    num_shared_.push_back(cells.num_shared);
    num_dropped_.push_back(cells.num_dropped);
    for (std::size_t i = 0; i < cells.runs.size(); ++i) {
      const auto first = static_cast<std::ptrdiff_t>(cells.runs[i] * rows_of_run() + measure * num_cells());
      std::ranges::copy(joined_.means(cells, i), means_.begin() + first);
    }
    if (joined_.is_paired()) {
      variance_.push_back(
          shares_of(centred(table_of(joined_, cells)), RunsCompared::several, question_.comparison.confidence));
    }
  }

  bool has_measure(const RunPair& pair, std::size_t measure) const {
    return base::contains(measured_[measure], pair.left) && base::contains(measured_[measure], pair.right);
  }
  std::vector<std::string> common_measures(const RunPair& pair) const {
    const auto common = base::places_where(measured_.size(), [&](auto measure) { return has_measure(pair, measure); });
    return base::mapped(common, [&](auto measure) { return measures_.labels[measure]; });
  }

  /// Names of people's subjects and items are compared as those of a table of ratings are.
  void find_series() {
    for (std::size_t run = 0; run < runs_.labels.size(); ++run) {
      for (std::size_t measure = 0; measure < measured_.size(); ++measure) {
        if (base::contains(measured_[measure], run)) {
          const auto own = std::span(means_).subspan(run * rows_of_run() + measure * num_cells(), num_cells());
          series_.push_back({runs_.labels[run], measures_.labels[measure], base::mapped(own, &RunMean::value)});
        }
      }
    }
    if (!question_.people) {
      return;
    }
    const auto& people = *question_.people;
    const NameIndex subjects(people.subjects);
    const NameIndex items(people.items);
    std::vector<double> values;
    for (const auto& subject : subjects_.labels) {
      for (const auto& item : items_.labels) {
        const auto row = subjects.find(subject);
        const auto column = items.find(item);
        values.push_back(row && column ? people.means[*row * people.items.size() + *column] : stats::nan);
      }
    }
    if (std::ranges::any_of(values, [](double value) { return !std::isnan(value); })) {
      series_.push_back({people_label, "mean rating", std::move(values)});
    }
  }

  std::string pair_label(const RunPair& pair) const {
    return runs_.labels[pair.left] + " minus " + runs_.labels[pair.right];
  }

  /// [pair, measure, subject, item]
  std::vector<ContrastRow> compared_pairs() const {
    auto comparison = question_.comparison;
    comparison.contrasts = base::mapped(pairs_, [&](const RunPair& pair) {
      const auto of_run = [&](std::size_t run) {
        return std::vector<sweep::Selection>{{results::score_axis_names[replicate_axis], {runs_.labels[run]}}};
      };
      return sweep::Contrast{.name = pair_label(pair),
                             .left = of_run(pair.left),
                             .right = of_run(pair.right),
                             .each = "subject",
                             .measures = common_measures(pair)};
    });
    const AxisSchema replicates{results::score_axis_names[replicate_axis], "run", runs_.labels, {}};
    auto rows = compare(table_of_runs(joined_, replicates), comparison, question_.seed);
    std::vector<ContrastRow> differences(pairs_.size() * rows_of_run());
    auto next = rows.begin();
    for (std::size_t measure = 0; measure < measured_.size(); ++measure) {
      for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        for (std::size_t cell = 0; has_measure(pairs_[pair], measure) && cell < num_cells(); ++cell) {
          const auto own = measure * num_cells() + cell;
          auto& row = differences[pair * rows_of_run() + own] = std::move(*next++);
          row.num_answers = means_[pairs_[pair].left * rows_of_run() + own].num_answers +
                            means_[pairs_[pair].right * rows_of_run() + own].num_answers;
          row.claim = base::replace_all(row.claim, ": scores lean ", " leans ");  // a side is one run
        }
      }
    }
    return differences;
  }

  Finding differences() const {
    const auto each = [&](auto read) { return base::mapped(pairs_, read); };
    AxisSchema axis{"run_pair",
                    "runs that are compared",
                    each([&](const RunPair& pair) { return pair_label(pair); }),
                    {{"left", "run", each([&](const RunPair& pair) { return runs_.labels[pair.left]; })},
                     {"right", "run taken off", each([&](const RunPair& pair) { return runs_.labels[pair.right]; })}}};
    Finding found{.name = "run", .axes = {std::move(axis), measures_, subjects_, items_}};
    const auto rows = compared_pairs();
    auto comparison = question_.comparison;
    comparison.contrasts.clear();  // the runs have their own
    add_differences(found, rows, comparison);
    found.notes += " Of two models they say nothing of others.";
    const bool has_answers = std::ranges::any_of(means_, [](const auto& mean) { return mean.num_answers > 0; });
    const bool is_one = pairs_.size() == 1;  // its name stands in the title
    found.views = {
        {.title = "Differences between runs in ",
         .columns = table_columns(std::string(is_one ? "" : "runs: run_pair, ") +
                                  "subject, item, left, right, difference, low, high, templates: "
                                  "num_templates, p, p adjusted: p_holm" +
                                  (has_answers ? ", answers: num_answers" : "")),
         .by = "p",
         .each = is_one ? std::vector<std::string>{"measure", "run_pair"} : std::vector<std::string>{"measure"},
         .only = "difference"}};
    found.question = {{.claims = base::mapped(rows, &ContrastRow::claim),
                       .value = "difference",
                       .counted = "template",
                       .least = "p_flip_smallest"}};
    answer(found, measures_, comparison.confidence);
    return found;
  }

  bool are_compared(const Series& left, const Series& right) const {
    return left.run != right.run &&
           (left.measure == right.measure || right.run == people_label || !joined_.is_paired());
  }

  std::vector<SeriesCorrelation> correlated_series() const {
    std::vector<ItemGroup> groups = {{"all", base::places_below(items_.labels.size())}};
    std::ranges::move(dimension_groups(items_), std::back_inserter(groups));
    std::vector<SeriesCorrelation> correlated;
    for (const auto& group : groups) {
      const auto means_in_group = [&](const Series& series) {
        std::vector<double> means;
        for (std::size_t first = 0; first < series.means.size(); first += items_.labels.size()) {
          std::ranges::for_each(group.items, [&](auto item) { means.push_back(series.means[first + item]); });
        }
        return means;
      };
      for (std::size_t right = 0; right < series_.size(); ++right) {
        for (std::size_t left = 0; left < right; ++left) {
          if (are_compared(series_[left], series_[right])) {
            correlated.push_back({series_[left], series_[right], group.name,
                                  agreement_of(means_in_group(series_[left]), means_in_group(series_[right]))});
          }
        }
      }
    }
    return correlated;
  }

  Finding correlations() const {
    const auto rows = correlated_series();
    const auto label = [](const Series& series) { return series.run + " | " + series.measure; };
    Finding found{.name = "series"};
    found.axes = {list_axis<SeriesCorrelation>(
        "series_pair", "two series of means: a measure of a run, or people's means", rows,
        {{"measure", "measure of the first", [](const auto& row) { return row.left.measure; }},
         {"items", "all items, or those of one dimension", [](const auto& row) { return row.items; }},
         {"left", "a measure of a run", [&](const auto& row) { return label(row.left); }},
         {"right", "a measure of another run, or people's means", [&](const auto& row) { return label(row.right); }}})};
    const auto add = [&](Role role, const char* name, const char* what, const auto&... path) {
      found.add(role, rows, name, "1", what, &SeriesCorrelation::agreement, path...);
    };
    using stats::Correlation;
    add(Role::value, "tau_b", "Kendall's tau-b of means over (subject, item)", &Agreement::tau, &Correlation::value);
    add(Role::value, "pearson", "Pearson's r of means over (subject, item)", &Agreement::pearson, &Correlation::value);
    add(Role::value, "spearman", "Spearman's rho of means over (subject, item)", &Agreement::spearman,
        &Correlation::value);
    add(Role::n, "n", "(subject, item) of which both have a mean", &Agreement::tau, &Correlation::n);
    add(Role::status, "status", "why there is no correlation", &Agreement::tau, &Correlation::reason);
    found.views = {{.title = "How alike the means of runs are, in ",
                    .columns = table_columns("of: left, and: right, items, tau-b: tau_b, r: pearson, rho: spearman, n"),
                    .by = "-tau_b"}};
    found.notes =
        "tau-b: Kendall's, r: Pearson's, rho: Spearman's, of mean scores over subjects and items. No p: means of one "
        "run share templates and groups.";
    if (subjects_.labels.size() < few_subjects && !rows.empty()) {
      found.warnings = {few_subjects_warning(rows.size(), rows.size())};
    }
    return found;
  }

  Finding means() const {
    Finding found{.name = "run_mean", .axes = {runs_, measures_, subjects_, items_}};
    found
        .add(Role::value, means_, "", "",
             std::string("mean score over ") +
                 (joined_.is_paired() ? "the cells that all runs with the measure have" : "the run's own cells"),
             &RunMean::value)
        .note = "unit: measure_units";
    found.add(Role::n, means_, "n", "1", "(template, rephrasing) in the mean", &RunMean::num_cells);
    found.add(Role::n, means_, "answers", "1", "sampled answers that were read in the mean; 0: it is of none",
              &RunMean::num_answers);
    if (pairs_.empty()) {
      found.views = {
          {.title = "Means of runs in ", .columns = table_columns("run, subject, item, mean:, cells: n, answers")}};
    }
    return found;
  }

  Finding counts() const {
    Finding found{.name = "num", .axes = {measures_}};
    const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
    found.add(Role::value, num_shared_, "shared", "1", "cells with a score in all runs that have the measure", count);
    found.add(Role::value, num_dropped_, "dropped", "1", "cells with a score in some of these runs only: left out",
              count);
    return found;
  }

  /// What is compared, and what is left out.
  std::vector<Sentence> scope() const {
    const auto count = [&](std::size_t axis, const char* noun) {
      return base::counted(joined_.axis(axis).labels.size(), noun);
    };
    std::vector<Sentence> sentences = {
        {"", base::counted(runs_.labels.size(), "run") + ", " + count(subject_axis, "subject") + ", " +
                 count(item_axis, "item") + " that all have" +
                 (joined_.is_paired()
                      ? "; cells that are compared: " + count(template_axis, "template") + " x " +
                            count(rephrasing_axis, "rephrasing") + " x " + count(replicate_axis, "replicate") + "."
                      : ". No cells are paired (" + joined_.why_unpaired() +
                            "): means and correlations only, no differences.")}};
    for (const auto& axis : joined_.not_shared()) {
      sentences.push_back({"", "left out, not in all runs: " + base::counted(axis.labels.size(), axis.axis) + ": " +
                                   results::first_names(axis.labels, most_names) + "."});
    }
    for (std::size_t measure = 0; measure < measures_.labels.size(); ++measure) {
      if (num_dropped_[measure] > 0) {
        const auto& label = measures_.labels[measure];
        sentences.push_back({label, "left out in " + label + ": " + base::counted(num_dropped_[measure], "cell") +
                                        " with a score in some runs only; " +
                                        base::with_thousands(num_shared_[measure]) + " are shared."});
      }
    }
    return sentences;
  }

  const JoinedRuns& joined_;
  const RunQuestion& question_;
  const AxisSchema& runs_;
  const AxisSchema& measures_;
  const AxisSchema& subjects_;
  const AxisSchema& items_;
  std::vector<std::vector<std::size_t>> measured_;  ///< [measure]: runs that have it
  std::vector<std::uint64_t> num_shared_;           ///< [measure]: cells that all runs with the measure have
  std::vector<std::uint64_t> num_dropped_;          ///< [measure]: cells that only some of them have
  std::vector<RunMean> means_;                      ///< [run, measure, subject, item]
  std::vector<VarianceShares> variance_;            ///< [measure]; none where cells are not paired
  std::vector<RunPair> pairs_;                      ///< with a measure that both have
  std::vector<Series> series_;
};

}  // namespace

std::vector<Finding> compare_runs(const JoinedRuns& joined, const RunQuestion& question) {
  return RunComparer(joined, question).take();
}

void write_runs(const std::filesystem::path& target, const JoinedRuns& joined, const AxisSchema& run_axis,
                const std::vector<Finding>& found) {
  results::StatisticsFile file("stereosweep-runs", target);
  file.root().write_attribute("paired", joined.is_paired() ? "yes" : "no: " + joined.why_unpaired());
  file.layout().add_axis(run_axis);
  std::ranges::for_each(found, [&](const Finding& finding) { write(file.layout(), finding); });
  file.commit();
}

std::string runs_text(const JoinedRuns& joined, const std::vector<Finding>& found, std::size_t top,
                      const results::ShownMeasures& all_shown) {
  auto measures = joined.measures().labels;
  const auto shown = all_shown.or_all_of(measures);
  std::erase_if(measures, [&](const auto& label) { return !shown.holds(label); });
  std::string text = "How " + base::counted(joined.runs().size(), "run") + " agree and differ\n";
  Told told;
  for (const auto& finding : found) {
    told.add(told_by(finding, top, shown));
  }
  const auto answers = base::join(told.answers, "\n");
  text += answers + (answers.empty() ? "" : "\n") + told.text();
  return text + '\n' + results::definitions_text(measures, answers);
}

}  // namespace stereosweep::findings
