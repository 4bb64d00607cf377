// `show` and `stats` of a contexts result.
#pragma once

#include "app/ProbeCommands.hpp"

namespace stereosweep::app {

void show_contexts(const results::ResultFile& file, Detail detail, std::size_t top);
/// Rank zero: writes the file and prints.
void contexts_statistics(const StatsRequest& request);
/// The other ranks: their shares of the exact tests.
void assist_contexts_statistics(const StatsRequest& request);

}  // namespace stereosweep::app
