#include <algorithm>

#include "base/files/PendingFile.hpp"
#include "findings/runs/RunComparison.hpp"
#include "hdf5/File.hpp"
#include "results/Layout.hpp"
#include "results/Seal.hpp"
#include "results/Software.hpp"

namespace stereosweep::findings {
namespace {

using results::AxisSchema;
using results::Layout;

constexpr const char* series_name = "series";
constexpr const char* other_series_name = "other_series";
constexpr const char* pair_name = "run_pair";
constexpr const char* item_group_name = "item_group";

AxisSchema series_axis(const RunComparison& runs, const std::string& name) {
  AxisSchema axis{name, "a measure of a run, or people's means", {}, {{"run", "run", {}}, {"measure", "measure", {}}}};
  for (const auto& series : runs.series) {
    axis.labels.push_back(series.label());
    axis.coordinates[0].values.push_back(series.run);
    axis.coordinates[1].values.push_back(series.measure);
  }
  return axis;
}

void write_correlations(Layout& layout, const RunComparison& runs) {
  layout.add_axis(series_axis(runs, series_name));
  layout.add_axis(series_axis(runs, other_series_name));
  layout.add_axis({item_group_name, "all items, or those of one dimension", runs.item_groups, {}});
  const std::vector<std::string> axes = {item_group_name, series_name, other_series_name};
  const auto write = [&](const char* name, const char* long_name, double SeriesCorrelation::*field) {
    layout.write(results::number_cube(name, "1", std::string(long_name) + " of means over (subject, item)"), axes,
                 runs.correlations, field);
  };
  write("series_tau_b", "Kendall's tau-b", &SeriesCorrelation::tau_b);
  write("series_pearson", "Pearson's r", &SeriesCorrelation::pearson);
  write("series_spearman", "Spearman's rho", &SeriesCorrelation::spearman);
  layout.write(results::number_cube("series_n", "1", "(subject, item) of which both have a mean"), axes,
               runs.correlations, &SeriesCorrelation::n);
  layout.write(results::flag_cube("series_status", "why there is no correlation", stats::reason_names()), axes,
               runs.correlations, &SeriesCorrelation::reason);
}

void write_means(Layout& layout, const RunComparison& runs) {
  const std::vector<std::string> axes = {"run", "measure", "subject", "item"};
  const auto* over =
      runs.why_unpaired.empty() ? "the cells that all runs with the measure have" : "the run's own cells";
  layout.write(results::number_cube("run_mean", "", std::string("mean score over ") + over, "unit: measure_units"),
               axes, runs.means, &CellMean::value);
  layout.write(results::number_cube("run_mean_n", "1", "(template, rephrasing) in the mean"), axes, runs.means,
               &CellMean::num_cells);
  const auto write_counts = [&](const char* name, const char* long_name, const std::vector<std::uint64_t>& counts) {
    layout.write(results::number_cube(name, "1", long_name), {"measure"},
                 std::vector<double>(counts.begin(), counts.end()));
  };
  write_counts("num_shared", "cells with a score in all runs that have the measure", runs.num_shared);
  write_counts("num_dropped", "cells with a score in some of these runs only: left out", runs.num_dropped);
}

void write_pairs(Layout& layout, const RunComparison& runs, const sweep::Comparison& comparison) {
  AxisSchema axis{pair_name, "runs that are compared", {}, {{"left", "run", {}}, {"right", "run taken off", {}}}};
  for (const auto& pair : runs.pairs) {
    axis.labels.push_back(runs.pair_label(pair));
    axis.coordinates[0].values.push_back(runs.runs.labels[pair.left]);
    axis.coordinates[1].values.push_back(runs.runs.labels[pair.right]);
  }
  Finding differences{.name = "run", .axes = {axis, runs.measures, runs.subjects, runs.items}};
  add_differences(differences, runs.differences, comparison);
  write(layout, differences);
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
    Layout layout(root);
    for (const auto* axis : {&runs.runs, &runs.measures, &runs.subjects, &runs.items}) {
      layout.add_axis(*axis);
    }
    write_means(layout, runs);
    if (!runs.pairs.empty()) {
      write_pairs(layout, runs, comparison);
      for (const auto& finding :
           findings_of("run_", runs.measures, RunsCompared::several, runs.variance, comparison.confidence)) {
        write(layout, finding);
      }
    }
    write_correlations(layout, runs);
  }
  root.write_attribute("complete", std::int64_t{1});
  file.finish();
  results::commit_sealed(pending);
}

}  // namespace stereosweep::findings
