// Whole chunks of an array, compressed here and handed to HDF5 as they lie in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hdf5/DataSet.hpp"

namespace stereosweep::hdf5 {

// zlib's format for numbers whose bytes were shuffled: plane after plane, most of them noise.

/// What files say of their chunks (1, fast, to 9).
constexpr int deflate_level = 1;

/// A zlib stream (RFC 1950) that any inflate turns back into `bytes`; equal input gives equal output. Of every `plane`
/// bytes (1 or more), noise is stored, and repetitions are searched where neighbours are often equal.
std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, std::size_t plane);

/// A chunk as it lies in the file.
struct CompressedChunk {
  Shape start;
  std::vector<std::uint8_t> bytes;
};

/// Elements of an array's canonical order.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A range's whole chunks and what is left of it, for HDF5's ordinary way; both in canonical order.
struct CompressedPart {
  std::vector<CompressedChunk> chunks;
  std::vector<Range> rest;
};

/// Compresses whole chunks of one array, which are ranges of its canonical order. What it has to know of the array it
/// reads when it is made (it throws base::Error with HDF5's reason); `compress` needs no HDF5, and several threads may
/// call it at once.
class ChunkCompressor {
 public:
  explicit ChunkCompressor(const DataSet& dataset);

  /// The chunks among the elements from `first` on; `values` holds them. All is left where the array is not compressed
  /// (of texts, without an axis, `ShortLived`) or has elements of another type. What lies outside of the array in a
  /// chunk at its edge is zero.
  CompressedPart compress(std::uint64_t first, const ConstElements& values) const;

  /// The last place at or before `end` in canonical order where no chunk is cut; `end` where nothing is compressed
  /// here.
  std::uint64_t last_border(std::uint64_t end) const;

 private:
  Shape shape_;
  Shape chunk_;            ///< empty: nothing is compressed here
  std::uint64_t row_ = 0;  ///< elements of the axis that chunks cut, and of all inside of it: a chunk ends at its end
  ElementType type_ = ElementType::text;
};

/// Numbers as bytes; no texts.
std::span<const std::uint8_t> bytes_of(const ConstElements& values);

}  // namespace stereosweep::hdf5
