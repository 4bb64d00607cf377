// What a model read, rendered a second time by its checkpoint's own chat template.
#pragma once

#include <string>

#include "base/Log.hpp"
#include "probes/Probe.hpp"
#include "results/Journal.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::run {

/// What there is to say of it.
struct ChatAudit {
  std::string line;                             ///< empty: the job's prompts are not made by a checkpoint's template
  base::LogLevel level = base::LogLevel::info;  ///< a warning where the template cannot be run here, or is another one
};

/// Renders every distinct conversation of the journal's blocks with the template, and compares it with what its pieces
/// write. Throws Error naming the first that differs.
ChatAudit audit_chat(const sweep::Job& job, const probes::Probe& probe, const results::JournalStore& journal);

}  // namespace stereosweep::run
