// The files of a corpus, with names that do not depend on where it lies or how it is compressed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "corpus/ByteStream.hpp"
#include "domain/Contexts.hpp"

namespace stereosweep::corpus {

struct CorpusFile {
  std::filesystem::path path;
  std::string label;  ///< below the listed directory (a listed file: its name), with '/', without .gz or .zst
  std::uint64_t size = 0;
  Compression compression = Compression::none;
  domain::Corpus::Format format = domain::Corpus::Format::text;  ///< never `automatic`
};

/// Ascending by label. Directories are read recursively, symbolic links to directories are not followed, names that
/// begin with a dot are left out. Throws InputError with every problem: missing or unreadable files, two of one
/// label, a file that is listed twice, formats of compression that are not read.
std::vector<CorpusFile> list_files(const domain::Corpus& corpus);

}  // namespace stereosweep::corpus
