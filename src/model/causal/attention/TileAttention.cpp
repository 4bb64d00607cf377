#include "model/causal/attention/TileAttention.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>

#include "model/kernels/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;
using lanes::Ints;

constexpr std::int64_t most_rows = 6;  // queries whose sums stay in registers

// Scratch of one group of at most six (query, head) pairs.
struct Places {
  float* queries;  // [row, padded width]
  float* sums;     // likewise: weights times values
  float* scores;   // [row, padded keys]: of the tile's blocks, then of the query's own
  std::int64_t padded_keys;
  Floats factors[most_rows];              // one over the sum of the weights
  const std::uint16_t* masks[most_rows];  // of a query's blocks
};

// Neighbouring rows of the scratch and the blocks that all of them are multiplied with.
struct Part {
  std::int64_t row;
  const std::int32_t* blocks;
  std::int64_t num_blocks;
  std::int64_t place;                         // of the first one among a query's blocks
  const std::int32_t* next_blocks = nullptr;  // of the next tile
  std::int64_t num_next = 0;
};

template <class Number>
STEREOSWEEP_ALWAYS_INLINE const Number* numbers_of_block(const TileTask<Number>& task, const Number* all,
                                                         std::int64_t key_head, std::int32_t block) {
  return all + (block * task.kept.num_key_heads + key_head) * task.kept.padded_width * lanes::width;
}

// Few rows wait for their blocks to come from memory; more are computed long enough.
constexpr int most_waiting_rows = 3;

// scores of `Rows` queries against `Blocks` blocks; the values of these blocks are needed next
template <int Rows, int Blocks, class Number>
STEREOSWEEP_ALWAYS_INLINE void multiply_keys(const TileTask<Number>& task, const Places& places, const Part& part,
                                             std::int64_t block) {
  const auto width = task.kept.padded_width;
  const Number* keys[Blocks];
  const Number* values[Blocks];
  for (int b = 0; b < Blocks; ++b) {
    keys[b] = numbers_of_block(task, task.kept.keys, task.key_head, part.blocks[block + b]);
    values[b] = numbers_of_block(task, task.kept.values, task.key_head, part.blocks[block + b]);
  }
  const float* queries = places.queries + part.row * width;
  Floats sums[Rows][Blocks] = {};
  for (std::int64_t d = 0; d < task.width; ++d) {
    Floats columns[Blocks];
    for (int b = 0; b < Blocks; ++b) {
      lanes::load(columns[b], keys[b] + d * lanes::width);
      if constexpr (Rows <= most_waiting_rows) {
        __builtin_prefetch(values[b] + d * lanes::width);
      }
    }
    for (int r = 0; r < Rows; ++r) {
      for (int b = 0; b < Blocks; ++b) {
        sums[r][b] += queries[r * width + d] * columns[b];
      }
    }
  }
  float* scores = places.scores + part.row * places.padded_keys + (part.place + block) * lanes::width;
  for (int r = 0; r < Rows; ++r) {
    for (int b = 0; b < Blocks; ++b) {
      lanes::store(scores + r * places.padded_keys + b * lanes::width, sums[r][b]);
    }
  }
}

struct MultiplyKeys {
  template <class Set, int Rows, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const TileTask<Number>& task, const Places& places, const Part& part) {
    std::int64_t block = 0;
    for (; block + Set::columns <= part.num_blocks; block += Set::columns) {
      multiply_keys<Rows, Set::columns>(task, places, part, block);
    }
    if constexpr (Set::columns > 2) {
      for (; block + 2 <= part.num_blocks; block += 2) {
        multiply_keys<Rows, 2>(task, places, part, block);
      }
    }
    for (; block < part.num_blocks; ++block) {
      multiply_keys<Rows, 1>(task, places, part, block);
    }
  }
};

// Lanes that `mask` leaves out become `instead`.
STEREOSWEEP_ALWAYS_INLINE void leave_out(Floats& numbers, std::uint16_t mask, float instead) {
  const Ints bits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const Ints all = Ints{} + static_cast<std::int32_t>(mask);
  numbers = (all & bits) != 0 ? numbers : Floats{} + instead;
}

// What the rule makes of one row's scores of some blocks; `largest` of them and of what it was.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void apply_rule(const TileTask<Number>& task, const Places& places, const Part& part,
                                          std::int64_t head, Floats& largest) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  float* scores = places.scores + part.row * places.padded_keys + part.place * lanes::width;
  const auto* masks = places.masks[part.row] + part.place;
  const ScoreRule& rule = task.rule;
  Floats numbers;
  for (std::int64_t b = 0; b < part.num_blocks; ++b) {
    lanes::load(numbers, scores + b * lanes::width);
    if (rule.bias != nullptr) {
      Floats bias;
      lanes::load(bias, rule.bias + head * rule.bias_stride + std::int64_t{part.blocks[b]} * lanes::width);
      numbers += bias * rule.bias_scale;
    }
    if (rule.softcap > 0) {
      lanes::cap(numbers, rule.softcap);
    }
    if (masks[b] != 0xffffU) {
      leave_out(numbers, masks[b], lowest);
    }
    largest = numbers > largest ? numbers : largest;
    lanes::store(scores + b * lanes::width, numbers);
  }
}

