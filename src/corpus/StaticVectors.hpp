// One vector per word from a file of static embeddings: word2vec (text, binary) or GloVe; plain, gzip, bzip2 or zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/Packing.hpp"
#include "corpus/Corpus.hpp"

namespace stereosweep::corpus {

struct WordVector {
  std::string word;
  std::vector<float> vector;  ///< finite, as stored; empty: there is none
};
auto fields_of(base::Either<WordVector> auto& row) { return std::tie(row.word, row.vector); }

struct StaticTable {
  std::int64_t dimension = 0;
  std::uint64_t rows = 0;         ///< words in the file
  std::vector<WordVector> words;  ///< all that were asked for; without a vector also those whose vector is all zeros
  std::string remark;             ///< for people: which are all zeros; how many other settings would find
  std::string first_word;         ///< of the file: shows how its rows were taken apart
  std::vector<std::string> missing() const;
};

/// Reads the file once and keeps what is asked for (`words`: distinct). Of several rows that may stand for a word
/// counts, in this order: the word as it is written; with underscores for blanks (word2vec's phrases); then one that
/// differs in its Unicode form or, where `source` ignores them, in case or accents; of one kind the first row. Text is
/// decimal, fields parted by one blank; the last `dimension` fields are the vector, so that words may have blanks;
/// empty lines and a byte order mark are passed over. GloVe's dimension is the commonest of its first 100 lines. A word
/// of a binary file ends at the first blank behind which numbers of a usual size and another row (or the end) stand;
/// where there is none, at the first. Throws InputError with file and line or byte: wrong header, row count or number
/// of fields, truncated or overlong rows, and numbers that are none, not finite or beyond float32 (in the rows that are
/// asked for).
StaticTable read_vectors(const StaticVectors& source, std::span<const std::string> words);

/// What `automatic` takes a file for: by its header and the bytes behind it.
StaticVectors::Format format_of_vectors(const std::filesystem::path& path);

}  // namespace stereosweep::corpus
