// The step before a contexts job's first stage: which contexts of its words are asked about.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files/Sha256.hpp"
#include "corpus/Files.hpp"
#include "corpus/Sample.hpp"
#include "probes/Stage.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/vectors/VectorsProbe.hpp"
#include "query/Engine.hpp"

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

/// The files that contexts or vectors are read from, as they are now; none where sentences are made, or vectors are the
/// model's own. Throws InputError where one cannot be read.
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

// What the stages keep in the run directory, so that a later start takes it up.

inline constexpr const char* vectors_stage = "vectors";
inline constexpr const char* effects_stage = "effects";

// In the run directory.
inline constexpr const char* sample_file = "contexts.sample";  ///< what stage `vectors` starts from
inline constexpr const char* words_file = "contexts.words";    ///< what it came to
inline constexpr const char* store_file = "vectors.bin";       ///< while stage `effects` runs
inline constexpr const char* vectors_file = "contexts.vectors.h5";

/// OUT/contexts.sample: sentences of a corpus, or rows of a file of vectors, and the state of the files they were read
/// from, so that a later start notices that they were changed.
struct SourceFile {
  std::vector<std::byte> content;        ///< what was collected; its hash is part of the journals' settings
  std::vector<corpus::FileState> files;  ///< as they were before they were read; ascending by label
};

std::vector<std::byte> encode(const SourceFile& source);
/// Throws base::Error.
SourceFile decode_source(std::span<const std::byte> bytes);
/// Nothing where there is no intact file of this version.
std::optional<SourceFile> read_source_file(const std::filesystem::path& file);

/// OUT/contexts.words, written when stage `vectors` is complete: all that stage `effects` needs besides the vectors
/// themselves, so that these may go (keep: none).
struct WordsFile {
  std::string settings;         ///< run::RunSettings::text of the stage's journals
  std::uint64_t dimension = 0;  ///< of the vectors
  query::EngineCounts cost;     ///< of the stage
  std::vector<WordVectors> words;
};

/// Nothing where there is no intact file.
std::optional<WordsFile> read_words(const std::filesystem::path& file);
std::vector<std::byte> encode(const WordsFile& content);
/// Throws base::Error.
WordsFile decode_words(std::span<const std::byte> bytes);

}  // namespace stereosweep::probes::contexts
