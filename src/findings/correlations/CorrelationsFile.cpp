#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "findings/correlations/Correlations.hpp"
#include "results/TextTable.hpp"
#include "sweep/CorrelationRequest.hpp"

namespace stereosweep::findings {
namespace {

using Row = CorrelationRow;

std::string method_of(const Row& row) {
  return sweep::CorrelationRequest::method_names.at(static_cast<std::size_t>(row.method));
}

results::AxisSchema axis_of(const std::vector<Row>& rows) {
  results::AxisSchema axis{"correlation", "what was asked, measure, method, subjects and the two sides", {}, {}};
  const auto add = [&](const char* name, const char* long_name, auto read) {
    auto& coordinate = axis.coordinates.emplace_back(name, long_name, std::vector<std::string>());
    std::ranges::transform(rows, std::back_inserter(coordinate.values), read);
  };
  for (const auto& row : rows) {
    axis.labels.push_back(row.name + " | " + row.measure + " | " + method_of(row) + " | " + row.among + " | " +
                          row.left + " | " + row.right);
  }
  add("name", "name of what was asked", &Row::name);
  add("measure", "whose scores", &Row::measure);
  add("method", "spearman: rho, pearson: r, kendall: tau-b", method_of);
  add("among", "over all subjects, or the members of a cluster", &Row::among);
  add("row", "item, or what items have in common", &Row::left);
  add("column", "with which it is correlated", &Row::right);
  return axis;
}

/// The scores that were correlated.
void write_scores(results::Layout& layout, const Correlations& correlations) {
  std::vector<std::string> names;
  for (const auto& group : correlations.groups) {
    names.push_back(group.name);
  }
  layout.add_axis({"correlation_side", "item, or what items have in common", names, {}});
  const auto measure = measure_axis_of(layout, correlations.measures, "correlated_measure");
  layout.write(results::number_cube("correlation_score", "", "mean over items, templates and rephrasings",
                                    "unit: measure_units"),
               {measure, results::score_axis_names[subject_axis], "correlation_side"}, correlations.scores);
}

}  // namespace

std::string correlation_family_text(sweep::Comparison::Family family) {
  switch (family) {
    case sweep::Comparison::Family::contrast:
      return "all rows of one name, measure and method";
    case sweep::Comparison::Family::measure:
      return "all rows of one measure and method";
    case sweep::Comparison::Family::all:
      break;
  }
  return "all rows of one method";
}

void write_correlations(results::Layout& layout, const Correlations& correlations,
                        const sweep::Comparison& comparison) {
  if (const auto warnings = warnings_of(correlations); !warnings.empty()) {
    layout.root().write_attribute("correlation_warnings", base::join(warnings, "\n"));
  }
  write_scores(layout, correlations);
  layout.add_axis(axis_of(correlations.rows));
  const auto write = [&](const std::string& name, const std::string& long_name, auto read,
                         const std::string& description = "") {
    layout.write(results::number_cube("correlation_" + name, "1", long_name, description), {"correlation"},
                 correlations.rows, [&](const Row& row) { return read(row.test); });
  };
  using Test = CorrelationTest;
  const auto confidence = results::percent(comparison.confidence) + " interval";
  const std::string assumed =
      "of the test of p: subjects are a sample; dependent scatter of the two sides is allowed for";
  const auto family = ", adjusted among " + correlation_family_text(comparison.family);
  write("coefficient", "correlation of the two sides over subjects",
        [](const Test& test) { return test.correlation.value; });
  write("n", "subjects with both scores", [](const Test& test) { return test.correlation.n; });
  write(
      "low", "lower end of the " + confidence, [](const Test& test) { return test.pairing.interval.low; }, assumed);
  write(
      "high", "upper end of the " + confidence, [](const Test& test) { return test.pairing.interval.high; }, assumed);
  write(
      "p", "two-sided p of the studentised correlation, subjects shuffled",
      [](const Test& test) { return test.pairing.p; }, "all pairings are counted up to 8 subjects, else drawn");
  write("p_low", "lower end of the interval of a p that was drawn; p where it was counted",
        [](const Test& test) { return test.pairing.p_interval.low; });
  write("p_high", "upper end of the interval of a p that was drawn; p where it was counted",
        [](const Test& test) { return test.pairing.p_interval.high; });
  write("p_holm", "p after Holm" + family, [](const Test& test) { return test.p_holm; });
  write("p_yekutieli", "p after Benjamini and Yekutieli" + family, [](const Test& test) { return test.p_yekutieli; });
  write("p_formula", "two-sided p by Student's t, or by the distribution of tau",
        [](const Test& test) { return test.correlation.p; });
  layout.write(results::flag_cube("correlation_status", "why there is no correlation", stats::reason_names()),
               {"correlation"}, correlations.rows, [](const Row& row) { return row.test.correlation.reason; });
  layout.write(results::flag_cube("correlation_interval_status", "why there is no interval", stats::reason_names()),
               {"correlation"}, correlations.rows, [](const Row& row) { return row.test.pairing.interval.reason; });
}

}  // namespace stereosweep::findings
