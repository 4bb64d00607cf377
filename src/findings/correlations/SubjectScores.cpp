#include "findings/correlations/SubjectScores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::findings {
namespace {

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

std::vector<std::string> names_of(const std::vector<ItemGroup>& groups) {
  return base::mapped(groups, &ItemGroup::name);
}

std::vector<double> subject_means(const Cells& cells, const std::vector<ItemGroup>& groups) {
  std::vector<double> means;
  for (std::size_t subject = 0; subject < cells.length(subject_axis); ++subject) {
    for (const auto& group : groups) {
      means.push_back(cells.mean(subject, group.items).value);
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
      const auto known = base::mapped(columns, &decltype(columns)::value_type::first);
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

std::vector<ItemGroup> single_items(const results::AxisSchema& items) {
  std::vector<ItemGroup> groups;
  for (std::size_t item = 0; item < items.labels.size(); ++item) {
    groups.push_back({items.labels[item], {item}});
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
