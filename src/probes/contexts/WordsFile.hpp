// OUT/contexts.words: what stage `vectors` came to. Written when it is complete; all that stage `effects` needs besides
// the vectors themselves, so that these may go (keep: none).
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "probes/contexts/EmbeddingTests.hpp"
#include "query/Engine.hpp"

namespace stereosweep::probes::contexts {

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
