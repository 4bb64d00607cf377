// The coreference probe for the rest of the program.
#pragma once

#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::coreference {

const ProbeKind& coreference_kind();

}  // namespace stereosweep::probes::coreference
