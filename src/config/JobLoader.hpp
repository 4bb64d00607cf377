// The door of this room: a job file (with overrides and sweep) -> resolved jobs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "domain/Job.hpp"

namespace stereosweep::config {

/// Reads the job file (at most 1 MiB) and the pieces it names, applies `overrides` ("dotted.path=value"), expands
/// `sweep`. One job per combination, named NAME.VALUES; one job called NAME without a sweep. A key on the command
/// line wins over the sweep's. Throws InputError that lists every problem with file:line:key.
std::vector<domain::Job> load_jobs(const std::filesystem::path& file, const std::vector<std::string>& overrides = {});

/// The same for a text that is at hand: no sweep, no pieces, no paths looked up. Reads what `canonical_dump` wrote.
/// `name` stands in messages. Throws InputError.
domain::Job load_resolved(std::string_view text, const std::string& name,
                          const std::vector<std::string>& overrides = {});

}  // namespace stereosweep::config
