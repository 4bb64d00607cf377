#include "findings/AxisNames.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::findings {

std::vector<std::size_t> places_with(const std::vector<std::string>& values, const std::string& value) {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < values.size(); ++place) {
    if (values[place] == value) {
      places.push_back(place);
    }
  }
  return places;
}

AxisNames::AxisNames(const Scores& scores, std::size_t first, std::size_t last) {
  for (auto axis = first; axis <= last; ++axis) {
    const auto& schema = *scores.axes[axis];
    const std::string name = results::score_axis_names[axis];  // also of an axis with some of the table's labels
    names_.push_back({name, {axis, &schema.labels}});
    for (const auto& coordinate : schema.coordinates) {
      names_.push_back({name + "." + coordinate.name, {axis, &coordinate.values}});
    }
  }
}

std::optional<NamedAxis> AxisNames::find(const std::string& name, const std::string& key,
                                         std::vector<std::string>& faults) const {
  using Name = decltype(names_)::value_type;
  const auto axis = std::ranges::find(names_, name.substr(0, name.find('.')), &Name::first);
  if (axis != names_.end() && axis->second.values->empty()) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(names_, name, &Name::first);
  if (found != names_.end()) {
    return found->second;
  }
  faults.push_back(base::describe(key + ": no axis or coordinate '" + name + "'", "the score table has none",
                                  base::did_you_mean(name, base::mapped(names_, &Name::first))));
  return std::nullopt;
}

std::optional<Selected> AxisNames::select(const sweep::Selection& selection, const std::string& key,
                                          std::vector<std::string>& faults) const {
  const auto named = find(selection.axis, key, faults);
  if (!named) {
    return std::nullopt;
  }
  Selected selected{named->axis, {}, std::vector<bool>(named->values->size(), false)};
  for (const auto& value : selection.values) {
    const auto& places = selected.places.emplace_back(places_with(*named->values, value));
    if (places.empty()) {
      faults.push_back(base::describe(key + ": no '" + value + "' on " + selection.axis, "the score table has none",
                                      base::did_you_mean(value, *named->values)));
    }
    for (const auto place : places) {
      selected.takes[place] = true;
    }
  }
  return selected;
}

}  // namespace stereosweep::findings
