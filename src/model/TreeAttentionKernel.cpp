#include "model/TreeAttentionKernel.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>

#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;
using lanes::Ints;

constexpr std::int64_t most_rows = 6;  // queries whose sums stay in registers

// Scratch of one group of at most six (query, head) pairs.
struct Places {
  float* queries;             // [row, padded width]
  float* scores;              // [row, padded keys]
  Floats factors[most_rows];  // one over the sum of the weights
  const std::uint16_t* masks[most_rows];
  std::int64_t padded_keys;
};

// scores of `Rows` queries against `Blocks` blocks
template <int Rows, int Blocks, class Number>
STEREOSWEEP_ALWAYS_INLINE void multiply_keys(const TileTask<Number>& task, const Places& places, std::int64_t block) {
  const auto width = task.kept.padded_width;
  const Number* keys[Blocks];
  for (int b = 0; b < Blocks; ++b) {
    const auto number = task.tiles->blocks[task.tile->first_block + block + b];
    keys[b] = task.kept.keys + (number * task.kept.num_key_heads + task.key_head) * width * lanes::width;
  }
  Floats sums[Rows][Blocks] = {};
  for (std::int64_t d = 0; d < task.width; ++d) {
    Floats columns[Blocks];
    for (int b = 0; b < Blocks; ++b) {
      lanes::load(columns[b], keys[b] + d * lanes::width);
    }
    for (int r = 0; r < Rows; ++r) {
      for (int b = 0; b < Blocks; ++b) {
        sums[r][b] += places.queries[r * width + d] * columns[b];
      }
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int b = 0; b < Blocks; ++b) {
      lanes::store(places.scores + r * places.padded_keys + (block + b) * lanes::width, sums[r][b]);
    }
  }
}

template <class Set, int Rows, class Number>
STEREOSWEEP_ALWAYS_INLINE void multiply_all_keys(const TileTask<Number>& task, const Places& places) {
  std::int64_t block = 0;
  for (; block + Set::columns <= task.tile->num_blocks; block += Set::columns) {
    multiply_keys<Rows, Set::columns>(task, places, block);
  }
  if constexpr (Set::columns > 2) {
    for (; block + 2 <= task.tile->num_blocks; block += 2) {
      multiply_keys<Rows, 2>(task, places, block);
    }
  }
  for (; block < task.tile->num_blocks; ++block) {
    multiply_keys<Rows, 1>(task, places, block);
  }
}

// Lanes that `mask` leaves out become `instead`.
STEREOSWEEP_ALWAYS_INLINE void leave_out(Floats& numbers, std::uint16_t mask, float instead) {
  const Ints bits = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const Ints all = Ints{} + static_cast<std::int32_t>(mask);
  numbers = (all & bits) != 0 ? numbers : Floats{} + instead;
}