// scores -> e^(score - largest), zero where the query does not see the key; `sink` null: none
STEREOSWEEP_ALWAYS_INLINE void soften(Places& places, std::int64_t row, std::int64_t num_blocks, const Floats& largest,
                                      const float* sink) {
  float* scores = places.scores + row * places.padded_keys;
  const auto* masks = places.masks[row];
  Floats numbers;
  Floats sum = {};
  for (std::int64_t b = 0; b < num_blocks; ++b) {
    lanes::load(numbers, scores + b * lanes::width);
    numbers -= largest;
    lanes::exponential(numbers);
    if (masks[b] != 0xffffU) {
      leave_out(numbers, masks[b], 0);
    }
    sum += numbers;
    lanes::store(scores + b * lanes::width, numbers);
  }
  lanes::fold<lanes::Fold::sum>(sum);
  if (sink != nullptr) {
    numbers = *sink - largest;
    lanes::exponential(numbers);
    sum += numbers;
  }
  places.factors[row] = 1.0F / sum;
}

// Adds sixteen times `Columns` numbers of the answers of `Rows` queries, from number d on, to their sums.
template <int Rows, int Columns, class Number>
STEREOSWEEP_ALWAYS_INLINE void mix_columns(const TileTask<Number>& task, const Places& places, const Part& part,
                                           std::int64_t d) {
  const auto width = task.kept.padded_width;
  const auto* masks = places.masks + part.row;
  Floats sums[Rows][Columns];
  float* kept_sums = places.sums + part.row * width + d;
  for (int r = 0; r < Rows; ++r) {
    for (int c = 0; c < Columns; ++c) {
      lanes::load(sums[r][c], kept_sums + r * width + c * lanes::width);
    }
  }
  for (std::int64_t b = 0; b < part.num_blocks; ++b) {
    const Number* values = numbers_of_block(task, task.kept.values, task.key_head, part.blocks[b]) + d;
    const Number* next = b < part.num_next
                             ? numbers_of_block(task, task.kept.keys, task.next_key_head, part.next_blocks[b]) + d
                             : values;
    std::uint32_t seen = 0;
    for (int r = 0; r < Rows; ++r) {
      seen |= masks[r][part.place + b];
    }
    const float* weights = places.scores + part.row * places.padded_keys + (part.place + b) * lanes::width;
    const auto first = std::countr_zero(seen);
    const auto end = 32 - std::countl_zero(seen);
    for (int j = first; j < end; ++j) {
      Floats row[Columns];
#pragma GCC unroll 4  // else they go through memory
      for (int c = 0; c < Columns; ++c) {
        lanes::load(row[c], values + j * width + c * lanes::width);
        if constexpr (Rows <= most_waiting_rows) {
          __builtin_prefetch(next + j * width + c * lanes::width);
        }
      }
      for (int r = 0; r < Rows; ++r) {
        if constexpr (std::is_same_v<Number, Float16Bits>) {  // 0 times another branch's infinite value would be NaN
          if (((masks[r][part.place + b] >> j) & 1U) == 0) {
            continue;
          }
        }
        for (int c = 0; c < Columns; ++c) {
          sums[r][c] += weights[r * places.padded_keys + j] * row[c];
        }
      }
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int c = 0; c < Columns; ++c) {
      lanes::store(kept_sums + r * width + c * lanes::width, sums[r][c]);
    }
  }
}

struct MixValues {
  template <class Set, int Rows, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const TileTask<Number>& task, const Places& places, const Part& part) {
    const auto width = task.kept.padded_width;
    std::int64_t d = 0;
    for (; d + Set::columns * lanes::width <= width; d += Set::columns * lanes::width) {
      mix_columns<Rows, Set::columns>(task, places, part, d);
    }
    if constexpr (Set::columns > 2) {
      for (; d + 2 * lanes::width <= width; d += 2 * lanes::width) {
        mix_columns<Rows, 2>(task, places, part, d);
      }
    }
    for (; d < width; d += lanes::width) {
      mix_columns<Rows, 1>(task, places, part, d);
    }
  }
};

// Work on a part's first row and those behind it, as many as fit the registers at once.
template <class Work, class Set, class Number>
STEREOSWEEP_ALWAYS_INLINE void run_part(const TileTask<Number>& task, const Places& places, Part part,
                                        std::int64_t rows) {
  if (part.num_blocks == 0) {
    return;
  }
  for (; rows >= most_rows; rows -= most_rows, part.row += most_rows) {
    Work::template run<Set, most_rows>(task, places, part);
  }
  for (; rows >= 3; rows -= 3, part.row += 3) {
    Work::template run<Set, 3>(task, places, part);
  }
  if (rows == 2) {
    Work::template run<Set, 2>(task, places, part);
  } else if (rows == 1) {
    Work::template run<Set, 1>(task, places, part);
  }
}

