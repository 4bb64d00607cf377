#include "model/AttentionKernel.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

using lanes::Floats;
using lanes::fold;
using lanes::Fold;
using lanes::Ints;
using lanes::load;
using lanes::round_up;
using lanes::store;

constexpr int block_rows = 4;  // queries that share one pass over keys and values

// One row of `width` numbers as floats; the rest up to a whole number of lanes::width is zero.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void load_row(float* to, const Number* from, std::int64_t width, float scale) {
  std::int64_t i = 0;
  for (; i + lanes::width <= width; i += lanes::width) {
    Floats numbers;
    load(numbers, from + i);
    numbers *= scale;
    store(to + i, numbers);
  }
  if (i < width) {
    Number tail[lanes::width] = {};
    std::memcpy(tail, from + i, static_cast<std::size_t>(width - i) * sizeof(Number));
    Floats numbers;
    load(numbers, tail);
    numbers *= scale;
    store(to + i, numbers);
  }
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void store_row(Number* to, const float* from, std::int64_t width) {
  std::int64_t i = 0;
  Floats numbers;
  for (; i + lanes::width <= width; i += lanes::width) {
    load(numbers, from + i);
    store(to + i, numbers);
  }
  if (i < width) {
    Number tail[lanes::width];
    load(numbers, from + i);
    store(tail, numbers);
    std::memcpy(to + i, tail, static_cast<std::size_t>(width - i) * sizeof(Number));
  }
}

// e^x for x <= 0, to 2e-7 relative: 2^n times the series of e^r, |r| <= ln(2)/2. Below -87 the answer stays at 2e-38;
// NaN stays NaN.
STEREOSWEEP_ALWAYS_INLINE void exponential(Floats& x) {
  const Floats least = Floats{} - 87.0F;
  x = x < least ? least : x;
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
STEREOSWEEP_ALWAYS_INLINE void load_keys_and_values(const HeadTask<Number>& task, const Places& places) {
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
STEREOSWEEP_ALWAYS_INLINE void multiply_keys(const Places& places) {
  for (std::int64_t j = 0; j < places.padded_keys; j += lanes::width) {
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

// scores -> e^(score - largest); factor = 1 / sum in every lane.
STEREOSWEEP_ALWAYS_INLINE void soften(float* scores, std::int64_t num_keys, std::int64_t padded_keys, Floats& factor) {
  for (auto j = num_keys; j < padded_keys; ++j) {
    scores[j] = -std::numeric_limits<float>::infinity();
  }
  Floats largest;
  load(largest, scores);
  Floats numbers;
  for (std::int64_t j = lanes::width; j < padded_keys; j += lanes::width) {
    load(numbers, scores + j);
    largest = numbers > largest ? numbers : largest;
  }
  fold<Fold::largest>(largest);
  Floats sum = {};
  for (std::int64_t j = 0; j < padded_keys; j += lanes::width) {
    load(numbers, scores + j);
    numbers -= largest;
    exponential(numbers);
    store(scores + j, numbers);
    sum += numbers;
  }
  fold<Fold::sum>(sum);
  factor = 1.0F / sum;
}

template <int Columns>  // in lanes::width
STEREOSWEEP_ALWAYS_INLINE void mix_columns(const Places& places, std::int64_t num_keys, const Floats* factors,
                                           std::int64_t d) {
  Floats sums[block_rows][Columns] = {};
  for (std::int64_t j = 0; j < num_keys; ++j) {
    Floats values[Columns];
    for (int c = 0; c < Columns; ++c) {
      load(values[c], places.values + j * places.padded_width + d + c * lanes::width);
    }
    for (int r = 0; r < block_rows; ++r) {
      for (int c = 0; c < Columns; ++c) {
        sums[r][c] += places.scores[r * places.padded_keys + j] * values[c];
      }
    }
  }
  for (int r = 0; r < block_rows; ++r) {
    for (int c = 0; c < Columns; ++c) {
      store(places.results + r * places.padded_width + d + c * lanes::width, sums[r][c] * factors[r]);
    }
  }
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void attend_here(const HeadTask<Number>& task, float* scratch) {
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
    for (; d + 2 * lanes::width <= places.padded_width; d += 2 * lanes::width) {
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
void attend_one(const HeadTask<Float16Bits>& task, float* scratch, Instructions instructions) {
  attend_with(task, scratch, instructions);
}

}  // namespace stereosweep::model
