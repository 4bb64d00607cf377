// One job from a checked tree, and back: every key, every invariant, every fault into one report.
#pragma once

#include "config/JobLoader.hpp"
#include "config/Pieces.hpp"
#include "config/ProbeFormat.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::config {

/// `root` is the job after overrides, without `sweep`. The result is complete only if `problems` did not grow.
sweep::Job read_job(const Node& root, Pieces& pieces, base::Problems& problems, const JobCheck& check = {});
Node dump_job(const sweep::Job& job, Extent extent);

}  // namespace stereosweep::config