// The blocks of a tile.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE Part shared_part(const TileTask<Number>& task) {
  const auto* blocks = task.tiles->blocks.data();
  Part part{0, blocks + task.tile->first_block, task.tile->num_blocks, 0};
  if (task.next_tile != nullptr) {
    part.next_blocks = blocks + task.next_tile->first_block;
    part.num_next = task.next_tile->num_blocks;
  }
  return part;
}

// The blocks of one query of the tile alone, `row`: of its first pair.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE Part own_part(const TileTask<Number>& task, std::int64_t query, std::int64_t row) {
  const auto* blocks = task.tiles->blocks.data();
  const auto& own = task.tiles->queries[static_cast<std::size_t>(task.tile->first_query + query)];
  Part part{row, blocks + own.first_block, own.num_blocks, task.tile->num_blocks};
  if (task.next_tile != nullptr && query < task.next_tile->num_queries) {
    const auto& next = task.tiles->queries[static_cast<std::size_t>(task.next_tile->first_query + query)];
    part.next_blocks = blocks + next.first_block;
    part.num_next = next.num_blocks;
  }
  return part;
}

// `present` (query, head) pairs from number `first` on.
template <class Set, class Number>
STEREOSWEEP_ALWAYS_INLINE void attend_rows(const TileTask<Number>& task, Places& places, std::int64_t first,
                                           std::int64_t present) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const auto width = task.kept.padded_width;
  const auto query_of = [&](std::int64_t row) { return (first + row) / task.group; };
  const auto head_of = [&](std::int64_t row) { return task.key_head * task.group + (first + row) % task.group; };
  for (std::int64_t row = 0; row < present; ++row) {
    const auto place = task.tile->first_query + query_of(row);
    places.masks[row] = task.tiles->masks.data() + task.tiles->queries[static_cast<std::size_t>(place)].first_mask;
    const Number* from = task.query + place * task.query_stride + head_of(row) * task.width;
    for (std::int64_t d = 0; d < width; d += lanes::width) {
      Floats numbers = {};
      lanes::store(places.sums + row * width + d, numbers);
      lanes::load_some(numbers, from + d, task.width - d);
      numbers *= task.rule.scale;
      lanes::store(places.queries + row * width + d, numbers);
    }
  }
  const auto shared = shared_part(task);
  run_part<MultiplyKeys, Set>(task, places, shared, present);
  for (std::int64_t row = 0; row < present;) {
    auto own = own_part(task, query_of(row), row);
    const auto end = std::min(present, (query_of(row) + 1) * task.group - first);
    run_part<MultiplyKeys, Set>(task, places, own, end - row);
    for (; row < end; ++row) {
      const float* sink = task.rule.sinks == nullptr ? nullptr : task.rule.sinks + head_of(row);
      Floats largest = Floats{} + (sink == nullptr ? lowest : *sink);
      auto part = shared;
      part.row = own.row = row;
      apply_rule(task, places, part, head_of(row), largest);
      apply_rule(task, places, own, head_of(row), largest);
      lanes::fold<lanes::Fold::largest>(largest);
      soften(places, row, own.place + own.num_blocks, largest, sink);
    }
  }
  run_part<MixValues, Set>(task, places, shared, present);
  for (std::int64_t row = 0; row < present;) {
    const auto end = std::min(present, (query_of(row) + 1) * task.group - first);
    run_part<MixValues, Set>(task, places, own_part(task, query_of(row), row), end - row);
    row = end;
  }
  for (std::int64_t row = 0; row < present; ++row) {
    Number* out = task.out + (task.tile->first_query + query_of(row)) * task.out_stride + head_of(row) * task.width;
    for (std::int64_t d = 0; d < task.width; d += lanes::width) {
      Floats numbers;
      lanes::load(numbers, places.sums + row * width + d);
      lanes::store_some(out + d, numbers * places.factors[row], task.width - d);
    }
  }
}

struct AttendTile {
  template <class Set, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const TileTask<Number>& task, float* const& scratch) {
    Places places;
    places.padded_keys = std::int64_t{task.tiles->most_blocks} * lanes::width;
    places.queries = scratch;
    places.sums = scratch + most_rows * task.kept.padded_width;
    places.scores = scratch + 2 * most_rows * task.kept.padded_width;
    const auto pairs = task.tile->num_queries * task.group;
    for (std::int64_t first = 0; first < pairs; first += most_rows) {
      attend_rows<Set>(task, places, first, std::min<std::int64_t>(most_rows, pairs - first));
    }
  }
};

}  // namespace

std::int64_t tile_scratch_numbers(std::int64_t num_blocks, std::int64_t padded_width) {
  return most_rows * (2 * padded_width + num_blocks * lanes::width);
}

std::int32_t best_tile_queries(std::int64_t group) {
  return static_cast<std::int32_t>(most_rows / std::gcd(most_rows, group));
}

template <class Number>
void attend_tile(const TileTask<Number>& task, float* scratch, Instructions instructions) {
  lanes::run<AttendTile>(instructions, task, scratch);
}
template void attend_tile(const TileTask<float>&, float*, Instructions);
template void attend_tile(const TileTask<Bfloat16Bits>&, float*, Instructions);
template void attend_tile(const TileTask<Float16Bits>&, float*, Instructions);

}  // namespace stereosweep::model
