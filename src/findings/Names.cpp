#include "findings/Names.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::findings {

std::string normalised(std::string_view name) {
  std::string out;
  for (char c : base::lower_ascii(name)) {
    c = c == '-' || c == '_' || c == '\t' ? ' ' : c;
    if (c != ' ' || (!out.empty() && out.back() != ' ')) {
      out += c;
    }
  }
  return std::string(base::trim(out));
}

NameIndex::NameIndex(const std::vector<std::string>& labels) {
  for (std::size_t place = 0; place < labels.size(); ++place) {
    places_.emplace(normalised(labels[place]), place);
  }
}

std::optional<std::size_t> NameIndex::find(std::string_view name) const {
  const auto found = places_.find(normalised(name));
  return found == places_.end() ? std::nullopt : std::optional(found->second);
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
  faults.push_back(
      no_such_name(key + ": no axis or coordinate '" + name + "'", name, base::mapped(names_, &Name::first)));
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
      faults.push_back(no_such_name(key + ": no '" + value + "' on " + selection.axis, value, *named->values));
    }
    for (const auto place : places) {
      selected.takes[place] = true;
    }
  }
  return selected;
}

}  // namespace stereosweep::findings
