// The step before a contexts job's first stage: which contexts of its words are asked about.
#pragma once

#include <memory>
#include <optional>

#include "base/Sha256.hpp"
#include "corpus/Sample.hpp"
#include "probe/VectorsProbe.hpp"
#include "run/JobParts.hpp"

namespace stereosweep::run {

/// What stage `vectors` starts from.
struct ContextSource {
  std::shared_ptr<const corpus::Sample> sample;
  std::shared_ptr<const probe::StaticTable> table;  ///< vectors of a file; else null
  std::uint64_t dimension = 0;                      ///< of the vectors
  base::Digest digest{};                            ///< SHA-256 of what was collected
  /// Rank zero: what OUT/contexts.sample does not hold yet. It is kept once the journals have agreed with it.
  std::vector<std::byte> unsaved = {};
};

/// Collective. Reads OUT/contexts.sample; where there is none, every rank scans its part of the corpus, rank zero
/// merges them. The counts of all words are logged. Throws SharedError; InputError's code where no word occurs
/// at all.
ContextSource collect_contexts(JobParts& job);

/// The same from what lies in a run directory; nothing where that is not there yet. `files`: the model's small ones.
std::optional<ContextSource> read_source(const RunDirectory& directory, const domain::Job& job,
                                         const base::FileSet& files);

}  // namespace stereosweep::run
