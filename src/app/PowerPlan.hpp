// `plan --power`: how many templates and rephrasings the contrasts of a job need.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "findings/power/Power.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::app {

struct PowerRequest {
  findings::PowerGoal goal;
  std::optional<std::filesystem::path> pilot;  ///< a run directory or result file, as `stats` takes it
};

/// Reads `word` ("effect=0.2") and takes what else belongs to it (pilot=..., chance=..., level=...) out of the
/// `overrides`. Throws InputError listing every fault.
PowerRequest take_power_request(const std::string& word, std::vector<std::string>& overrides);

/// Prints it for jobs that differ in what they ask. Throws InputError where the pilot has no current statistics, or
/// lacks what a contrast names, or the job asks for no contrast.
void print_power(std::span<const sweep::Job> jobs, const PowerRequest& request, std::size_t top);

}  // namespace stereosweep::app
