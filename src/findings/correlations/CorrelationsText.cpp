#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/text/Text.hpp"
#include "findings/correlations/Correlations.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::findings {
namespace {

using Row = CorrelationRow;

std::string table_of(std::vector<const Row*> rows, std::size_t top) {
  std::ranges::stable_sort(rows, [](const Row* left, const Row* right) {
    const double first = left->test.pairing.p;
    const double second = right->test.pairing.p;
    return std::isnan(second) ? !std::isnan(first) : first < second;
  });
  results::TextTable table({"row", "column", "among", "method", "r", "low", "high", "n", "p", "p Holm"});
  const auto shown = std::min(top, rows.size());
  for (std::size_t place = 0; place < shown; ++place) {
    const auto& [correlation, pairing, holm, yekutieli] = rows[place]->test;
    table.add(
        {rows[place]->left, rows[place]->right, rows[place]->among,
         sweep::CorrelationRequest::method_names.at(static_cast<std::size_t>(rows[place]->method)),
         correlation.defined() ? results::fixed(correlation.value) : std::string(stats::name_of(correlation.reason)),
         results::fixed(pairing.interval.low), results::fixed(pairing.interval.high), std::to_string(correlation.n),
         results::p_value(pairing.p), results::p_value(holm)});
  }
  return table.text() + results::rest_text(shown, rows.size(), "rows");
}

std::string legend(const Correlations& correlations, const sweep::Comparison& comparison) {
  std::string text =
      "r: spearman's rho, pearson's r or kendall's tau-b of the subjects' mean scores, over the n that "
      "have both. low, high: " +
      results::percent(comparison.confidence) +
      " interval of the test of p; subjects are a sample to both. p: two-sided, subjects shuffled (all ways up to 8, "
      "else " +
      base::with_thousands(static_cast<std::uint64_t>(comparison.draws)) +
      " draws) and the correlation divided by a standard error that allows for sides that scatter in the same places; "
      "Holm among " +
      correlation_family_text(comparison.family) + ".";
  const auto fewest = [&] {
    std::size_t n = 0;
    for (const auto& row : correlations.rows) {
      n = row.test.correlation.defined() && (n == 0 || row.test.correlation.n < n) ? row.test.correlation.n : n;
    }
    return n;
  }();
  if (fewest > 0 && fewest < 6) {
    text += " With " + std::to_string(fewest) + " subjects p cannot be below " +
            results::p_value(2 / std::tgamma(static_cast<double>(fewest) + 1)) + ".";
  }
  text = results::wrapped(text) + '\n';
  for (const auto& warning : warnings_of(correlations)) {
    text += results::wrapped("WARNING: " + warning) + '\n';
  }
  if (!correlations.unclustered.empty()) {
    text += results::wrapped("No clusters, and so no correlations within them: " +
                             base::join(correlations.unclustered, ", ") + ".") +
            '\n';
  }
  return text;
}

}  // namespace

std::vector<std::string> warnings_of(const Correlations& correlations) {
  std::vector<std::string> warnings;
  if (std::ranges::any_of(correlations.rows, [](const Row& row) { return row.cluster >= 0; })) {
    warnings.emplace_back(
        "members of a cluster were chosen by their scores. On the dimensions that made the clusters they vary less "
        "than all subjects (restricted range), and a correlation within a cluster can be smaller than among all, or of "
        "the other sign; its p and interval take the cluster for given.");
  }
  std::vector<std::string> names;
  for (const auto& row : correlations.rows) {
    const auto name = row.left + " x " + row.right;
    if (row.shares_items && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
  if (!names.empty()) {
    warnings.push_back("some rows and columns have items in common (" + results::first_names(std::move(names), 3) +
                       "): they are correlated by construction.");
  }
  return warnings;
}

std::string correlations_text(const Correlations& correlations, const sweep::Comparison& comparison, std::size_t top) {
  std::vector<std::string> titles;
  const auto title_of = [](const Row& row) { return row.name + " in " + row.measure; };
  for (const auto& row : correlations.rows) {
    if (std::ranges::find(titles, title_of(row)) == titles.end()) {
      titles.push_back(title_of(row));
    }
  }
  std::string text;
  for (const auto& title : titles) {
    std::vector<const Row*> rows;
    for (const auto& row : correlations.rows) {
      if (title_of(row) == title) {
        rows.push_back(&row);
      }
    }
    text += "\nCorrelations over subjects: " + title + '\n' + table_of(std::move(rows), top);
  }
  return text + legend(correlations, comparison);
}

}  // namespace stereosweep::findings
