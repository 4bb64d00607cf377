// The files of a corpus, with names that do not depend on where it lies or how it is compressed; and which part of it a
// shard reads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/Packing.hpp"
#include "corpus/ByteStream.hpp"
#include "corpus/Corpus.hpp"

namespace stereosweep::corpus {

/// What tells a file that was changed from one that was not, without reading it.
struct FileState {
  std::string label;
  std::uint64_t size = 0;
  std::int64_t modified = 0;  ///< ns since 1970
  bool operator==(const FileState&) const = default;
};
auto fields_of(base::Either<FileState> auto& state) { return std::tie(state.label, state.size, state.modified); }
/// The label: below the listed directory (a listed file: its name), with '/', without .gz, .bz2 or .zst.
struct CorpusFile : FileState {
  std::filesystem::path path;
  Compression compression = Compression::none;
  Corpus::Format format = Corpus::Format::text;  ///< never `automatic`
};
/// Of a single file; its label is its path. Throws InputError where there is none.
FileState state_of(const std::filesystem::path& path);
/// How the second state differs from the first, for people: "a.txt: 10 bytes became 12, b.txt is new". Both ascending
/// by label. Empty where they are equal.
std::string changes(const std::vector<FileState>& before, const std::vector<FileState>& after);

/// Ascending by label. Directories are read recursively, symbolic links to directories are not followed, names that
/// begin with a dot are left out. Throws InputError with every problem: missing or unreadable files, two of one
/// label, a file that is listed twice, formats of compression that are not read.
std::vector<CorpusFile> list_files(const Corpus& corpus);
/// Of the same files. Errors as `list_files`.
std::vector<FileState> file_states(const Corpus& corpus);

/// One of `count` disjoint parts of the corpus, of about the same work.
struct Shard {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
};

/// Of a plain file: the lines that begin in [begin, end). A compressed file is read whole: [0, size).
struct Piece {
  std::size_t file = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const Piece&) const = default;
};

/// The pieces of a shard; those of all shards are the corpus. Compressed files go, the largest first, to the shard with
/// the least work; plain bytes then fill up the shards that have less. Depends on sizes and order only.
std::vector<Piece> deal(std::span<const CorpusFile> files, Shard shard);

}  // namespace stereosweep::corpus
