// Which part of the corpus a shard reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "corpus/Collect.hpp"
#include "corpus/Files.hpp"

namespace stereosweep::corpus {

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