// scores -> e^(score - largest), zero where the query does not see the key
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void soften(const TileTask<Number>& task, Places& places, int row, std::int64_t head) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  float* scores = places.scores + row * places.padded_keys;
  const auto* masks = places.masks[row];
  const auto* blocks = task.tiles->blocks.data() + task.tile->first_block;
  const ScoreRule& rule = task.rule;
  Floats largest = Floats{} + lowest;
  Floats numbers;
  for (std::int64_t b = 0; b < task.tile->num_blocks; ++b) {
    lanes::load(numbers, scores + b * lanes::width);
    if (rule.bias != nullptr) {
      Floats bias;
      lanes::load(bias, rule.bias + head * rule.bias_stride + std::int64_t{blocks[b]} * lanes::width);
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
  lanes::fold<lanes::Fold::largest>(largest);
  Floats sum = {};
  for (std::int64_t b = 0; b < task.tile->num_blocks; ++b) {
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
  places.factors[row] = 1.0F / sum;
}

// Sixteen times `Columns` numbers of the answers of `Rows` queries, from number d on.
template <int Rows, int Columns, class Number>
STEREOSWEEP_ALWAYS_INLINE void mix_columns(const TileTask<Number>& task, const Places& places, Number* const* out,
                                           std::int64_t d) {
  const auto width = task.kept.padded_width;
  Floats sums[Rows][Columns] = {};
  for (std::int64_t b = 0; b < task.tile->num_blocks; ++b) {
    const auto number = task.tiles->blocks[task.tile->first_block + b];
    const Number* values =
        task.kept.values + (number * task.kept.num_key_heads + task.key_head) * width * lanes::width + d;
    std::uint32_t seen = 0;
    for (int r = 0; r < Rows; ++r) {
      seen |= places.masks[r][b];
    }
    const float* weights = places.scores + b * lanes::width;
    const auto first = std::countr_zero(seen);
    const auto end = 32 - std::countl_zero(seen);
    for (int j = first; j < end; ++j) {
      Floats row[Columns];
      for (int c = 0; c < Columns; ++c) {
        lanes::load(row[c], values + j * width + c * lanes::width);
      }
      for (int r = 0; r < Rows; ++r) {
        if constexpr (std::is_same_v<Number, Float16Bits>) {  // 0 times another branch's infinite value would be NaN
          if (((places.masks[r][b] >> j) & 1U) == 0) {
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
      const auto column = d + c * lanes::width;
      if (out[r] != nullptr && column < task.width) {
        lanes::store_some(out[r] + column, sums[r][c] * places.factors[r], task.width - column);
      }
    }
  }
}

template <class Set, int Rows, class Number>
STEREOSWEEP_ALWAYS_INLINE void mix_values(const TileTask<Number>& task, const Places& places, Number* const* out) {
  const auto width = task.kept.padded_width;
  std::int64_t d = 0;
  for (; d + Set::columns * lanes::width <= width; d += Set::columns * lanes::width) {
    mix_columns<Rows, Set::columns>(task, places, out, d);
  }
  if constexpr (Set::columns > 2) {
    for (; d + 2 * lanes::width <= width; d += 2 * lanes::width) {
      mix_columns<Rows, 2>(task, places, out, d);
    }
  }
  for (; d < width; d += lanes::width) {
    mix_columns<Rows, 1>(task, places, out, d);
  }
}

// `Rows` (query, head) pairs from number `first` on; `present` of them are there, the rest repeat the last one.
template <class Set, int Rows, class Number>
STEREOSWEEP_ALWAYS_INLINE void attend_rows(const TileTask<Number>& task, Places& places, std::int64_t first,
                                           std::int64_t present) {
  Number* out[Rows];
  std::int64_t heads[Rows];
  for (int r = 0; r < Rows; ++r) {
    const auto pair = first + std::min<std::int64_t>(r, present - 1);
    const auto query = pair / task.group;
    const auto row = task.tile->first_query + query;
    heads[r] = task.key_head * task.group + pair % task.group;
    places.masks[r] = task.tiles->masks.data() + task.tile->first_mask + query * task.tile->num_blocks;
    out[r] = r < present ? task.out + row * task.out_stride + heads[r] * task.width : nullptr;
    const Number* from = task.query + row * task.query_stride + heads[r] * task.width;
    for (std::int64_t d = 0; d < task.width; d += lanes::width) {
      Floats numbers;
      lanes::load_some(numbers, from + d, task.width - d);
      numbers *= task.rule.scale;
      lanes::store(places.queries + r * task.kept.padded_width + d, numbers);
    }
  }
  multiply_all_keys<Set, Rows>(task, places);
  for (int r = 0; r < Rows; ++r) {
    soften(task, places, r, heads[r]);
  }
  mix_values<Set, Rows>(task, places, out);
}

struct AttendTile {
  template <class Set, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const TileTask<Number>& task, float* const& scratch) {
    Places places;
    places.padded_keys = std::int64_t{task.tile->num_blocks} * lanes::width;
    places.queries = scratch;
    places.scores = scratch + most_rows * task.kept.padded_width;
    const auto pairs = task.tile->num_queries * task.group;
    std::int64_t first = 0;
    for (; first + 3 <= pairs; first += most_rows) {
      attend_rows<Set, most_rows>(task, places, first, std::min<std::int64_t>(most_rows, pairs - first));
    }
    if (first + 2 == pairs) {
      attend_rows<Set, 2>(task, places, first, 2);
    } else if (first + 1 == pairs) {
      attend_rows<Set, 1>(task, places, first, 1);
    }
  }
};

// Sixteen rows of sixteen numbers change places with their columns.
STEREOSWEEP_ALWAYS_INLINE void transpose(Floats* rows) {
  const Ints lower[] = {{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
                        {0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
                        {0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
                        {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}};
  const Ints upper[] = {{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31},
                        {2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31},
                        {4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31},
                        {8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31}};
  for (int step = 0; step < 4; ++step) {
    const int distance = 1 << step;
    for (int i = 0; i < 16; ++i) {
      if ((i & distance) == 0) {
        const Floats first = __builtin_shuffle(rows[i], rows[i + distance], lower[step]);
        const Floats second = __builtin_shuffle(rows[i], rows[i + distance], upper[step]);
        rows[i] = first;
        rows[i + distance] = second;
      }
    }
  }
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void keep_block(const KeepTask<Number>& task, std::int64_t row, std::int64_t head) {
  const auto block = std::int64_t{task.slots[row]} / slots_per_block;
  Number* keys = task.kept_keys + (block * task.num_key_heads + head) * task.padded_width * lanes::width;
  const Number* from = task.keys + row * task.key_stride + head * task.width;
  for (std::int64_t d = 0; d < task.width; d += lanes::width) {
    Floats rows[lanes::width];
    for (int i = 0; i < lanes::width; ++i) {
      lanes::load_some(rows[i], from + i * task.key_stride + d, task.width - d);
    }
    transpose(rows);
    for (int i = 0; i < lanes::width; ++i) {
      lanes::store(keys + (d + i) * lanes::width, rows[i]);
    }
  }
}

struct KeepRows {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const KeepTask<Number>& task, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end;) {
      const auto slot = task.slots[row];
      const bool whole = slot % slots_per_block == 0 && row + slots_per_block <= end &&
                         task.slots[row + slots_per_block - 1] == slot + slots_per_block - 1;
      for (std::int64_t head = 0; head < task.num_key_heads; ++head) {
        const auto block = std::int64_t{slot} / slots_per_block;
        const auto lane = slot % slots_per_block;
        const auto start = (block * task.num_key_heads + head) * task.padded_width * lanes::width;
        if (whole) {
          keep_block(task, row, head);
        } else {
          const Number* key = task.keys + row * task.key_stride + head * task.width;
          for (std::int64_t d = 0; d < task.width; ++d) {
            task.kept_keys[start + d * lanes::width + lane] = key[d];
          }
        }
        for (std::int64_t i = 0; i < (whole ? slots_per_block : 1); ++i) {
          std::memcpy(task.kept_values + start + (lane + i) * task.padded_width,
                      task.values + (row + i) * task.value_stride + head * task.width,
                      static_cast<std::size_t>(task.width) * sizeof(Number));
        }
      }
      row += whole ? slots_per_block : 1;
    }
  }
};

}  // namespace

std::int64_t tile_scratch_numbers(std::int64_t num_blocks, std::int64_t padded_width) {
  return most_rows * (padded_width + num_blocks * lanes::width);
}

std::int32_t best_tile_queries(std::int64_t group) {
  return static_cast<std::int32_t>(most_rows / std::gcd(most_rows, group));
}

void attend_tile(const TileTask<float>& task, float* scratch, Instructions instructions) {
  lanes::run<AttendTile>(instructions, task, scratch);
}
void attend_tile(const TileTask<Bfloat16Bits>& task, float* scratch, Instructions instructions) {
  lanes::run<AttendTile>(instructions, task, scratch);
}
void attend_tile(const TileTask<Float16Bits>& task, float* scratch, Instructions instructions) {
  lanes::run<AttendTile>(instructions, task, scratch);
}

void keep_rows(const KeepTask<float>& task, std::int64_t begin, std::int64_t end) {
  lanes::run<KeepRows>(Instructions::best, task, begin, end);
}
void keep_rows(const KeepTask<Bfloat16Bits>& task, std::int64_t begin, std::int64_t end) {
  lanes::run<KeepRows>(Instructions::best, task, begin, end);
}
void keep_rows(const KeepTask<Float16Bits>& task, std::int64_t begin, std::int64_t end) {
  lanes::run<KeepRows>(Instructions::best, task, begin, end);
}

}  // namespace stereosweep::model
