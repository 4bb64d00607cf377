#include "findings/runs/RunComparison.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "base/Lists.hpp"
#include "base/files/PendingFile.hpp"
#include "base/text/Text.hpp"
#include "findings/Finding.hpp"
#include "findings/Names.hpp"
#include "findings/correlations/SubjectScores.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"
#include "results/tables/TerminalTable.hpp"

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
    runs_.num_answers.assign(runs_.means.size(), 0);
    for (std::size_t measure = 0; measure < num_measures(); ++measure) {
      const auto cells = joined_.cells(measure);
      measured_.push_back(cells.runs);
      runs_.num_shared.push_back(cells.num_shared);
      runs_.num_dropped.push_back(cells.num_dropped);
      for (std::size_t i = 0; i < cells.runs.size(); ++i) {
        const auto means = joined_.means(cells, i);
        const auto run = cells.runs[i];
        const auto first = static_cast<std::ptrdiff_t>(runs_.cell(run, measure, 0, 0));
        std::ranges::copy(means, runs_.means.begin() + first);
        std::ranges::copy(joined_.num_answers(cells, i), runs_.num_answers.begin() + first);
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
      const auto of_run = [&, measure = *results::place_of(runs_.measures.labels, row.measure),
                           item = *results::place_of(runs_.items.labels, row.item), subject = subject](
                              std::size_t run) { return runs_.num_answers[runs_.cell(run, measure, subject, item)]; };
      row.num_answers = of_run(runs_.pairs[pair].left) + of_run(runs_.pairs[pair].right);
      const auto place = runs_.cell(pair, *results::place_of(runs_.measures.labels, row.measure), subject,
                                    *results::place_of(runs_.items.labels, row.item));
      row.claim = base::replace_all(row.claim, ": scores lean ", " leans ");  // a side is one run
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
      for (std::size_t right = 0; right < series_.size(); ++right) {
        for (std::size_t left = 0; left < right; ++left) {
          if (are_compared(series_[left].name, series_[right].name)) {
            runs_.correlations.push_back(
                correlation_of(series_[left], series_[right], group, runs_.items.labels.size()));
          }
        }
      }
    }
  }

  bool are_compared(const RunSeries& left, const RunSeries& right) const {
    return left.run != right.run &&
           (left.measure == right.measure || right.run == people_label || !joined_.is_paired());
  }

  static SeriesCorrelation correlation_of(const Series& left, const Series& right, const ItemGroup& group,
                                          std::size_t num_items) {
    std::vector<double> lefts;
    std::vector<double> rights;
    for (std::size_t first = 0; first < left.means.size(); first += num_items) {
      for (const auto item : group.items) {
        lefts.push_back(left.means[first + item]);
        rights.push_back(right.means[first + item]);
      }
    }
    return {left.name, right.name, group.name, agreement_of(lefts, rights)};
  }

  const JoinedRuns& joined_;
  const RunQuestion& question_;
  RunComparison runs_;
  std::vector<std::vector<std::size_t>> measured_;  ///< [measure]: runs that have it
  std::vector<Series> series_;
};

constexpr std::size_t most_names = 6;

/// What is compared, and what is left out.
std::vector<Sentence> scope_sentences(const RunComparison& runs) {
  std::string shared = base::counted(runs.runs.labels.size(), "run") + ", " +
                       base::counted(runs.subjects.labels.size(), "subject") + ", " +
                       base::counted(runs.items.labels.size(), "item") + " that all have";
  shared += runs.why_unpaired.empty()
                ? "; cells that are compared: " + base::counted(runs.num_templates, "template") + " x " +
                      base::counted(runs.num_rephrasings, "rephrasing") + " x " +
                      base::counted(runs.num_replicates, "replicate") + "."
                : ". No cells are paired (" + runs.why_unpaired + "): means and correlations only, no differences.";
  std::vector<Sentence> sentences = {{"", std::move(shared)}};
  for (const auto& axis : runs.not_shared) {
    sentences.push_back({"", "left out, not in all runs: " + base::counted(axis.labels.size(), axis.axis) + ": " +
                                 results::first_names(axis.labels, most_names) + "."});
  }
  for (std::size_t measure = 0; measure < runs.measures.labels.size(); ++measure) {
    if (runs.num_dropped[measure] > 0) {
      const auto& label = runs.measures.labels[measure];
      sentences.push_back({label, "left out in " + label + ": " + base::counted(runs.num_dropped[measure], "cell") +
                                      " with a score in some runs only; " +
                                      base::with_thousands(runs.num_shared[measure]) + " are shared."});
    }
  }
  return sentences;
}

