#include "findings/correlations/SubjectScores.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/text/Text.hpp"
#include "stats/Summary.hpp"

namespace stereosweep::findings {
namespace {

/// The replicate that is the mean of the others, else all.
std::vector<std::size_t> replicates_of(const results::AxisSchema& axis) {
  std::vector<std::size_t> all;
  for (std::size_t place = 0; place < axis.labels.size(); ++place) {
    if (axis.labels[place] == results::ScoreTable::mean_replicate) {
      return {place};
    }
    all.push_back(place);
  }
  return all;
}

std::vector<std::size_t> places_with(const std::vector<std::string>& values, const std::string& value) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < values.size(); ++place) {
    if (values[place] == value) {
      places.push_back(place);
    }
  }
  return places;
}

/// What items can be named by: "item" and "item.COORDINATE", with what stands there for each item.
std::vector<std::pair<std::string, const std::vector<std::string>*>> item_columns(const results::AxisSchema& items) {
  std::vector<std::pair<std::string, const std::vector<std::string>*>> columns = {{items.name, &items.labels}};
  for (const auto& coordinate : items.coordinates) {
    columns.emplace_back(items.name + "." + coordinate.name, &coordinate.values);
  }
  return columns;
}

}  // namespace

std::vector<double> subject_means(const Scores& scores, const std::vector<double>& values,
                                  const std::vector<ItemGroup>& groups) {
  return subject_means(scores, values, groups, replicates_of(*scores.axes[replicate_axis]));
}

std::vector<double> subject_means(const Scores& scores, const std::vector<double>& values,
                                  const std::vector<ItemGroup>& groups, const std::vector<std::size_t>& replicates) {
  const auto num_replicates = scores.length(replicate_axis);
  const auto num_items = scores.length(item_axis);
  const auto num_sentences = scores.length(template_axis) * scores.length(rephrasing_axis);
  const auto cell_mean = [&](std::size_t cell, std::size_t item) {
    std::vector<double> present;
    for (const auto replicate : replicates) {
      const double value = values[(cell * num_replicates + replicate) * num_items + item];
      if (std::isfinite(value)) {
        present.push_back(value);
      }
    }
    return stats::mean(present);
  };
  std::vector<double> means;
  for (std::size_t subject = 0; subject < scores.length(subject_axis); ++subject) {
    for (const auto& group : groups) {
      std::vector<double> cells;
      for (const auto item : group.items) {
        for (std::size_t sentence = 0; sentence < num_sentences; ++sentence) {
          const auto cell = cell_mean(subject * num_sentences + sentence, item);
          if (cell.defined()) {
            cells.push_back(cell.value);
          }
        }
      }
      means.push_back(stats::mean(cells).value);
    }
  }
  return means;
}

void equalise(std::vector<double>& values) {
  constexpr double rounding = 1e-12;
  std::vector<double*> order;
  double largest = 0;
  for (auto& value : values) {
    if (std::isfinite(value)) {
      order.push_back(&value);
      largest = std::max(largest, std::abs(value));
    }
  }
  std::ranges::sort(order, {}, [](const double* value) { return *value; });
  for (std::size_t place = 1; place < order.size(); ++place) {
    if (*order[place] - *order[place - 1] <= rounding * largest) {
      *order[place] = *order[place - 1];
    }
  }
}

std::vector<ItemGroup> item_groups(const Scores& scores, const std::vector<sweep::Selection>& selections,
                                   const std::string& key, std::vector<std::string>& faults) {
  const auto columns = item_columns(*scores.axes[item_axis]);
  std::vector<ItemGroup> groups;
  for (const auto& selection : selections) {
    const auto column = std::ranges::find(columns, selection.axis, &decltype(columns)::value_type::first);
    if (column == columns.end()) {
      std::vector<std::string> known;
      std::ranges::transform(columns, std::back_inserter(known), &decltype(columns)::value_type::first);
      faults.push_back(base::describe(key + ": nothing names items by '" + selection.axis + "'",
                                      "the score table has " + base::join(known, ", "),
                                      base::did_you_mean(selection.axis, known)));
      continue;
    }
    for (const auto& value : selection.values) {
      ItemGroup group{value, places_with(*column->second, value)};
      if (group.items.empty()) {
        faults.push_back(base::describe(key + ": no '" + value + "' on " + selection.axis, "the score table has none",
                                        base::did_you_mean(value, *column->second)));
      } else if (std::ranges::find(groups, group.items, &ItemGroup::items) == groups.end()) {
        groups.push_back(std::move(group));
      }
    }
  }
  return groups;
}

std::vector<ItemGroup> dimension_groups(const results::AxisSchema& items) {
  std::vector<ItemGroup> groups;
  const auto* dimensions = items.find_coordinate("dimension");
  if (dimensions == nullptr) {
    return groups;
  }
  for (const auto& name : *dimensions) {
    if (!name.empty() && std::ranges::find(groups, name, &ItemGroup::name) == groups.end()) {
      groups.push_back({name, places_with(*dimensions, name)});
    }
  }
  return groups;
}

}  // namespace stereosweep::findings
