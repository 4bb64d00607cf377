// What a model read, rendered a second time by its checkpoint's own chat template.
#pragma once

#include <cstdint>

#include "probes/Probe.hpp"
#include "results/Journal.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

/// Renders every distinct conversation of the journal's blocks with the template, and compares it with what its pieces
/// write. Returns how many were compared: 0 where the job's prompts are not made by a checkpoint's template.
/// Throws Error naming the first that differs; InputError where the template cannot be run here, or is another one.
std::uint64_t audit_chat(const sweep::Job& job, const probes::Probe& probe, const results::JournalStore& journal);

}  // namespace stereosweep::run
