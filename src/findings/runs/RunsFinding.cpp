#include <algorithm>
#include <iterator>
#include <utility>

#include "base/Lists.hpp"
#include "base/files/PendingFile.hpp"
#include "base/text/Text.hpp"
#include "findings/runs/RunComparison.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"
#include "results/TextTable.hpp"
#include "results/measures/Glossary.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;

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
  found.views = {{.title = "Differences between runs in ",
                  .columns = table_columns("runs: run_pair, subject, item, left, right, difference, low, high, "
                                           "templates: num_templates, p, p adjusted: p_holm"),
                  .by = "p",
                  .only = "difference"}};
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
  const auto add = [&](Role role, const char* name, const char* what, auto field) {
    found.add(role, rows, name, "1", what, field);
  };
  add(Role::value, "tau_b", "Kendall's tau-b of means over (subject, item)", &SeriesCorrelation::tau_b);
  add(Role::value, "pearson", "Pearson's r of means over (subject, item)", &SeriesCorrelation::pearson);
  add(Role::value, "spearman", "Spearman's rho of means over (subject, item)", &SeriesCorrelation::spearman);
  add(Role::n, "n", "(subject, item) of which both have a mean", &SeriesCorrelation::n);
  add(Role::status, "status", "why there is no correlation", &SeriesCorrelation::reason);
  found.views = {{.title = "How alike the means of runs are, in ",
                  .columns = table_columns("of: left, and: right, items, tau-b: tau_b, r: pearson, rho: spearman, n"),
                  .by = "-tau_b"}};
  found.notes =
      "tau-b: Kendall's, r: Pearson's, rho: Spearman's, of mean scores over subjects and items. No p: means of one run "
      "share templates and groups.";
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
  if (runs.pairs.empty()) {
    found.views = {{.title = "Means of runs in ", .columns = table_columns("run, subject, item, mean:, cells: n")}};
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
  }
  return found;
}

}  // namespace

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
  for (const auto& finding : findings_of(runs, comparison)) {
    text += text_of(finding, top, shown);
  }
  return text + '\n' + results::definitions_text(measures);
}

}  // namespace stereosweep::findings
