// The contexts probe for the rest of the program.
#pragma once

#include "probes/ProbeKind.hpp"

namespace stereosweep::probes::contexts {

const ProbeKind& contexts_kind();

}  // namespace stereosweep::probes::contexts
