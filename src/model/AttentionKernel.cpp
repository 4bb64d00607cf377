#include "model/AttentionKernel.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace stereosweep::model {
namespace {

constexpr std::int64_t lanes = 16;
constexpr int block_rows = 4;  // queries that share one pass over keys and values

// The compiler cuts these into what the instruction set has. They are passed by reference only: by value their
// calling convention would depend on the instruction set.
using Floats = float __attribute__((vector_size(lanes * 4)));
using Ints = std::int32_t __attribute__((vector_size(lanes * 4)));
using Words = std::uint32_t __attribute__((vector_size(lanes * 4)));
using Halves = std::uint16_t __attribute__((vector_size(lanes * 2)));

#define STEREOSWEEP_INLINE [[gnu::always_inline]] inline

std::int64_t round_up(std::int64_t count) { return (count + lanes - 1) / lanes * lanes; }

STEREOSWEEP_INLINE void load(Floats& to, const float* from) { std::memcpy(&to, from, sizeof(Floats)); }
STEREOSWEEP_INLINE void load(Floats& to, const Bfloat16Bits* from) {
  Halves halves;
  std::memcpy(&halves, from, sizeof(Halves));
  const Words words = __builtin_convertvector(halves, Words) << 16;
  std::memcpy(&to, &words, sizeof(Floats));
}
STEREOSWEEP_INLINE void store(float* to, const Floats& from) { std::memcpy(to, &from, sizeof(Floats)); }
STEREOSWEEP_INLINE void store(Bfloat16Bits* to, const Floats& from) {  // to the nearest, ties to even
  Words words;
  std::memcpy(&words, &from, sizeof(Words));
  words = (words + 0x7fffU + ((words >> 16) & 1U)) >> 16;
  const Halves halves = __builtin_convertvector(words, Halves);
  std::memcpy(to, &halves, sizeof(Halves));
}

// One row of `width` numbers as floats; the rest up to a whole number of lanes is zero.
template <class Number>
STEREOSWEEP_INLINE void load_row(float* to, const Number* from, std::int64_t width, float scale) {
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    Floats numbers;
    load(numbers, from + i);
    numbers *= scale;
    store(to + i, numbers);
  }
  if (i < width) {
    Number tail[lanes] = {};
    std::memcpy(tail, from + i, static_cast<std::size_t>(width - i) * sizeof(Number));
    Floats numbers;
    load(numbers, tail);
    numbers *= scale;
    store(to + i, numbers);
  }
}

template <class Number>
STEREOSWEEP_INLINE void store_row(Number* to, const float* from, std::int64_t width) {
  std::int64_t i = 0;
  Floats numbers;
  for (; i + lanes <= width; i += lanes) {
    load(numbers, from + i);
    store(to + i, numbers);
  }
  if (i < width) {
    Number tail[lanes];
    load(numbers, from + i);
    store(tail, numbers);
    std::memcpy(to + i, tail, static_cast<std::size_t>(width - i) * sizeof(Number));
  }
}

// e^x for x <= 0, to 2e-7 relative: 2^n times the series of e^r, |r| <= ln(2)/2. Below -87 the answer stays at 2e-38.
STEREOSWEEP_INLINE void exponential(Floats& x) {
  const Floats least = Floats{} - 87.0F;
  x = x > least ? x : least;
  const Ints whole = __builtin_convertvector(x * 1.44269504F - 0.5F, Ints);  // cut towards zero
  const Floats power = __builtin_convertvector(whole, Floats);
  const Floats rest = (x - power * 0.693359375F) + power * 2.12194440e-4F;  // ln 2 in two parts
  Floats series = rest * (1.0F / 5040) + 1.0F / 720;
  series = series * rest + 1.0F / 120;
  series = series * rest + 1.0F / 24;
  series = series * rest + 1.0F / 6;
  series = series * rest + 0.5F;
  series = series * rest + 1.0F;
  series = series * rest + 1.0F;
  const Ints bits = (whole + 127) << 23;
  Floats factor;
  std::memcpy(&factor, &bits, sizeof(Floats));
  x = series * factor;
}

