// The stages of a contexts job: `vectors` asks the model for the vectors of the words in their contexts, `effects`
// computes samples of the tests from them.
#pragma once

#include <memory>
#include <vector>

#include "probes/Stage.hpp"
#include "probes/contexts/ContextSample.hpp"

namespace stereosweep::probes::contexts {

std::vector<std::unique_ptr<Stage>> make_stages();

}  // namespace stereosweep::probes::contexts
