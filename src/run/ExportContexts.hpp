// What `export` does with the directory of a contexts job, also while it runs: as much as its stages have come to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/File.hpp"
#include "domain/Job.hpp"
#include "results/Journal.hpp"
#include "run/RunDirectory.hpp"

namespace stereosweep::run {

/// Called with a stage's journal before anything is written from it: throws where it is not the job's.
using JournalCheck = std::function<void(const results::JournalStore&)>;

/// Writes contexts.vectors.h5 (unless keep: none) and, once all vectors were there, contexts.h5. `files`: the small
/// files of the model. Returns what to print, a line per file. Throws InputError where nothing can be exported yet.
std::vector<std::string> export_contexts(const RunDirectory& directory, const domain::Job& job,
                                         const base::FileSet& files, const JournalCheck& check);

}  // namespace stereosweep::run
