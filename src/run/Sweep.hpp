// The jobs of one request (a sweep has several): read, named and checked before the first starts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "run/Run.hpp"

namespace stereosweep::run {

struct PlannedJob {
  std::string dump;     ///< resolved
  std::string root;     ///< its run directory
  std::string problem;  ///< why it cannot run here; empty: nothing is known against it
  std::string sibling;  ///< directory of an earlier job of the sweep with the same numbers; empty: none
  std::string reason;   ///< why the numbers are the same
};

struct PlannedJobs {
  std::vector<PlannedJob> jobs;
  std::string text;  ///< the file as written
};

/// Reads the request's job file. Of a sweep every job is checked for what would end it, as far as that is quick:
/// model, tokenizer, headers of the weights, memory, input files, directory. `node_ranks`: ranks of this node.
/// Throws InputError for a file that cannot be used, and for a sweep of which no job can run.
PlannedJobs plan_jobs(const RunRequest& request, int node_ranks);

/// To send them to the other ranks.
std::vector<std::byte> encode(const PlannedJobs& planned);
PlannedJobs decode_jobs(std::span<const std::byte> bytes);

}  // namespace stereosweep::run
