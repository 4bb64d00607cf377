// Names of subjects and items as a table from elsewhere may spell them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/Lists.hpp"
#include "findings/Scores.hpp"
#include "sweep/Keys.hpp"

namespace stereosweep::findings {

/// How names are compared: lower case (ASCII), hyphens and underscores as spaces, no repeated or outer spaces.
std::string normalised(std::string_view name);

/// Places by their normalised names; of two places with one name the first counts.
class NameIndex {
 public:
  NameIndex() = default;
  /// Places in the order of `labels`.
  explicit NameIndex(const std::vector<std::string>& labels);
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

// What a job names on the axes of a score table: labels of an axis ("subject") or values of a coordinate of it
// ("template.stereotype"). Knows no probe.

/// An axis' labels or a coordinate of it; borrowed from the table.
struct NamedAxis {
  std::size_t axis = 0;  ///< a constant such as `subject_axis`
  const std::vector<std::string>* values = nullptr;
};

/// The places of an axis that a selection takes.
struct Selected {
  std::size_t axis = 0;
  std::vector<std::vector<std::size_t>> places;  ///< of each value of the selection, ascending; none: a fault
  /// Whether each place of the axis has any of the values.
  std::vector<bool> takes;
};

/// Places of the values that are equal to `value`, ascending.
template <class Value>
std::vector<std::size_t> places_with(const std::vector<Value>& values, const Value& value) {
  return base::places_where(values.size(), [&](std::size_t place) { return values[place] == value; });
}

class AxisNames {
 public:
  /// Those of the axes `first` to `last` of `scores`, which is borrowed.
  AxisNames(const Scores& scores, std::size_t first, std::size_t last);
  /// Nothing where no axis or coordinate has the name; the fault is added under the job's `key`. Of an axis without
  /// labels, which is not known before the run, nothing and no fault.
  std::optional<NamedAxis> find(const std::string& name, const std::string& key,
                                std::vector<std::string>& faults) const;
  /// The same of a selection; a value that the axis lacks is a fault, too.
  std::optional<Selected> select(const sweep::Selection& selection, const std::string& key,
                                 std::vector<std::string>& faults) const;

 private:
  std::vector<std::pair<std::string, NamedAxis>> names_;
};

}  // namespace stereosweep::findings
