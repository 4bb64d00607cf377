// What is wrong with several keys of an item together. Plain values.
#pragma once

#include <string>

namespace stereosweep::sweep {

/// An item that has such faults lists them in `faults()`; whoever reads it reports them with their place.
struct KeyFault {
  std::string key = {};  ///< of the item; "": the item itself
  std::string problem = {};
  std::string reason = {};
  std::string suggestion = {};
};

}  // namespace stereosweep::sweep
