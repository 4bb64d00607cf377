// The step before a contexts job's first stage: which contexts of its words are asked about.
#pragma once

#include <memory>
#include <optional>

#include "base/files/Sha256.hpp"
#include "corpus/Files.hpp"
#include "corpus/Sample.hpp"
#include "probes/Stage.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/vectors/VectorsProbe.hpp"

namespace stereosweep::probes::contexts {

/// Sentences made of templates x rephrasings in which the words of the tests stand: a target in the group's place, an
/// attribute in the trait's.
/// Every sentence of a target and an attribute of one test, in the templates that ask for the target's form (a target
/// that is no group stands in every template). Of each word a sample of its sentences: one of every template and
/// rephrasing, then a second one of each, and so on; whose draw depends on the seed, the word, the labels of template
/// and rephrasing, and the other word. `lines` counts the sentences.
corpus::Sample generate_contexts(const Contexts& settings, std::uint64_t seed);

/// Labels of the files of made sentences: every template in every rephrasing, in the job's order.
std::vector<std::string> frame_labels(const Corpus& corpus);

/// What a run will ask about, found or made here and now: what `plan` counts. Errors as `collect_contexts`.
corpus::Sample sample_of(const sweep::Job& job);
/// "2 files, 100 lines, 4,000 bytes", or the number of sentences that were made.
std::string sizes_of(const corpus::Sample& sample);

/// For every reason for which lines were left out how many, the first of them, and the likely cause (corpus::cause_of).
std::vector<std::string> remarks_on_bad_lines(const corpus::Sample& sample, const Corpus& corpus);

/// The files that contexts or vectors are read from, as they are now. Throws InputError where one cannot be read.
std::vector<corpus::FileState> input_states(const Contexts& settings);

/// What stage `vectors` starts from.
struct ContextSource {
  std::shared_ptr<const corpus::Sample> sample;
  std::shared_ptr<const StaticTable> table;  ///< vectors of a file; else null
  std::uint64_t dimension = 0;               ///< of the vectors
  base::Digest digest{};                     ///< SHA-256 of what was collected
  /// Rank zero: what OUT/contexts.sample does not hold yet. It is kept once the journals have agreed with it.
  std::vector<std::byte> unsaved = {};
};

/// Collective. Reads OUT/contexts.sample; where there is none, every rank scans its part of the corpus, rank zero
/// merges them. The counts of all words are logged. Throws SharedError; InputError's code where no word occurs
/// at all.
ContextSource collect_contexts(const StageRequest& job);

/// The same from what lies in a run directory; nothing where that is not there yet. `files`: the model's small ones.
std::optional<ContextSource> read_source(const std::filesystem::path& directory, const sweep::Job& job,
                                         const base::FileSet& files);

}  // namespace stereosweep::probes::contexts
