// Attention of a tile of queries over blocks of sixteen keys, on the processor.
// Keys are kept number by number (sixteen keys side by side), values row by row, so that both products read what they
// multiply in order: four vectors of sixteen against six queries fill the registers. Arithmetic is float32; bfloat16 is
// how numbers are stored.
#pragma once

#include <cstdint>

#include "model/causal/TokenTree.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

/// Keys and values of one layer, all heads. `width` is rounded up to a multiple of 16; what is added is zero.
template <class Number>
struct KeptBlocks {
  const Number* keys;    ///< [block, key head, width, 16]
  const Number* values;  ///< [block, key head, 16, width]
  std::int64_t num_key_heads;
  std::int64_t padded_width;
};

/// What happens to a score: cap(scale * (q k + bias)), the bias inside or after the scaling. A sink is one score more,
/// of a key without a value.
struct ScoreRule {
  float scale = 1;
  float softcap = 0;             ///< 0: none
  const float* bias = nullptr;   ///< [head, slot], times bias_scale; or null
  std::int64_t bias_stride = 0;  ///< slots
  float bias_scale = 1;
  const float* sinks = nullptr;  ///< [head]; or null
};

/// One tile and one key head with the query heads that share it.
template <class Number>
struct TileTask {
  KeptBlocks<Number> kept;
  const TreeTiles* tiles;
  const TreeTiles::Tile* tile;
  const TreeTiles::Tile* next_tile;  ///< the task after this one: its keys are fetched meanwhile; or null
  std::int64_t next_key_head;
  const Number* query;  ///< [query of the list, head * width]
  Number* out;          ///< likewise
  std::int64_t query_stride;
  std::int64_t out_stride;
  std::int64_t width;
  std::int64_t key_head;
  std::int64_t group;  ///< query heads of a key head
  ScoreRule rule;
};

/// `scratch` holds at least tile_scratch_numbers(most blocks, padded width) floats, 64-byte aligned. The bits of an
/// answer follow the slots of the query's path, not what else is in its tile.
template <class Number>
void attend_tile(const TileTask<Number>& task, float* scratch, Instructions instructions = Instructions::best);
std::int64_t tile_scratch_numbers(std::int64_t num_blocks, std::int64_t padded_width);

/// Queries of a tile that fill the kernel's registers where `group` query heads share a key head.
std::int32_t best_tile_queries(std::int64_t group);

}  // namespace stereosweep::model
