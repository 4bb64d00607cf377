#include "probes/association/scores/StatisticsText.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Text.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::association {

std::string status_text(const StatisticsResult& result) {
  results::TextTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < result.cell_status_names.size(); ++status) {
    if (const auto count = result.scores.cells_by_status[status]; count > 0) {
      cells.add({result.cell_status_names[status], base::with_thousands(count)});
    }
  }
  results::TextTable undefined({"scores that do not exist", "reason", "number"});
  std::size_t num_reasons = 0;
  for (std::size_t measure = 0; measure < result.scores.axes.measures.size(); ++measure) {
    for (std::size_t prior = 0; prior < result.scores.axes.priors.size(); ++prior) {
      const auto& counts = result.scores.scores_by_status[result.scores.table_index(measure, prior)];
      for (std::size_t reason = 1; reason < counts.size(); ++reason) {
        if (counts[reason] > 0) {
          undefined.add({result.scores.table_name(measure, prior), std::string(stats::score_status_names[reason]),
                         base::with_thousands(counts[reason])});
          ++num_reasons;
        }
      }
    }
  }
  return cells.text() + "\n" + (num_reasons > 0 ? undefined.text() : std::string("Every score exists.\n"));
}

std::string top_associations_text(const StatisticsResult& result, std::size_t count) {
  const auto& axes = result.scores.axes;
  const auto text = results::wrapped(
      "Strongest associations: mean over sentences of right minus left pole, nat (prior: " + axes.priors.front() +
      ")\n\n");
  results::TextTable table({"measure", "group", "leans to", "rather than", "score"});
  for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
    const auto first = result.scores.overall_index(measure, 0, 0, 0);
    const auto score = [&](std::size_t cell) { return result.scores.overall[first + cell].value(); };
    std::vector<std::size_t> order;
    for (std::size_t cell = 0; cell < axes.groups.size() * axes.pairs.size(); ++cell) {
      if (result.scores.overall[first + cell].count > 0) {
        order.push_back(cell);
      }
    }
    const auto shown = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                      [&](auto a, auto b) {
                        const auto left = std::abs(score(a));
                        const auto right = std::abs(score(b));
                        return left != right ? left > right : a < b;
                      });
    for (std::size_t rank = 0; rank < shown; ++rank) {
      const auto& pair = result.pairs[order[rank] % axes.pairs.size()];
      const auto value = score(order[rank]);
      table.add({rank == 0 ? axes.measures[measure] : "", axes.groups[order[rank] / axes.pairs.size()],
                 result.pole_names[value > 0 ? pair.right : pair.left],
                 result.pole_names[value > 0 ? pair.left : pair.right], results::fixed(value)});
    }
  }
  return text + table.text();
}

}  // namespace stereosweep::probes::association
