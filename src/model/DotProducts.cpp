#include "model/DotProducts.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/Check.hpp"

namespace stereosweep::model::dots {

#if defined(__x86_64__)
namespace {

constexpr int most_rows = 6;  // with four vectors of columns they fill the registers
constexpr int vectors = 4;
constexpr std::int64_t lanes = 16;

template <int Rows>
[[gnu::target("avx512f,avx512bf16")]] void multiply_rows(const Bfloat16Bits* input, std::int64_t width,
                                                         const Bfloat16Bits* packed, float* sums) {
  __m512 totals[Rows][vectors];
  for (auto& row : totals) {
    for (auto& total : row) {
      total = _mm512_setzero_ps();
    }
  }
  for (std::int64_t pair = 0; pair < width / 2; ++pair) {
    __m512i weights[vectors];
    for (int i = 0; i < vectors; ++i) {
      weights[i] = _mm512_loadu_si512(packed + 2 * (pair * columns + i * lanes));
    }
    for (int row = 0; row < Rows; ++row) {
      std::int32_t both = 0;
      std::memcpy(&both, input + row * width + 2 * pair, sizeof(both));
      const __m512i numbers = _mm512_set1_epi32(both);
      for (int i = 0; i < vectors; ++i) {
        totals[row][i] = _mm512_dpbf16_ps(totals[row][i], reinterpret_cast<__m512bh>(numbers),
                                          reinterpret_cast<__m512bh>(weights[i]));
      }
    }
  }
  for (int row = 0; row < Rows; ++row) {
    for (int i = 0; i < vectors; ++i) {
      _mm512_storeu_ps(sums + row * columns + i * lanes, totals[row][i]);
    }
  }
}

}  // namespace

bool present() { return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bf16") != 0; }

void multiply(const Bfloat16Bits* input, std::int64_t rows, std::int64_t width, const Bfloat16Bits* packed,
              float* sums) {
  STEREOSWEEP_ASSERT(width % 2 == 0, "pairs of numbers are multiplied");
  std::int64_t row = 0;
  for (; row + most_rows <= rows; row += most_rows) {
    multiply_rows<most_rows>(input + row * width, width, packed, sums + row * columns);
  }
  input += row * width;
  sums += row * columns;
  switch (rows - row) {
    case 5:
      return multiply_rows<5>(input, width, packed, sums);
    case 4:
      return multiply_rows<4>(input, width, packed, sums);
    case 3:
      return multiply_rows<3>(input, width, packed, sums);
    case 2:
      return multiply_rows<2>(input, width, packed, sums);
    case 1:
      return multiply_rows<1>(input, width, packed, sums);
    default:
      return;
  }
}
#else
bool present() { return false; }

void multiply(const Bfloat16Bits*, std::int64_t, std::int64_t, const Bfloat16Bits*, float*) {
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

}  // namespace stereosweep::model::dots
