#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "findings/correlations/Correlations.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

std::string adjusted_among(sweep::Comparison::Family family) {
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

std::string notes_of(const Correlations& correlations, const sweep::Comparison& comparison) {
  std::string text =
      "r: spearman's rho, pearson's r or kendall's tau-b of the subjects' mean scores, over the n that have both. low, "
      "high: " +
      results::percent(comparison.confidence) +
      " interval of the test of p; subjects are a sample to both. p: two-sided, subjects shuffled (all ways up to 8, "
      "else " +
      base::with_thousands(static_cast<std::uint64_t>(comparison.draws)) +
      " draws) and the correlation divided by a standard error that allows for sides that scatter in the same places; "
      "Holm among " +
      adjusted_among(comparison.family) + ".";
  std::size_t fewest = 6;
  for (const auto& row : correlations.rows) {
    fewest = row.test.correlation.defined() ? std::min(fewest, row.test.correlation.n) : fewest;
  }
  if (fewest < 6) {
    text += " With " + std::to_string(fewest) + " subjects p cannot be below " +
            results::p_value(2 / std::tgamma(static_cast<double>(fewest) + 1)) + ".";
  }
  if (!correlations.unclustered.empty()) {
    text += " No clusters, and so no correlations within them: " + base::join(correlations.unclustered, ", ") + ".";
  }
  return text;
}

std::vector<std::string> warnings_of(const std::vector<CorrelationRow>& rows) {
  std::vector<std::string> warnings;
  if (std::ranges::any_of(rows, [](const CorrelationRow& row) { return row.cluster >= 0; })) {
    warnings.emplace_back(
        "members of a cluster were chosen by their scores. On the dimensions that made the clusters they vary less "
        "than all subjects (restricted range), and a correlation within a cluster can be smaller than among all, or of "
        "the other sign; its p and interval take the cluster for given.");
  }
  constexpr std::size_t few_subjects = 10;
  const auto is_of_few = [](const CorrelationRow& row) {
    return row.test.correlation.defined() && row.test.correlation.n < few_subjects;
  };
  if (const auto count = std::ranges::count_if(rows, is_of_few); count > 0) {
    warnings.push_back(
        std::to_string(count) + " of " + std::to_string(rows.size()) +
        " correlations are over fewer than 10 subjects: one subject more or less can change their sign.");
  }
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (row.shares_items) {
      base::add_once(names, row.left + " x " + row.right);
    }
  }
  if (!names.empty()) {
    warnings.push_back("some rows and columns have items in common (" + results::first_names(std::move(names), 3) +
                       "): they are correlated by construction.");
  }
  return warnings;
}

results::AxisSchema axis_of(const std::vector<CorrelationRow>& rows) {
  using Row = CorrelationRow;
  return list_axis<Row>("correlation", "what was asked, measure, method, subjects and the two sides", rows,
                        {{"name", "name of what was asked", &Row::name},
                         {"measure", "whose scores", &Row::measure},
                         {"method", "spearman: rho, pearson: r, kendall: tau-b",
                          [](const Row& row) {
                            return sweep::CorrelationRequest::method_names.at(static_cast<std::size_t>(row.method));
                          }},
                         {"among", "over all subjects, or the members of a cluster", &Row::among},
                         {"row", "item, or what items have in common", &Row::left},
                         {"column", "with which it is correlated", &Row::right}});
}

void add_columns(Finding& finding, const std::vector<CorrelationRow>& rows, const sweep::Comparison& comparison) {
  using Test = CorrelationTest;
  const auto add = [&](Role role, const char* name, const std::string& what, auto read) -> Column& {
    return finding.add(role, rows, name, "1", what, [read](const CorrelationRow& row) { return read(row.test); });
  };
  const auto interval = results::percent(comparison.confidence) + " interval";
  const char* assumed = "of the test of p: subjects are a sample; dependent scatter of the two sides is allowed for";
  const auto family = ", adjusted among " + adjusted_among(comparison.family);
  add(Role::value, "coefficient", "correlation of the two sides over subjects",
      [](const Test& test) { return test.correlation.value; });
  add(Role::n, "n", "subjects with both scores",
      [](const Test& test) { return static_cast<std::int32_t>(test.correlation.n); });
  add(Role::low, "low", "lower end of the " + interval, [](const Test& test) {
    return test.pairing.interval.low;
  }).note = assumed;
  add(Role::high, "high", "upper end of the " + interval, [](const Test& test) {
    return test.pairing.interval.high;
  }).note = assumed;
  add(Role::p, "p", "two-sided p of the studentised correlation, subjects shuffled", [](const Test& test) {
    return test.pairing.p;
  }).note = "all pairings are counted up to 8 subjects, else drawn";
  add(Role::low, "p_low", "lower end of the interval of a p that was drawn; p where it was counted",
      [](const Test& test) { return test.pairing.p_interval.low; })
      .of = "p";
  add(Role::high, "p_high", "upper end of the interval of a p that was drawn; p where it was counted",
      [](const Test& test) { return test.pairing.p_interval.high; })
      .of = "p";
  add(Role::adjusted, "p_holm", "p after Holm" + family, [](const Test& test) { return test.p_holm; });
  add(Role::adjusted, "p_yekutieli", "p after Benjamini and Yekutieli" + family,
      [](const Test& test) { return test.p_yekutieli; });
  add(Role::p, "p_formula", "two-sided p by Student's t, or by the distribution of tau",
      [](const Test& test) { return test.correlation.p; });
  add(Role::status, "status", "why there is no correlation", [](const Test& test) { return test.correlation.reason; });
  add(Role::status, "interval_status", "why there is no interval", [](const Test& test) {
    return test.pairing.interval.reason;
  }).of = "low";
}

}  // namespace

std::vector<Finding> findings_of(const Correlations& correlations, const sweep::Comparison& comparison) {
  Finding found{.name = "correlation",
                .axes = {axis_of(correlations.rows)},
                .notes = notes_of(correlations, comparison),
                .warnings = warnings_of(correlations.rows)};
  add_columns(found, correlations.rows, comparison);
  found.views = {
      {.title = "Correlations over subjects: ",
       .columns = table_columns("row, column, among, method, r: coefficient, low, high, n, p, p Holm: p_holm"),
       .by = "p",
       .each = {"name", "measure"}}};
  found.named = base::joined(comparison.correlations, &sweep::CorrelationRequest::measures);
  Finding scores{.name = "correlation_score", .axes = correlations.axes};
  scores.add(Role::value, correlations.scores, "", "", "mean over items, templates and rephrasings", std::identity())
      .note = "unit: measure_units";
  return {std::move(found), std::move(scores)};
}

}  // namespace stereosweep::findings
