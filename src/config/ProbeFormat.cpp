#include "config/ProbeFormat.hpp"

namespace stereosweep::config {

const std::vector<ProbeFormat>& probe_formats() {
  static const std::vector<ProbeFormat> formats = {
      {domain::Association::probe_name, read_association, {"axes", "measures", "priors", "statistics"}, 16},
      {domain::Rating::probe_name,
       read_rating,
       {"axes", "scale", "frame", "sampling", "statistics"},
       20,
       ChatUse::from_checkpoint},
      {domain::Coreference::probe_name, read_coreference, {"axes", "statistics"}, 512},
  };
  return formats;
}

}  // namespace stereosweep::config