Finding differences_finding(const RunComparison& runs, sweep::Comparison comparison) {
  const auto each = [&](auto read) { return base::mapped(runs.pairs, read); };
  AxisSchema axis{
      "run_pair",
      "runs that are compared",
      each([&](const RunPair& pair) { return runs.pair_label(pair); }),
      {{"left", "run", each([&](const RunPair& pair) { return runs.runs.labels[pair.left]; })},
       {"right", "run taken off", each([&](const RunPair& pair) { return runs.runs.labels[pair.right]; })}}};
  Finding found{.name = "run", .axes = {std::move(axis), runs.measures, runs.subjects, runs.items}};
  comparison.contrasts.clear();  // the runs have their own
  add_differences(found, runs.differences, comparison);
  found.notes += " Of two models they say nothing of others.";
  const bool has_answers = std::ranges::any_of(runs.num_answers, [](auto number) { return number > 0; });
  const bool is_one = runs.pairs.size() == 1;  // its name stands in the title
  found.views = {
      {.title = "Differences between runs in ",
       .columns = table_columns(std::string(is_one ? "" : "runs: run_pair, ") +
                                "subject, item, left, right, difference, low, high, templates: "
                                "num_templates, p, p adjusted: p_holm" +
                                (has_answers ? ", answers: num_answers" : "")),
       .by = "p",
       .each = is_one ? std::vector<std::string>{"measure", "run_pair"} : std::vector<std::string>{"measure"},
       .only = "difference"}};
  found.question = {{.claims = base::mapped(runs.differences, &ContrastRow::claim),
                     .value = "difference",
                     .counted = "template",
                     .least = "p_flip_smallest"}};
  answer(found, runs.measures, comparison.confidence);
  return found;
}

