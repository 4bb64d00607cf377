// The table of human means that a job names, for `stats`.
#pragma once

#include <string>
#include <vector>

#include "domain/Job.hpp"
#include "results/Alignment.hpp"

namespace stereosweep::app {

/// Reads the table and prints what was notable. Throws InputError (config::read_ratings).
std::vector<results::Rating> ratings_of(const domain::Job& job);

/// "human_means.tsv (SHA-256 ...)". Throws InputError where `path` cannot be read.
std::string source_of_ratings(const std::string& path);

}  // namespace stereosweep::app
