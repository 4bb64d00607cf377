// The association probe for the rest of the program.
#pragma once

#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::association {

const ProbeKind& association_kind();

}  // namespace stereosweep::probes::association
