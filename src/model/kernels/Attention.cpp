#include "model/kernels/Attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/Error.hpp"
#include "base/process/Profile.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/kernels/VectorLanes.hpp"

namespace stereosweep::model {

namespace {

using lanes::Floats;
using lanes::fold;
using lanes::Fold;
using lanes::Ints;
using lanes::load;
using lanes::round_up;
using lanes::store;

// Attention on the processor for many short sequences, straight on packed rows.
// Torch's own kernel wants [batch, heads, length, width] copies and is made for long sequences: with ten tokens it
// took a fifth of a bfloat16 forward. Here one (sequence, head) pair stays in the first-level cache from its first
// read to its last write. Arithmetic is float32 throughout; bfloat16 and float16 are how numbers are stored.

// Where one (sequence, head) pair lies. Strides count numbers, not bytes; `width` numbers of a row belong to the head.
template <class Number>
struct HeadTask {
  const Number* query;  // [queries, width]
  const Number* key;    // [keys, width]
  const Number* value;  // [keys, width]
  Number* out;          // [queries, width]
  std::int64_t query_stride;
  std::int64_t key_stride;
  std::int64_t value_stride;
  std::int64_t out_stride;
  std::int64_t num_queries;
  std::int64_t num_keys;  // at least 1
  std::int64_t width;
  float scale;  // of the scores
};

constexpr int block_rows = 4;  // queries that share one pass over keys and values

// One row of `width` numbers as floats; the rest up to a whole number of lanes::width is zero.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void load_row(float* to, const Number* from, std::int64_t width, float scale) {
  for (std::int64_t i = 0; i < width; i += lanes::width) {
    Floats numbers;
    lanes::load_some(numbers, from + i, width - i);
    numbers *= scale;
    store(to + i, numbers);
  }
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void store_row(Number* to, const float* from, std::int64_t width) {
  for (std::int64_t i = 0; i < width; i += lanes::width) {
    Floats numbers;
    load(numbers, from + i);
    lanes::store_some(to + i, numbers, width - i);
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

// out = softmax(scale * query key^T) value. `scratch` holds at least scratch_numbers(keys, width) floats, 64-byte
// aligned.
struct AttendHead {
  template <class, class Number>
  STEREOSWEEP_ALWAYS_INLINE static void run(const HeadTask<Number>& task, float* const& scratch) {
    const auto places = divide(scratch, task.num_keys, task.width);
    load_keys_and_values(task, places);
    for (std::int64_t begin = 0; begin < task.num_queries; begin += block_rows) {
      const auto rows = std::min<std::int64_t>(block_rows, task.num_queries - begin);
      for (std::int64_t r = 0; r < block_rows; ++r) {  // a block that is not full repeats its last row
        const auto row = begin + std::min(r, rows - 1);
        load_row(places.queries + r * places.padded_width, task.query + row * task.query_stride, task.width,
                 task.scale);
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
};

std::int64_t scratch_numbers(std::int64_t num_keys, std::int64_t width) {
  const auto keys = round_up(num_keys);
  const auto columns = round_up(width);
  return keys * columns + num_keys * columns + block_rows * (2 * columns + keys);
}

constexpr std::int64_t cache_line = 64;

/// Part number `part` of `parts` of a sequence's rows is fetched into the second-level cache.
void fetch_part(const at::Tensor& rows, std::span<const std::int32_t> begins, std::int64_t sequence, std::int64_t part,
                std::int64_t parts) {
  const std::int64_t first = begins[sequence];
  const std::int64_t count = begins[sequence + 1] - first;
  const auto stride = rows.stride(0) * rows.element_size();
  const auto bytes = rows.size(1) * rows.element_size();
  const auto* start = static_cast<const char*>(rows.const_data_ptr());
  for (auto row = first + count * part / parts; row < first + count * (part + 1) / parts; ++row) {
    for (std::int64_t byte = 0; byte < bytes; byte += cache_line) {
      __builtin_prefetch(start + row * stride + byte, 0, 2);
    }
  }
}

template <class Number>
void attend_in(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
               std::int64_t num_heads, const at::Tensor& out, Instructions instructions) {
  const auto width = query.size(1) / num_heads;
  const auto sequences = static_cast<std::int64_t>(segments.key_begin.size()) - 1;
  const auto one_pair = [&](std::int64_t index, float* scratch) {
    const auto sequence = index / num_heads;
    const auto column = index % num_heads * width;
    const auto first_key = segments.key_begin[sequence];
    const auto first_query = segments.query_begin[sequence];
    HeadTask<Number> task{};
    task.query = numbers_of<Number>(query) + first_query * query.stride(0) + column;
    task.key = numbers_of<Number>(key) + first_key * key.stride(0) + column;
    task.value = numbers_of<Number>(value) + first_key * value.stride(0) + column;
    task.out = numbers_to<Number>(out) + first_query * out.stride(0) + column;
    task.query_stride = query.stride(0);
    task.key_stride = key.stride(0);
    task.value_stride = value.stride(0);
    task.out_stride = out.stride(0);
    task.num_queries = segments.query_begin[sequence + 1] - first_query;
    task.num_keys = segments.key_begin[sequence + 1] - first_key;
    task.width = width;
    task.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
    if (task.num_queries > 0) {
      lanes::run<AttendHead>(instructions, task, scratch);
    }
  };
  // What a product has put out is larger than the second-level cache, and one head's part of a row is too short for the
  // processor to guess what comes next: half of the time went by waiting. So each head fetches a part of the rows that
  // the next sequence needs.
  const auto fetch_next = [&](std::int64_t index) {
    const auto next = index / num_heads + 1;
    if (next < sequences) {
      fetch_part(key, segments.key_begin, next, index % num_heads, num_heads);
      fetch_part(value, segments.key_begin, next, index % num_heads, num_heads);
      fetch_part(query, segments.query_begin, next, index % num_heads, num_heads);
    }
  };
  const auto numbers = scratch_numbers(longest(segments.key_begin), width);
  at::parallel_for(0, sequences * num_heads, 16, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = at::empty({numbers}, at::TensorOptions(at::kFloat));  // torch's allocator aligns to 64 bytes
    for (auto index = begin; index < end; ++index) {
      fetch_next(index);
      one_pair(index, scratch.mutable_data_ptr<float>());
    }
  });
}

}  // namespace

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads, Instructions instructions) {
  const base::profile::Span span("attention");
  STEREOSWEEP_ASSERT(query.stride(1) == 1 && key.stride(1) == 1 && value.stride(1) == 1, "rows must be contiguous");
  if (kernels_on(query.device()) == Kernels::own_kernels) {
    const auto out = at::empty({query.size(0), query.size(1)}, query.options());
    out.slice(0, segments.query_begin.back()).zero_();  // rows that belong to no sequence
    with_number(query.scalar_type(), [&]<class Number>(Number) {
      attend_in<Number>(query, key, value, segments, num_heads, out, instructions);
    });
    return out;
  }
  const auto by = segments.bundles ? SegmentOperator::efficient
                                   : segment_operator(query.device(), query.scalar_type(), query.size(1) / num_heads);
  return by == SegmentOperator::plain ? attend_in_runs(query, key, value, segments, num_heads)
                                      : attend_packed(query, key, value, segments, num_heads, by);
}

at::Tensor attend_in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads) {
  const auto& keys = segments.key_begin;
  const auto& queries = segments.query_begin;
  const auto sequences = keys.size() - 1;
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows, std::int64_t begin, std::int64_t end, std::int64_t count) {
    return rows.slice(0, begin, end).unflatten(1, {num_heads, width}).unflatten(0, {count, -1}).transpose(1, 2);
  };
  const auto same_lengths = [&](std::size_t left, std::size_t right) {
    return keys[left + 1] - keys[left] == keys[right + 1] - keys[right] &&
           queries[left + 1] - queries[left] == queries[right + 1] - queries[right];
  };
  auto out = at::empty({query.size(0), query.size(1)}, query.options());
  for (std::size_t first = 0; first < sequences;) {
    auto last = first + 1;
    while (last < sequences && same_lengths(first, last)) {
      ++last;
    }
    const auto count = static_cast<std::int64_t>(last - first);
    if (queries[last] > queries[first]) {
      const auto mixed = at::scaled_dot_product_attention(by_head(query, queries[first], queries[last], count),
                                                          by_head(key, keys[first], keys[last], count),
                                                          by_head(value, keys[first], keys[last], count));
      out.slice(0, queries[first], queries[last]).copy_(mixed.transpose(1, 2).reshape({-1, query.size(1)}));
    }
    first = last;
  }
  return out;
}

}  // namespace stereosweep::model
