#include "findings/correlations/SubjectScores.hpp"

#include <algorithm>
#include <cmath>

#include "base/Lists.hpp"
#include "findings/Names.hpp"

namespace stereosweep::findings {
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

std::string few_subjects_warning(std::size_t count, std::size_t all) {
  return std::to_string(count) + " of " + std::to_string(all) + " correlations are over fewer than " +
         std::to_string(few_subjects) + " subjects: one subject more or less can change their sign.";
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
  const AxisNames names(scores, item_axis, item_axis);
  std::vector<ItemGroup> groups;
  for (const auto& selection : selections) {
    const auto selected = names.select(selection, key, faults);
    for (std::size_t value = 0; selected && value < selection.values.size(); ++value) {
      const auto& items = selected->places[value];
      if (!items.empty() && std::ranges::find(groups, items, &ItemGroup::items) == groups.end()) {
        groups.push_back({selection.values[value], items});
      }
    }
  }
  return groups;
}

std::vector<ItemGroup> single_items(const results::AxisSchema& items) {
  const auto group_of = [item = std::size_t{0}](const auto& label) mutable { return ItemGroup{label, {item++}}; };
  return base::mapped(items.labels, group_of);
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
