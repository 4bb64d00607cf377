#include "model/kernels/Tiles.hpp"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

#include "base/Error.hpp"
#include "base/VectorClones.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace stereosweep::model {

namespace dots {

#if defined(__x86_64__)
namespace {

constexpr std::int64_t most_rows = 6;  // with four vectors of columns they fill the registers
constexpr int vectors = 4;
constexpr std::int64_t lanes = 16;

constexpr std::int64_t numbers_of_line = 32;  // of a cache

template <std::int64_t Rows>
[[gnu::target("avx512f,avx512bf16")]] void multiply_rows(const Bfloat16Bits* input, std::int64_t width,
                                                         const Bfloat16Bits* packed, std::span<const Bfloat16Bits> soon,
                                                         float* sums) {
  __m512 totals[Rows][vectors];
  for (auto& row : totals) {
    for (auto& total : row) {
      total = _mm512_setzero_ps();
    }
  }
  const auto lines = std::ssize(soon) / numbers_of_line;
  for (std::int64_t pair = 0; pair < width / 2; ++pair) {
    if (pair < lines) {
      _mm_prefetch(reinterpret_cast<const char*>(soon.data() + pair * numbers_of_line), _MM_HINT_T1);
    }
    __m512i weights[vectors];
    for (int i = 0; i < vectors; ++i) {
      weights[i] = _mm512_loadu_si512(packed + 2 * (pair * columns + i * lanes));
    }
    for (std::int64_t row = 0; row < Rows; ++row) {
      std::int32_t both = 0;
      std::memcpy(&both, input + row * width + 2 * pair, sizeof(both));
      const __m512i numbers = _mm512_set1_epi32(both);
      for (int i = 0; i < vectors; ++i) {
        totals[row][i] = _mm512_dpbf16_ps(totals[row][i], reinterpret_cast<__m512bh>(numbers),
                                          reinterpret_cast<__m512bh>(weights[i]));
      }
    }
  }
  for (std::int64_t row = 0; row < Rows; ++row) {
    for (int i = 0; i < vectors; ++i) {
      _mm512_storeu_ps(sums + row * columns + i * lanes, totals[row][i]);
    }
  }
}

}  // namespace

bool present() { return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bf16") != 0; }

void multiply(const Bfloat16Bits* input, std::int64_t rows, std::int64_t width, const Bfloat16Bits* packed, float* sums,
              const Bfloat16Bits* next) {
  STEREOSWEEP_ASSERT(width % 2 == 0, "pairs of numbers are multiplied");
  constexpr std::array multiply_some = {multiply_rows<1>, multiply_rows<2>, multiply_rows<3>,
                                        multiply_rows<4>, multiply_rows<5>, multiply_rows<most_rows>};
  // Each pass over the tile fetches a part of the next one, which so comes from memory while this one is multiplied.
  const auto passes = (rows + most_rows - 1) / most_rows;
  const auto part = (width * columns / passes + numbers_of_line) / numbers_of_line * numbers_of_line;
  std::span<const Bfloat16Bits> coming;
  if (next != nullptr) {
    coming = {next, static_cast<std::size_t>(width * columns)};
  }
  for (std::int64_t row = 0; row < rows; row += most_rows) {
    const auto count = std::min(most_rows, rows - row);
    const auto soon = coming.first(std::min(coming.size(), static_cast<std::size_t>(part)));
    coming = coming.subspan(soon.size());
    multiply_some[static_cast<std::size_t>(count - 1)](input + row * width, width, packed, soon, sums + row * columns);
  }
}
#else
bool present() { return false; }

void multiply(const Bfloat16Bits*, std::int64_t, std::int64_t, const Bfloat16Bits*, float*, const Bfloat16Bits*) {
  STEREOSWEEP_ASSERT(false, "this processor has no such instruction");
}
#endif

void pack(const Bfloat16Bits* weight, std::int64_t count, std::int64_t width, Bfloat16Bits* packed) {
  std::fill(packed, packed + width * columns, Bfloat16Bits{0});
  for (std::int64_t column = 0; column < count; ++column) {
    for (std::int64_t i = 0; i < width; ++i) {
      packed[(i / 2 * columns + column) * 2 + i % 2] = weight[column * width + i];
    }
  }
}

}  // namespace dots

namespace tiles {

namespace {

constexpr auto columns = dots::columns;  // of the answer, per tile
constexpr std::int64_t most_rows = 128;  // of the answer, per tile of AMX
constexpr std::int64_t depth = 32;       // the width must be a multiple

// Additions round alike in all clones.
STEREOSWEEP_VECTOR_CLONES void add_bias(const float* sums, std::int64_t rows, const float* bias, std::int64_t width,
                                        float* out, std::int64_t out_stride) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < width; ++column) {
      out[row * out_stride + column] = sums[row * columns + column] + bias[column];
    }
  }
}

