// One vector per word from a file of static embeddings: word2vec (text, binary) or GloVe; plain, gzip or zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "corpus/Corpus.hpp"

namespace stereosweep::corpus {

struct StaticTable {
  std::int64_t dimension = 0;
  std::uint64_t rows = 0;            ///< words in the file
  std::vector<std::string> words;    ///< those found, in the order asked
  std::vector<float> vectors;        ///< [word, dimension], finite, as stored; may be all zero
  std::vector<std::string> missing;  ///< the others
  std::string first_word;            ///< of the file: shows how its rows were taken apart
};

/// Reads the file once and keeps what is asked for (`words`: distinct). A word must stand there as it is written; one
/// with blanks is also found with underscores (word2vec's phrases) where it does not stand there itself. Of a word
/// that stands there twice the first row counts. Text is decimal, fields parted by one blank; the last `dimension`
/// fields are the vector, so that words may have blanks; empty lines and a byte order mark are passed over. GloVe's
/// dimension is the commonest of its first 100 lines. Throws InputError with file and line or byte: wrong header, row
/// count or number of fields, truncated or overlong rows, and numbers that are none, not finite or beyond float32 (in
/// the rows that are asked for).
StaticTable read_vectors(const std::filesystem::path& path, StaticVectors::Format format,
                         std::span<const std::string> words);

/// What `automatic` takes a file for: by its header and the bytes behind it.
StaticVectors::Format format_of_vectors(const std::filesystem::path& path);

}  // namespace stereosweep::corpus
