// The rating probe for the rest of the program.
#pragma once

#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::rating {

const ProbeKind& rating_kind();

}  // namespace stereosweep::probes::rating
