// Sixteen floats at a time, for kernels that are compiled for several instruction sets and picked when the program
// runs. Arithmetic is float32; bfloat16 and float16 are how numbers are stored.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <cstring>

#include "base/Error.hpp"
#include "model/kernels/Kernels.hpp"

#define STEREOSWEEP_ALWAYS_INLINE [[gnu::always_inline]] inline

namespace stereosweep::model {

/// visit(Number{}), Number being float, Bfloat16Bits or Float16Bits.
void with_number(at::ScalarType type, auto&& visit) {
  switch (type) {
    case at::kFloat:
      return visit(float{});
    case at::kBFloat16:
      return visit(Bfloat16Bits{});
    default:
      STEREOSWEEP_ASSERT(type == at::kHalf, "float32, bfloat16 and float16 are computed");
      return visit(Float16Bits{});
  }
}

/// The numbers of a tensor that is read; null for an undefined one.
template <class Number>
const Number* numbers_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<const Number*>(tensor.const_data_ptr()) : nullptr;
}
/// The numbers of a tensor that is written.
template <class Number>
Number* numbers_to(const at::Tensor& tensor) {
  return static_cast<Number*>(tensor.mutable_data_ptr());
}

namespace lanes {

constexpr std::int64_t width = 16;

// The compiler cuts these into what the instruction set has. They are passed by reference only: by value their
// calling convention would depend on the instruction set.
using Floats = float __attribute__((vector_size(width * 4)));
using Ints = std::int32_t __attribute__((vector_size(width * 4)));
using Words = std::uint32_t __attribute__((vector_size(width * 4)));
using Halves = std::uint16_t __attribute__((vector_size(width * 2)));

/// The next multiple of sixteen.
constexpr std::int64_t round_up(std::int64_t count) { return (count + width - 1) / width * width; }

STEREOSWEEP_ALWAYS_INLINE void load(Floats& to, const float* from) { std::memcpy(&to, from, sizeof(Floats)); }
STEREOSWEEP_ALWAYS_INLINE void load(Floats& to, const Bfloat16Bits* from) {
  Words words;
  for (std::int64_t i = 0; i < width; ++i) {  // one instruction with AVX-512, where convertvector would be four
    words[i] = static_cast<std::uint16_t>(from[i]);
  }
  words <<= 16;
  std::memcpy(&to, &words, sizeof(Floats));
}

STEREOSWEEP_ALWAYS_INLINE void load(Floats& to, const Float16Bits* from) {
  constexpr float least_normal = 0x1p-14F;
  constexpr std::int32_t moved = 127 - 15;  // between the two exponents
  Halves halves;
  std::memcpy(&halves, from, sizeof(Halves));
  const Ints all = __builtin_convertvector(halves, Ints);
  const Ints size = (all & 0x7fff) << 13;
  Floats small;  // subnormal: the digits behind 2^-14, less 2^-14
  const Ints behind = size + ((moved + 1) << 23);
  std::memcpy(&small, &behind, sizeof(Floats));
  small -= least_normal;
  Ints bits;
  std::memcpy(&bits, &small, sizeof(Ints));
  bits = size < (1 << 23) ? bits : size + (moved << 23);
  bits = size >= (31 << 23) ? size + (2 * moved << 23) : bits;  // infinity and NaN
  bits |= (all & 0x8000) << 16;
  std::memcpy(&to, &bits, sizeof(Floats));
}

/// To the nearest bfloat16, ties to even: its bits in the upper halves.
STEREOSWEEP_ALWAYS_INLINE void round_words(Words& words, const Floats& from) {
  std::memcpy(&words, &from, sizeof(Words));
  words = words + 0x7fffU + ((words >> 16) & 1U);
}

STEREOSWEEP_ALWAYS_INLINE void store(float* to, const Floats& from) { std::memcpy(to, &from, sizeof(Floats)); }
STEREOSWEEP_ALWAYS_INLINE void store(Bfloat16Bits* to, const Floats& from) {
  Words words;
  round_words(words, from);
  const Halves halves = __builtin_convertvector(words >> 16, Halves);
  std::memcpy(to, &halves, sizeof(Halves));
}

/// To the nearest, ties to even; what rounds to 65536 or more becomes infinite.
STEREOSWEEP_ALWAYS_INLINE void store(Float16Bits* to, const Floats& from) {
  constexpr std::int32_t moved = 127 - 15;
  Ints all;
  std::memcpy(&all, &from, sizeof(Ints));
  const Ints size = all & 0x7fffffff;
  Floats small;  // adding 1/2 rounds to whole multiples of 2^-24
  std::memcpy(&small, &size, sizeof(Floats));
  small += 0.5F;
  Ints subnormal;
  std::memcpy(&subnormal, &small, sizeof(Ints));
  subnormal -= 0x3f000000;
  Ints bits = ((size + 0xfff + ((size >> 13) & 1)) >> 13) - (moved << 10);
  bits = size < ((moved + 1) << 23) ? subnormal : bits;
  bits = bits > 0x7c00 ? Ints{} + 0x7c00 : bits;
  bits = size > 0x7f800000 ? Ints{} + 0x7e00 : bits;  // NaN
  bits |= (all >> 16) & 0x8000;
  const Halves halves = __builtin_convertvector(bits, Halves);
  std::memcpy(to, &halves, sizeof(Halves));
}

/// The first `count` (1 to 16) numbers; the other lanes are zero.
template <class Number>
STEREOSWEEP_ALWAYS_INLINE void load_some(Floats& to, const Number* from, std::int64_t count) {
  if (count >= width) {
    load(to, from);
    return;
  }
  Number some[width] = {};
  std::memcpy(some, from, static_cast<std::size_t>(count) * sizeof(Number));
  load(to, some);
}

template <class Number>
STEREOSWEEP_ALWAYS_INLINE void store_some(Number* to, const Floats& from, std::int64_t count) {
  if (count >= width) {
    store(to, from);
    return;
  }
  Number some[width];
  store(some, from);
  std::memcpy(to, some, static_cast<std::size_t>(count) * sizeof(Number));
}

/// What is left of the numbers once they were stored and read again.
STEREOSWEEP_ALWAYS_INLINE void round_as(Floats&, const float*) {}
STEREOSWEEP_ALWAYS_INLINE void round_as(Floats& numbers, const Bfloat16Bits*) {
  Words words;
  round_words(words, numbers);
  words &= 0xffff0000U;
  std::memcpy(&numbers, &words, sizeof(Floats));
}

STEREOSWEEP_ALWAYS_INLINE void round_as(Floats& numbers, const Float16Bits*) {
  Float16Bits stored[width];
  store(stored, numbers);
  load(numbers, stored);
}

enum class Fold { largest, sum };

template <Fold kind>
STEREOSWEEP_ALWAYS_INLINE void join(Floats& x, const Floats& other) {
  if constexpr (kind == Fold::largest) {
    x = other > x ? other : x;
  } else {
    x += other;
  }
}

/// Every lane of the answer holds the largest or the sum of all, in an order that never changes.
template <Fold kind>
STEREOSWEEP_ALWAYS_INLINE void fold(Floats& x) {
  join<kind>(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  join<kind>(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  join<kind>(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  join<kind>(x, __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
}

/// e^x to 2e-7 relative: 2^n times the series of e^r, |r| <= ln(2)/2. Outside -87 .. 88 the answer is that at the end;
/// NaN stays NaN.
STEREOSWEEP_ALWAYS_INLINE void exponential(Floats& x) {
  constexpr float round_bias = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats least = Floats{} - 87.0F;
  const Floats most = Floats{} + 88.0F;
  x = x < least ? least : x;
  x = x > most ? most : x;
  const Floats power = (x * 1.44269504F + round_bias) - round_bias;
  const Floats rest = (x - power * 0.693359375F) + power * 2.12194440e-4F;  // ln 2 in two parts
  Floats series = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  series = series * rest + 8.3334519073e-3F;
  series = series * rest + 4.1665795894e-2F;
  series = series * rest + 1.6666665459e-1F;
  series = series * rest + 5.0000001201e-1F;
  series = series * rest * rest + rest + 1.0F;
  const Ints bits = (__builtin_convertvector(power, Ints) + 127) << 23;
  Floats factor;
  std::memcpy(&factor, &bits, sizeof(Floats));
  x = series * factor;
}

/// 1 / x for x in 1 .. 1e37, to 2e-7 relative: a guess from the bits (off by 5 %), then three steps of Newton's. A
/// vector division takes longer.
STEREOSWEEP_ALWAYS_INLINE void reciprocal(Floats& x) {
  Ints bits;
  std::memcpy(&bits, &x, sizeof(Ints));
  bits = 0x7ef311c7 - bits;
  Floats guess;
  std::memcpy(&guess, &bits, sizeof(Floats));
  guess = guess * (2.0F - x * guess);
  guess = guess * (2.0F - x * guess);
  x = guess * (2.0F - x * guess);
}

/// x -> c tanh(x / c), by tanh(y) = 1 - 2 / (1 + e^2y). NaN stays NaN.
STEREOSWEEP_ALWAYS_INLINE void cap(Floats& x, float c) {
  Floats y = x * (2.0F / c);
  const Floats most = Floats{} + 80.0F;
  y = y > most ? most : y;
  exponential(y);
  y = y + 1.0F;
  reciprocal(y);
  x = (1.0F - 2.0F * y) * c;
}

struct Avx512 {
  static constexpr int columns = 4;  ///< vectors of sixteen that one pass over six rows keeps in registers
};
struct Avx2 {
  static constexpr int columns = 1;
};
struct Baseline {
  static constexpr int columns = 1;
};

template <class Kernel, class... Arguments>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]] void run_on_avx512(const Arguments&... arguments) {
  Kernel::template run<Avx512>(arguments...);
}
template <class Kernel, class... Arguments>
[[gnu::target("avx2,fma")]] void run_on_avx2(const Arguments&... arguments) {
  Kernel::template run<Avx2>(arguments...);
}
template <class Kernel, class... Arguments>
void run_on_baseline(const Arguments&... arguments) {
  Kernel::template run<Baseline>(arguments...);
}

/// Kernel::run<InstructionSet>(arguments...), compiled for the best instruction set of this processor, or the one asked
/// for. `run` and all that it calls must be inlined always.
template <class Kernel, class... Arguments>
void run(Instructions instructions, const Arguments&... arguments) {
  static const Instructions best = has(Instructions::avx512) ? Instructions::avx512
                                   : has(Instructions::avx2) ? Instructions::avx2
                                                             : Instructions::baseline;
  switch (instructions == Instructions::best ? best : instructions) {
    case Instructions::avx512:
      return run_on_avx512<Kernel>(arguments...);
    case Instructions::avx2:
      return run_on_avx2<Kernel>(arguments...);
    default:
      return run_on_baseline<Kernel>(arguments...);
  }
}

/// Kernel::run<InstructionSet>(begin, end, task...) for ranges of 0 to `count`, at least `grain` a thread.
template <class Kernel, class... Task>
void run_parallel(Instructions instructions, std::int64_t count, std::int64_t grain, const Task&... task) {
  at::parallel_for(0, count, grain,
                   [&](std::int64_t begin, std::int64_t end) { run<Kernel>(instructions, begin, end, task...); });
}

}  // namespace lanes

}  // namespace stereosweep::model
