#include "probes/coreference/CoreferenceText.hpp"

#include <algorithm>
#include <cmath>

#include "base/Text.hpp"
#include "results/TextTable.hpp"

namespace stereosweep::probes::coreference {
namespace {

constexpr std::size_t all = 2;  ///< of the sets of stereotypes and genders
constexpr auto share = static_cast<std::size_t>(stats::CoreferenceMetric::share);

const Estimate& mean_of(const SentenceSummary& summary, std::size_t stereotype, std::size_t gender,
                        stats::CoreferenceMetric metric) {
  return summary.means[(3 * stereotype + gender) * stats::num_coreference_metrics + static_cast<std::size_t>(metric)];
}

/// A disparity with its name, for sorting.
struct Row {
  std::vector<std::string> names;
  Estimate estimate;
};

std::string interval_text(const Estimate& estimate) {
  return estimate.reason == stats::Reason::ok ? results::fixed(estimate.low) + " .. " + results::fixed(estimate.high)
                                              : std::string(stats::name_of(estimate.reason));
}

std::string largest_text(const std::string& title, std::vector<std::string> head, std::vector<Row> rows,
                         std::size_t top) {
  std::erase_if(rows, [](const Row& row) { return std::isnan(row.estimate.value); });
  std::stable_sort(rows.begin(), rows.end(), [](const Row& left, const Row& right) {
    return std::abs(left.estimate.value) > std::abs(right.estimate.value);
  });
  head.insert(head.end(), {"difference", "interval"});
  results::TextTable table(head);
  for (std::size_t i = 0; i < rows.size() && i < top; ++i) {
    auto cells = rows[i].names;
    cells.push_back(results::fixed(rows[i].estimate.value));
    cells.push_back(interval_text(rows[i].estimate));
    table.add(std::move(cells));
  }
  return rows.empty() ? "" : title + "\n\n" + table.text() + results::rest_text(top, rows.size(), "differences") + "\n";
}

}  // namespace

std::string coreference_status_text(const CoreferenceResult& result) {
  results::TextTable cells({"status of a cell", "cells"});
  for (std::size_t status = 0; status < result.status_names.size(); ++status) {
    if (result.cells_by_status[status] > 0) {
      cells.add({result.status_names[status], base::with_thousands(result.cells_by_status[status])});
    }
  }
  return cells.text();
}

std::string coreference_means_text(const CoreferenceResult& result, std::size_t top) {
  using Metric = stats::CoreferenceMetric;
  std::string text =
      "Means over sentences, pro / anti (P: probability of the referent; share: of the two occupations;\n"
      "entropy in nat)\n";
  for (std::size_t type = 0; type < sentence_types.size(); ++type) {
    results::TextTable table({std::string(sentence_types[type]), "sentences", "P", "share", "accuracy", "entropy"});
    std::size_t num_rows = 0;
    for (std::size_t condition = 0; condition < result.conditions.size(); ++condition) {
      const auto& summary = result.summaries[2 * condition + type];
      const auto both = [&](Metric metric) {
        return results::significant(mean_of(summary, 0, all, metric).value) + " / " +
               results::significant(mean_of(summary, 1, all, metric).value);
      };
      if (summary.counts[3 * all + all] > 0 && ++num_rows <= top) {
        table.add({result.conditions[condition],
                   std::to_string(summary.counts[all]) + " / " + std::to_string(summary.counts[3 + all]),
                   both(Metric::probability), both(Metric::share), both(Metric::accuracy), both(Metric::entropy)});
      }
    }
    text += num_rows > 0 ? "\n" + table.text() + results::rest_text(top, num_rows, "conditions") : "";
  }
  return text;
}

std::string coreference_disparities_text(const CoreferenceResult& result, std::size_t top) {
  std::vector<Row> pro_anti;
  std::vector<Row> baseline;
  std::vector<Row> privilege;
  for (std::size_t type = 0; type < sentence_types.size(); ++type) {
    for (std::size_t gender = 0; gender < gender_sets.size(); ++gender) {
      const auto index = gender * stats::num_coreference_metrics + share;
      const auto mean = (3 * all + gender) * stats::num_coreference_metrics + share;
      for (std::size_t condition = 0; condition < result.conditions.size(); ++condition) {
        const Row row{{result.conditions[condition], sentence_types[type], gender_sets[gender]}, {}};
        pro_anti.push_back({row.names, result.summaries[2 * condition + type].pro_minus_anti[index]});
        baseline.push_back({row.names, result.from_baseline[2 * condition + type].means[mean]});
      }
      for (std::size_t cell = 0; cell < result.attributes.size() * placements.size(); ++cell) {
        privilege.push_back({{result.attributes[cell / placements.size()] + ", " + placements[cell % placements.size()],
                              sentence_types[type], gender_sets[gender]},
                             result.privilege[2 * cell + type].means[mean]});
      }
    }
  }
  std::erase_if(baseline, [](const Row& row) { return row.names.front() == "baseline"; });
  const auto level = results::fixed(100 * result.confidence, 1) + " % bootstrap over pairs of sentences";
  return "Largest disparities of the share (" + level + ")\n\n" +
         largest_text("pro minus anti", {"condition", "type", "gender"}, std::move(pro_anti), top) +
         largest_text("baseline minus condition, by sentence", {"condition", "type", "gender"}, std::move(baseline),
                      top) +
         largest_text("privileged minus disadvantaged markers, by sentence", {"attribute, placement", "type", "gender"},
                      std::move(privilege), top);
}

}  // namespace stereosweep::probes::coreference