// The same for bfloat16 answers; residual may be null.
STEREOSWEEP_VECTOR_CLONES void add_and_round(const float* sums, std::int64_t rows, const float* bias,
                                             const std::uint16_t* residual, std::int64_t width, std::uint16_t* out,
                                             std::int64_t out_stride) {
  for (std::int64_t row = 0; row < rows; ++row) {
    float all[columns];
    for (std::int64_t column = 0; column < width; ++column) {
      all[column] = sums[row * columns + column] + bias[column];
    }
    for (std::int64_t column = 0; residual != nullptr && column < width; ++column) {
      const auto wide = static_cast<std::uint32_t>(residual[row * out_stride + column]) << 16U;
      all[column] += std::bit_cast<float>(wide);
    }
    for (std::int64_t column = 0; column < width; ++column) {
      const auto bits = std::bit_cast<std::uint32_t>(all[column]);  // to the nearest, ties to even
      out[row * out_stride + column] = static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
    }
  }
}

// What multiplies a tile; both read the same kind of packed weight, each its own order.
enum class Way { none, amx, dots };

// One tile of the weight, [count <= columns, hidden].
void pack_tile(Way way, const at::Tensor& part, const at::Tensor& packed) {
  const auto hidden = part.size(1);
  if (way == Way::dots) {
    const auto rows = part.contiguous();
    return dots::pack(static_cast<const Bfloat16Bits*>(rows.const_data_ptr()), part.size(0), hidden,
                      static_cast<Bfloat16Bits*>(packed.mutable_data_ptr()));
  }
  auto upright = at::zeros({hidden, columns}, part.options());
  upright.slice(1, 0, part.size(0)).copy_(part.t());
  at::native::cpublas::pack(hidden, columns, columns, columns, at::kBFloat16, at::kBFloat16, upright.const_data_ptr(),
                            packed.mutable_data_ptr());
}

at::Tensor pack_for(Way way, const at::Tensor& weight) {
  const auto tiles = (weight.size(0) + columns - 1) / columns;
  auto packed = at::empty({tiles, weight.size(1), columns}, weight.options());
  for (std::int64_t i = 0; i < tiles; ++i) {
    pack_tile(way, weight.slice(0, i * columns, std::min(weight.size(0), (i + 1) * columns)), packed[i]);
  }
  return packed;
}

void multiply_tile(Way way, const at::BFloat16* input, std::int64_t rows, std::int64_t hidden,
                   const at::BFloat16* packed, const at::BFloat16* next, float* sums) {
  if (way == Way::dots) {
    return dots::multiply(reinterpret_cast<const Bfloat16Bits*>(input), rows, hidden,
                          reinterpret_cast<const Bfloat16Bits*>(packed), sums,
                          reinterpret_cast<const Bfloat16Bits*>(next));
  }
  at::native::cpublas::brgemm(rows, columns, hidden, hidden, columns, columns, false, input, packed, sums, true);
}

// finish(sums, place) of every tile of the answer.
struct Place {
  std::int64_t row;
  std::int64_t rows;
  std::int64_t column;
};

