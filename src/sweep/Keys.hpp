// What lists of keys share: what is chosen by its labels (of an axis of a score table, of a column of a table of
// answers), and what is wrong with several keys of an item together. Plain values.
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

/// An item that has such faults lists them in `faults()`; whoever reads it reports those whose keys could be read, with
/// their place.
struct KeyFault {
  std::string key = {};  ///< of the item; "": the item itself
  std::string problem = {};
  std::string reason = {};
  std::string suggestion = {};
  std::vector<std::string> of = {};  ///< keys that it follows from; empty: `key`, or where that is "" all
};

/// The only fault that an item can have.
inline std::vector<KeyFault> fault_if(bool is_wrong, const KeyFault& fault) {
  return is_wrong ? std::vector{fault} : std::vector<KeyFault>();
}

}  // namespace stereosweep::sweep
