// What is chosen by its labels: of an axis of a score table, of a column of a table of answers. Plain values.
#pragma once

#include <string>
#include <vector>

namespace stereosweep::sweep {

/// Places of one axis: "subject" by its label, "template.stereotype" by a coordinate; rows by what stands in a column.
struct Selection {
  std::string axis;
  std::vector<std::string> values;  ///< any of them
  bool operator==(const Selection&) const = default;
};

}  // namespace stereosweep::sweep
