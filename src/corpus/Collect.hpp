// Looks for words in the sentences of a corpus and samples their contexts.
//
// Which occurrences are in the sample depends on the seed and, of each occurrence, on word, file label, offset of the
// line and number in the line: not on shards, order of files, compression or restarts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "corpus/Corpus.hpp"
#include "corpus/Files.hpp"
#include "corpus/Sample.hpp"

namespace stereosweep::corpus {

/// Of a longer sentence a context keeps what is around its word (cut at white space where there is some).
constexpr std::size_t max_sentence_bytes = std::size_t{1} << 14;
/// A sample that grows beyond this ends the collection with an error.
constexpr std::size_t max_sample_bytes = std::size_t{4} << 30;

/// Of one shard.
struct Progress {
  std::uint64_t bytes_done = 0;   ///< as stored
  std::uint64_t bytes_total = 0;  ///< as stored
  std::uint64_t bytes_read = 0;   ///< decompressed, lines at the borders of shards twice
};
/// Called every few megabytes; ends the collection by throwing.
using ProgressHook = std::function<void(const Progress&)>;

/// The part `shard` of the sample of each word; local. Throws InputError for words that cannot be looked for, files
/// that are missing, of one label, truncated or corrupt (with file and offset); Error where the sample takes too much
/// memory; and whatever `progress` throws.
Sample collect(const Corpus& corpus, std::span<const std::string> words, std::uint64_t seed, Shard shard = {},
               const ProgressHook& progress = {});

/// For every reason for which lines were left out how many, the first of them, what the very first looks like, and what
/// to do. Reads that one again, of a compressed file only in its first 64 MiB. Throws InputError as `collect` for
/// files.
std::vector<std::string> remarks_on_bad_lines(const Sample& sample, const Corpus& corpus);

}  // namespace stereosweep::corpus
