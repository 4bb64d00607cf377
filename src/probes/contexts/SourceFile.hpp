// OUT/contexts.sample: what stage `vectors` starts from (sentences of a corpus, or rows of a file of vectors), and the
// state of the files it was read from, so that a later start notices that they were changed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "corpus/Files.hpp"

namespace stereosweep::probes::contexts {

struct SourceFile {
  std::vector<std::byte> content;        ///< what was collected; its hash is part of the journals' settings
  std::vector<corpus::FileState> files;  ///< as they were before they were read; ascending by label
};

std::vector<std::byte> encode(const SourceFile& source);
/// Throws base::Error.
SourceFile decode_source(std::span<const std::byte> bytes);
/// Nothing where there is no intact file of this version.
std::optional<SourceFile> read_source_file(const std::filesystem::path& file);

}  // namespace stereosweep::probes::contexts