// Scratch: keys column by column, values row by row, and one block of queries, scores, results.
struct Places {
  float* keys;     // [width, padded keys]
  float* values;   // [keys, padded width]
  float* queries;  // [block rows, padded width]
  float* scores;   // [block rows, padded keys]
  float* results;  // [block rows, padded width]
  std::int64_t padded_keys;
  std::int64_t padded_width;
};

Places divide(float* scratch, std::int64_t num_keys, std::int64_t width) {
  const auto padded_keys = round_up(num_keys);
  const auto padded_width = round_up(width);
  Places places{};
  places.padded_keys = padded_keys;
  places.padded_width = padded_width;
  places.keys = scratch;
  places.values = places.keys + padded_width * padded_keys;
  places.queries = places.values + num_keys * padded_width;
  places.scores = places.queries + block_rows * padded_width;
  places.results = places.scores + block_rows * padded_keys;
  return places;
}

template <class Number>
STEREOSWEEP_INLINE void load_keys_and_values(const HeadTask<Number>& task, const Places& places) {
  const auto width = places.padded_width;
  for (std::int64_t j = 0; j < task.num_keys; ++j) {
    load_row(places.queries, task.key + j * task.key_stride, task.width, 1.0F);
    for (std::int64_t d = 0; d < width; ++d) {
      places.keys[d * places.padded_keys + j] = places.queries[d];
    }
    load_row(places.values + j * width, task.value + j * task.value_stride, task.width, 1.0F);
  }
  for (std::int64_t d = 0; d < width && task.num_keys < places.padded_keys; ++d) {
    std::fill(places.keys + d * places.padded_keys + task.num_keys, places.keys + (d + 1) * places.padded_keys, 0.0F);
  }
}

// scores = queries keys, sixteen keys at a time; even and odd numbers of a row in sums of their own.
STEREOSWEEP_INLINE void multiply_keys(const Places& places) {
  for (std::int64_t j = 0; j < places.padded_keys; j += lanes) {
    Floats even[block_rows] = {};
    Floats odd[block_rows] = {};
    for (std::int64_t d = 0; d < places.padded_width; d += 2) {
      Floats first;
      Floats second;
      load(first, places.keys + d * places.padded_keys + j);
      load(second, places.keys + (d + 1) * places.padded_keys + j);
      for (int r = 0; r < block_rows; ++r) {
        even[r] += places.queries[r * places.padded_width + d] * first;
        odd[r] += places.queries[r * places.padded_width + d + 1] * second;
      }
    }
    for (int r = 0; r < block_rows; ++r) {
      store(places.scores + r * places.padded_keys + j, even[r] + odd[r]);
    }
  }
}

// Folds the lanes: every lane of the answer holds the largest or the sum of all, in an order that never changes.
enum class Fold { largest, sum };
template <Fold kind>
STEREOSWEEP_INLINE void fold(Floats& x) {
  const Ints steps[] = {{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7},
                        {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11},
                        {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13},
                        {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}};
  for (const auto& step : steps) {
    const Floats other = __builtin_shuffle(x, step);
    if constexpr (kind == Fold::largest) {
      x = other > x ? other : x;
    } else {
      x += other;
    }
  }
}

// scores -> e^(score - largest); factor = 1 / sum in every lane.
STEREOSWEEP_INLINE void soften(float* scores, std::int64_t num_keys, std::int64_t padded_keys, Floats& factor) {
  for (auto j = num_keys; j < padded_keys; ++j) {
    scores[j] = -std::numeric_limits<float>::infinity();
  }
  Floats largest;
  load(largest, scores);
  Floats numbers;
  for (std::int64_t j = lanes; j < padded_keys; j += lanes) {
    load(numbers, scores + j);
    largest = numbers > largest ? numbers : largest;
  }
  fold<Fold::largest>(largest);
  Floats sum = {};
  for (std::int64_t j = 0; j < padded_keys; j += lanes) {
    load(numbers, scores + j);
    numbers -= largest;
    exponential(numbers);
    store(scores + j, numbers);
    sum += numbers;
  }
  fold<Fold::sum>(sum);
  factor = 1.0F / sum;
}

