// What the stages keep in the run directory, so that a later start takes it up.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/Files.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "query/Engine.hpp"

namespace stereosweep::probes::contexts {

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
  bool operator==(const WordsFile&) const;
};

void write_words(const std::filesystem::path& file, const WordsFile& content);
/// Nothing where there is no intact file.
std::optional<WordsFile> read_words(const std::filesystem::path& file);
std::vector<std::byte> encode(const WordsFile& content);
/// Throws base::Error.
WordsFile decode_words(std::span<const std::byte> bytes);

}  // namespace stereosweep::probes::contexts