void multiply_tiles(Way way, const at::Tensor& input, const at::Tensor& packed, const auto& finish) {
  const auto rows = input.size(0);
  const auto hidden = input.size(1);
  const auto numbers = input.contiguous();
  const auto* in = numbers.const_data_ptr<at::BFloat16>();
  const auto* weights = packed.const_data_ptr<at::BFloat16>();
  const auto at_once = way == Way::dots ? dots::best_rows : most_rows;
  at::parallel_for(0, packed.size(0), 8, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = at::empty({at_once, columns}, at::TensorOptions(at::kFloat));
    auto* sums = scratch.mutable_data_ptr<float>();
    for (auto tile = begin; tile < end; ++tile) {
      const auto* weight = weights + tile * hidden * columns;
      const auto* next = tile + 1 < end ? weight + hidden * columns : nullptr;
      for (std::int64_t row = 0; row < rows; row += at_once) {
        const auto count = std::min(at_once, rows - row);
        multiply_tile(way, in + row * hidden, count, hidden, weight, row + at_once < rows ? nullptr : next, sums);
        finish(sums, Place{row, count, tile * columns});
      }
    }
    if (way == Way::amx) {
      at::native::cpublas::brgemm_release();
    }
  });
}

at::Tensor multiply_by(Way way, const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias) {
  const auto width = bias.size(0);
  const auto out = at::empty({input.size(0), width}, at::TensorOptions(at::kFloat));
  const auto* offsets = bias.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  multiply_tiles(way, input, packed, [&](const float* sums, const Place& place) {
    add_bias(sums, place.rows, offsets + place.column, std::min(columns, width - place.column),
             to + place.row * width + place.column, width);
  });
  return out;
}

bool multiplies_rightly(Way way) {
  const auto wave = [](std::int64_t rows, std::int64_t width) {
    return at::arange(rows * width, at::TensorOptions(at::kFloat)).sin().view({rows, width}).to(at::kBFloat16);
  };
  const auto input = wave(5, 2 * depth);
  const auto weight = wave(columns + 7, 2 * depth);
  const auto bias = wave(1, columns + 7).view({columns + 7}).to(at::kFloat);
  const auto expected = at::linear(input.to(at::kFloat), weight.to(at::kFloat), bias);
  return at::allclose(multiply_by(way, input, pack_for(way, weight), bias), expected, 1e-4, 1e-4);
}

Way find_way() {
  try {
    if (at::native::cpublas::could_pack(at::kBFloat16) && multiplies_rightly(Way::amx)) {
      return Way::amx;
    }
  } catch (const c10::Error&) {  // the processor or the library has none
  }
  return dots::present() && multiplies_rightly(Way::dots) ? Way::dots : Way::none;
}

Way best_way() {
  static const Way way = find_way();
  return way;
}

}  // namespace

bool take(std::int64_t hidden) { return best_way() != Way::none && hidden % depth == 0; }

at::Tensor pack(const at::Tensor& weight) { return pack_for(best_way(), weight); }

at::Tensor multiply(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias) {
  return multiply_by(best_way(), input, packed, bias);
}

bool take_rounded(std::int64_t hidden) { return best_way() == Way::dots && take(hidden); }

at::Tensor multiply_rounded(const at::Tensor& input, const at::Tensor& packed, const at::Tensor& bias,
                            const at::Tensor& residual) {
  const auto width = bias.size(0);
  const auto out = at::empty({input.size(0), width}, input.options());
  const auto added = residual.defined() ? residual.contiguous() : residual;
  const auto* offsets = bias.const_data_ptr<float>();
  const auto* from = added.defined() ? static_cast<const std::uint16_t*>(added.const_data_ptr()) : nullptr;
  auto* to = static_cast<std::uint16_t*>(out.mutable_data_ptr());
  multiply_tiles(best_way(), input, packed, [&](const float* sums, const Place& place) {
    const auto first = place.row * width + place.column;
    add_and_round(sums, place.rows, offsets + place.column, from == nullptr ? nullptr : from + first,
                  std::min(columns, width - place.column), to + first, width);
  });
  return out;
}

}  // namespace tiles

}  // namespace stereosweep::model