Finding correlations_finding(const RunComparison& runs) {
  const auto& rows = runs.correlations;
  Finding found{.name = "series"};
  found.axes = {list_axis<SeriesCorrelation>(
      "series_pair", "two series of means: a measure of a run, or people's means", rows,
      {{"measure", "measure of the first", [](const auto& row) { return row.left.measure; }},
       {"items", "all items, or those of one dimension", [](const auto& row) { return row.items; }},
       {"left", "a measure of a run", [](const auto& row) { return row.left.label(); }},
       {"right", "a measure of another run, or people's means", [](const auto& row) { return row.right.label(); }}})};
  const auto add = [&](Role role, const char* name, const char* what, stats::Correlation Agreement::*of, auto member) {
    found.add(role, rows, name, "1", what, [=](const auto& row) { return (row.agreement.*of).*member; });
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
      "tau-b: Kendall's, r: Pearson's, rho: Spearman's, of mean scores over subjects and items. No p: means of one run "
      "share templates and groups.";
  if (runs.subjects.labels.size() < few_subjects && !rows.empty()) {
    found.warnings = {few_subjects_warning(rows.size(), rows.size())};
  }
  return found;
}

Finding means_finding(const RunComparison& runs) {
  Finding found{.name = "run_mean", .axes = {runs.runs, runs.measures, runs.subjects, runs.items}};
  found
      .add(Role::value, runs.means, "", "",
           std::string("mean score over ") +
               (runs.why_unpaired.empty() ? "the cells that all runs with the measure have" : "the run's own cells"),
           &CellMean::value)
      .note = "unit: measure_units";
  found.add(Role::n, runs.means, "n", "1", "(template, rephrasing) in the mean", &CellMean::num_cells);
  found.add(Role::n, runs.num_answers, "answers", "1", "sampled answers that were read in the mean; 0: it is of none",
            std::identity());
  if (runs.pairs.empty()) {
    found.views = {
        {.title = "Means of runs in ", .columns = table_columns("run, subject, item, mean:, cells: n, answers")}};
  }
  return found;
}

Finding counts_finding(const RunComparison& runs) {
  Finding found{.name = "num", .axes = {runs.measures}};
  const auto count = [](std::uint64_t value) { return static_cast<double>(value); };
  found.add(Role::value, runs.num_shared, "shared", "1", "cells with a score in all runs that have the measure", count);
  found.add(Role::value, runs.num_dropped, "dropped", "1", "cells with a score in some of these runs only: left out",
            count);
  return found;
}

/// What was asked first.
std::vector<Finding> findings_of(const RunComparison& runs, const sweep::Comparison& comparison) {
  std::vector<Finding> found;
  if (!runs.pairs.empty()) {
    found.push_back(differences_finding(runs, comparison));
  }
  found.push_back(correlations_finding(runs));
  found.push_back(means_finding(runs));
  found.push_back(counts_finding(runs));
  if (!runs.pairs.empty()) {
    auto variance = findings_of("run_", runs.measures, RunsCompared::several, runs.variance, comparison.confidence);
    std::ranges::move(variance, std::back_inserter(found));
  }
  const auto is_shown = [](const Finding& finding) { return finding.num_rows() > 0 && !finding.views.empty(); };
  if (const auto first = std::ranges::find_if(found, is_shown); first != found.end()) {
    first->sentences = scope_sentences(runs);
    if (runs.pairs.empty()) {
      first->answers = {{"", "No difference between these runs can be tested: " +
                                 (runs.why_unpaired.empty() ? "they share no measure" : runs.why_unpaired) + "."}};
    }
  }
  return found;
}

}  // namespace

RunComparison compare_runs(const JoinedRuns& joined, const RunQuestion& question) {
  return RunComparer(joined, question).take();
}

void write_runs(const std::filesystem::path& target, const RunComparison& runs, const sweep::Comparison& comparison) {
  base::PendingFile pending(target);
  auto file = hdf5::File::create(pending.path());
  auto& root = file.root();
  root.write_attribute("Conventions", "CF-1.8");
  root.write_attribute("schema", "stereosweep-runs");
  root.write_attribute("schema_version", "1.0");
  root.write_attribute("software", "stereosweep");
  root.write_attribute("software_version", results::software_version());
  root.write_attribute("paired", runs.why_unpaired.empty() ? "yes" : "no: " + runs.why_unpaired);
  {
    results::Layout layout(root);
    layout.add_axis(runs.runs);
    for (const auto& finding : findings_of(runs, comparison)) {
      write(layout, finding);
    }
  }
  root.write_attribute("complete", std::int64_t{1});
  file.finish();
  results::commit_sealed(pending);
}

std::string runs_text(const RunComparison& runs, const sweep::Comparison& comparison, std::size_t top,
                      const results::ShownMeasures& all_shown) {
  const auto shown = all_shown.or_all_of(runs.measures.labels);
  auto measures = runs.measures.labels;
  std::erase_if(measures, [&](const auto& label) { return !shown.holds(label); });
  std::string text = "How " + base::counted(runs.runs.labels.size(), "run") + " agree and differ\n";
  Told told;
  for (const auto& finding : findings_of(runs, comparison)) {
    told.add(told_by(finding, top, shown));
  }
  const auto answers = base::join(told.answers, "\n");
  text += answers + (answers.empty() ? "" : "\n") + told.text();
  return text + '\n' + results::definitions_text(measures, answers);
}

}  // namespace stereosweep::findings
