// Which keys the rows of a tree see, cut into tiles for the kernel on the processor.
//   slot   where a row's key and value are kept; sixteen slots are a block, and a block is what the kernel multiplies
//   tile   a few neighbouring query rows and the blocks that any of them sees; a mask says which row sees which slot
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/TokenTree.hpp"

namespace stereosweep::model {

constexpr std::int32_t slots_per_block = 16;

/// `rows` rounded up to slots of whole blocks.
constexpr std::int64_t whole_blocks(std::int64_t rows) {
  return (rows + slots_per_block - 1) / slots_per_block * slots_per_block;
}

/// Gives every row of a growing tree its slot. The rows of the first call lie as they come. Later a branch goes on in
/// its parent's block while there is room and else opens a block of its own, so that what one sequence generates lies
/// together however many sequences grow in turn.
class SlotAllocator {
 public:
  /// Slots for the rows of `tree` from slots().size() on; they form whole branches.
  void grow(const TokenTree& tree);
  std::span<const std::int32_t> slots() const { return slots_; }  ///< [row]
  std::int32_t num_blocks() const { return static_cast<std::int32_t>(taken_.size()); }

 private:
  void place_together(std::int64_t rows);
  void place_after(std::int32_t previous, std::int32_t length);

  std::vector<std::int32_t> slots_;
  std::vector<std::int32_t> taken_;  ///< slots of each block that are in use: always the first ones
};

struct TreeTiles {
  struct Tile {
    std::int32_t first_query = 0;  ///< place in the list of queries
    std::int32_t num_queries = 0;
    std::int32_t num_blocks = 0;
    std::int64_t first_block = 0;  ///< in `blocks`
    std::int64_t first_mask = 0;   ///< in `masks`: [query of the tile, block of the tile]
  };
  std::vector<Tile> tiles;
  std::vector<std::int32_t> blocks;  ///< ascending within a tile
  std::vector<std::uint16_t> masks;  ///< bit i: slot i of the block is seen
  std::int32_t most_blocks = 0;      ///< of any tile
  std::int64_t num_queries = 0;
};

/// Tiles for the given rows (sorted, distinct), at most `most_queries` in each. Row i of a path sees the rows of the
/// path up to itself, only the last `window` of them unless that is 0.
TreeTiles cut_tiles(const TokenTree& tree, std::span<const std::int32_t> slots, std::span<const std::int64_t> rows,
                    std::int64_t window, std::int32_t most_queries);

/// The rows of a branch's whole path, root first, its own rows last.
std::vector<std::int32_t> path_of(const TokenTree& tree, std::int32_t branch);

/// Number of the branch that holds each of the given rows (sorted).
std::vector<std::int32_t> branches_of(const TokenTree& tree, std::span<const std::int64_t> rows);

}  // namespace stereosweep::model