template <int Columns>  // in lanes
STEREOSWEEP_INLINE void mix_columns(const Places& places, std::int64_t num_keys, const Floats* factors,
                                    std::int64_t d) {
  Floats sums[block_rows][Columns] = {};
  for (std::int64_t j = 0; j < num_keys; ++j) {
    Floats values[Columns];
    for (int c = 0; c < Columns; ++c) {
      load(values[c], places.values + j * places.padded_width + d + c * lanes);
    }
    for (int r = 0; r < block_rows; ++r) {
      for (int c = 0; c < Columns; ++c) {
        sums[r][c] += places.scores[r * places.padded_keys + j] * values[c];
      }
    }
  }
  for (int r = 0; r < block_rows; ++r) {
    for (int c = 0; c < Columns; ++c) {
      store(places.results + r * places.padded_width + d + c * lanes, sums[r][c] * factors[r]);
    }
  }
}

template <class Number>
STEREOSWEEP_INLINE void attend_here(const HeadTask<Number>& task, float* scratch) {
  const auto places = divide(scratch, task.num_keys, task.width);
  load_keys_and_values(task, places);
  for (std::int64_t begin = 0; begin < task.num_queries; begin += block_rows) {
    const auto rows = std::min<std::int64_t>(block_rows, task.num_queries - begin);
    for (std::int64_t r = 0; r < block_rows; ++r) {  // a block that is not full repeats its last row
      const auto row = begin + std::min(r, rows - 1);
      load_row(places.queries + r * places.padded_width, task.query + row * task.query_stride, task.width, task.scale);
    }
    multiply_keys(places);
    Floats factors[block_rows];
    for (int r = 0; r < block_rows; ++r) {
      soften(places.scores + r * places.padded_keys, task.num_keys, places.padded_keys, factors[r]);
    }
    std::int64_t d = 0;
    for (; d + 2 * lanes <= places.padded_width; d += 2 * lanes) {
      mix_columns<2>(places, task.num_keys, factors, d);
    }
    if (d < places.padded_width) {
      mix_columns<1>(places, task.num_keys, factors, d);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      store_row(task.out + (begin + r) * task.out_stride, places.results + r * places.padded_width, task.width);
    }
  }
}

template <class Number>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void attend_avx512(const HeadTask<Number>& task,
                                                                                  float* scratch) {
  attend_here(task, scratch);
}
template <class Number>
[[gnu::target("avx2,fma")]] void attend_avx2(const HeadTask<Number>& task, float* scratch) {
  attend_here(task, scratch);
}
template <class Number>
void attend_baseline(const HeadTask<Number>& task, float* scratch) {
  attend_here(task, scratch);
}

Instructions choose() {
  return has(Instructions::avx512) ? Instructions::avx512
         : has(Instructions::avx2) ? Instructions::avx2
                                   : Instructions::baseline;
}

template <class Number>
void attend_with(const HeadTask<Number>& task, float* scratch, Instructions instructions) {
  static const Instructions best = choose();
  switch (instructions == Instructions::best ? best : instructions) {
    case Instructions::avx512:
      return attend_avx512(task, scratch);
    case Instructions::avx2:
      return attend_avx2(task, scratch);
    default:
      return attend_baseline(task, scratch);
  }
}

}  // namespace

bool has(Instructions instructions) {
  switch (instructions) {
    case Instructions::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    case Instructions::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    default:
      return true;
  }
}

std::int64_t scratch_numbers(std::int64_t num_keys, std::int64_t width) {
  const auto keys = round_up(num_keys);
  const auto columns = round_up(width);
  return keys * columns + num_keys * columns + block_rows * (2 * columns + keys);
}

void attend_one(const HeadTask<float>& task, float* scratch, Instructions instructions) {
  attend_with(task, scratch, instructions);
}
void attend_one(const HeadTask<Bfloat16Bits>& task, float* scratch, Instructions instructions) {
  attend_with(task, scratch, instructions);
}

}  // namespace stereosweep::model
