// What a job that asks a server will cost: requests and tokens, counted from its questions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

#include "sweep/Job.hpp"

namespace stereosweep::probes {

/// `prompts`: of how many contexts the first questions are printed; nothing: of none. Throws InputError where the job
/// cannot be asked.
void print_server_plan(std::ostream& out, const sweep::Job& job, int ranks, std::optional<std::uint64_t> prompts);

}  // namespace stereosweep::probes
