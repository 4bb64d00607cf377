// Token sequences as a tree: what a causal model runs. A plain value, no tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::model {

/// Token sequences with every shared prefix once. A branch's tokens stand after those of all its ancestors; a sequence
/// is the path from a root to some token. Several roots are allowed: a forest of unrelated sequences is packed without
/// padding.
struct TokenTree {
  struct Branch {
    std::int32_t first = 0;    ///< its first row
    std::int32_t length = 0;   ///< at least 1
    std::int32_t parent = -1;  ///< number of an earlier branch; -1: a root
    std::int32_t depth = 0;    ///< position of its first token: the sum of its ancestors' lengths
    std::int32_t room = 0;     ///< rows that may be added below it, one below the other: a device keeps them together
  };
  std::vector<query::TokenId> ids;  ///< [row]
  std::vector<Branch> branches;     ///< rows in this order, without gaps
};

// Which keys the rows of a tree see, cut into tiles for the kernel on the processor.
//   slot   where a row's key and value are kept; sixteen slots are a block, and a block is what the kernel multiplies
//   tile   a few neighbouring query rows: the blocks of a path that they share are multiplied with all of them at once,
//          what else a query sees with it alone; a mask says which slots of a block a query sees

constexpr std::int32_t slots_per_block = 16;

/// `rows` rounded up to slots of whole blocks.
constexpr std::int64_t whole_blocks(std::int64_t rows) {
  return (rows + slots_per_block - 1) / slots_per_block * slots_per_block;
}

/// Where the rows of the first call lie: as they come, or each branch in blocks of its own, as later ones do.
enum class Placement { dense, by_branch };

struct TreeTiles {
  struct Tile {
    std::int32_t first_query = 0;  ///< place in the list of queries
    std::int32_t num_queries = 0;
    std::int32_t num_blocks = 0;   ///< that are multiplied with every query
    std::int64_t first_block = 0;  ///< in `blocks`
  };
  struct Query {
    std::int32_t num_blocks = 0;   ///< of its own; they follow those of its tile along its path
    std::int64_t first_block = 0;  ///< in `blocks`
    std::int64_t first_mask = 0;   ///< in `masks`: of the tile's blocks, then of its own
  };
  std::vector<Tile> tiles;
  std::vector<Query> queries;        ///< as listed
  std::vector<std::int32_t> blocks;  ///< in the order of a path
  std::vector<std::uint16_t> masks;  ///< bit i: slot i of the block is seen
  std::int32_t most_blocks = 0;      ///< of any query: its tile's and its own
};

/// Tiles for the given rows (sorted, distinct), at most `most_queries` in each. Row i of a path sees the rows of the
/// path up to itself, only the last `window` of them unless that is 0.
TreeTiles cut_tiles(const TokenTree& tree, std::span<const std::int32_t> slots, std::span<const std::int64_t> rows,
                    std::int64_t window, std::int32_t most_queries);

/// Positions of the longest path.
std::int64_t longest_path(const TokenTree& tree);

/// The rows of a branch's whole path, root first, its own rows last.
std::vector<std::int32_t> path_of(const TokenTree& tree, std::int32_t branch);

/// Number of the branch that holds each of the given rows (sorted).
std::vector<std::int32_t> branches_of(const TokenTree& tree, std::span<const std::int64_t> rows);

}  // namespace stereosweep::model
