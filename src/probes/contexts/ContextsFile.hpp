// The file contexts.stats.h5; same conventions as an exported result.
#pragma once

#include <cstdint>
#include <filesystem>

#include "probes/contexts/ContextsStatistics.hpp"
#include "results/Reader.hpp"

namespace stereosweep::probes::contexts {

/// Writes `target` under a temporary name and renames it. `source` is what `result` was computed from.
void write_contexts_file(const results::ResultFile& source, const ContextsResult& result,
                         const ContextsOptions& options, const std::filesystem::path& target);

}  // namespace stereosweep::probes::contexts
