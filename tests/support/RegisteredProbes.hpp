// Include it where a test reads jobs or makes probes: the kinds that come with the program are then known.
#pragma once

#include "probes/Registry.hpp"

namespace stereosweep::testing {

inline const bool probes_are_registered = (probes::register_probes(), true);

}  // namespace stereosweep::testing
