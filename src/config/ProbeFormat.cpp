#include "config/ProbeFormat.hpp"

namespace stereosweep::config {

const std::vector<ProbeFormat>& probe_formats() {
  static const std::vector<ProbeFormat> formats = {
      {domain::Association::probe_name, read_association, {"axes", "measures", "priors", "statistics"}, 16},
  };
  return formats;
}

}  // namespace stereosweep::config
