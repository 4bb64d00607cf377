// The vectors of all words in one file, mapped read-only by every rank: one copy per node, in the page cache.
//   rows [word, context, dimension] float32; zeros up to a multiple of 64; their inverse lengths, float64; SHA-256 of
//   dimension and words (name, number of rows, SHA-256 of their rows)
// Rows are as the model gave them: the inverse lengths, in float64, make them unit vectors without rounding them first.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"

namespace stereosweep::probes::contexts {

/// Takes the next vector of `word`; words come in ascending order.
using AddVector = std::function<void(std::uint64_t word, std::span<const float> vector)>;

/// Writes the vectors that `give` adds as a store; memory: one float64 per row. The file appears when it is whole,
/// fsynced. Returns `words` with `usable` and `digest`, which are not known before. Throws base::Error.
std::vector<WordVectors> write_vectors(const std::filesystem::path& path, std::vector<WordVectors> words,
                                       std::uint64_t dimension, const std::function<void(const AddVector&)>& give);

class VectorStore {
 public:
  /// Maps the file. Throws InputError where it is not the store of `words` (names, counts and digests) with
  /// `dimension`, or its size does not fit.
  VectorStore(const std::filesystem::path& path, std::span<const WordVectors> words, std::uint64_t dimension);
  std::uint64_t dimension() const { return dimension_; }
  std::uint64_t count(std::uint64_t word) const { return first_[word + 1] - first_[word]; }
  const float* row(std::uint64_t word, std::uint64_t context) const {
    return rows_ + (first_[word] + context) * dimension_;
  }
  /// 1 / Euclidean length; NaN for a vector of zeros.
  double inverse_length(std::uint64_t word, std::uint64_t context) const {
    return inverse_lengths_[first_[word] + context];
  }

 private:
  base::SharedBytes content_;
  std::uint64_t dimension_;
  std::vector<std::uint64_t> first_;  ///< row of each word, and the number of rows
  const float* rows_ = nullptr;
  const double* inverse_lengths_ = nullptr;
};

/// Opens `file`. Network file systems may show another node the new file late, or an older one first: until `patience`
/// has passed, what is missing, of another size or of other words is looked at again. Throws InputError after that.
std::shared_ptr<const VectorStore> open_store(const std::filesystem::path& file, std::span<const WordVectors> words,
                                              std::uint64_t dimension, std::chrono::duration<double> patience);

}  // namespace stereosweep::probes::contexts
