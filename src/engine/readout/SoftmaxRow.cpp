#include "engine/readout/SoftmaxRow.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/Error.hpp"
#include "base/VectorClones.hpp"

namespace stereosweep::engine {

namespace {

constexpr std::size_t lanes = 8;
constexpr float lowest = std::numeric_limits<float>::lowest();

// The compiler's own vectors: 8 lanes of float fill an AVX2 register, of double an AVX-512 one, with the same
// arithmetic.
using Floats = float __attribute__((vector_size(4 * lanes)));
using Words = std::int32_t __attribute__((vector_size(4 * lanes)));
using Doubles = double __attribute__((vector_size(8 * lanes)));

STEREOSWEEP_VECTOR_CLONES
void class_maxima(const float* x, const std::uint32_t* bits, std::size_t blocks, float* initial, float* continuation) {
  Floats top_initial;
  Floats top_continuation;
  std::memcpy(&top_initial, initial, sizeof(Floats));
  std::memcpy(&top_continuation, continuation, sizeof(Floats));
  for (std::size_t i = 0; i < blocks; ++i) {
    Floats values;
    Words mask;
    std::memcpy(&values, x + i * lanes, sizeof(Floats));
    std::memcpy(&mask, bits + i * lanes, sizeof(Words));
    top_initial = (mask == 0) & (values > top_initial) ? values : top_initial;
    top_continuation = (mask != 0) & (values > top_continuation) ? values : top_continuation;
  }
  std::memcpy(initial, &top_initial, sizeof(Floats));
  std::memcpy(continuation, &top_continuation, sizeof(Floats));
}

struct Maxima {
  float initial;
  float continuation;
};

// exp(x) for x <= 0 (about 1e-38 below -87) by Cody-Waite reduction x = n ln 2 + r and the polynomial of Cephes' expf.
STEREOSWEEP_VECTOR_CLONES
void class_sums(const float* x, const std::uint32_t* bits, std::size_t blocks, Maxima top, double* initial,
                double* continuation) {
  constexpr float round_bias = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr auto bias_bits = std::bit_cast<std::int32_t>(round_bias);
  const Floats top_initial = Floats{} + top.initial;
  const Floats top_continuation = Floats{} + top.continuation;
  const Floats floor = Floats{} - 87.0F;
  Doubles sum_initial{};
  Doubles sum_continuation{};
  for (std::size_t i = 0; i < blocks; ++i) {
    Floats value;
    Words mask;
    std::memcpy(&value, x + i * lanes, sizeof(Floats));
    std::memcpy(&mask, bits + i * lanes, sizeof(Words));
    value -= mask == 0 ? top_initial : top_continuation;
    value = value > floor ? value : floor;
    const Floats shifted = value * 1.44269504088896341F + round_bias;
    const Floats n = shifted - round_bias;
    const Floats r = (value - n * 0.693359375F) - n * -2.12194440e-4F;
    Floats p = 1.9875691500e-4F * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    const Words exponent = (__builtin_bit_cast(Words, shifted) - bias_bits) << 23;
    const Words term = __builtin_bit_cast(Words, p) + exponent;
    sum_initial += __builtin_convertvector(__builtin_bit_cast(Floats, term & ~mask), Doubles);
    sum_continuation += __builtin_convertvector(__builtin_bit_cast(Floats, term & mask), Doubles);
  }
  for (std::size_t j = 0; j < lanes; ++j) {
    initial[j] += sum_initial[j];
    continuation[j] += sum_continuation[j];
  }
}

STEREOSWEEP_VECTOR_CLONES
std::uint32_t count_not_finite(const float* x, std::size_t size) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    count += (std::bit_cast<std::uint32_t>(x[i]) & 0x7f800000U) == 0x7f800000U ? 1U : 0U;
  }
  return count;
}

// The last, short block filled up with logits that weigh nothing.
struct Tail {
  Tail(std::span<const float> row, std::span<const std::uint32_t> all_bits) {
    x.fill(lowest);
    bits.fill(all_bits.back());
    std::copy(row.end() - static_cast<std::ptrdiff_t>(row.size() % lanes), row.end(), x.begin());
    std::copy(all_bits.end() - static_cast<std::ptrdiff_t>(row.size() % lanes), all_bits.end(), bits.begin());
  }
  std::array<float, lanes> x{};
  std::array<std::uint32_t, lanes> bits{};
};

double sum(const std::array<double, lanes>& parts) {
  double total = 0;
  for (const double part : parts) {
    total += part;
  }
  return total;
}

}  // namespace

ClassMask::ClassMask(std::span<const tokenizer::TokenClass> classes, std::size_t width) : bits_(width, ~0U) {
  for (std::size_t i = 0; i < std::min(width, classes.size()); ++i) {
    bits_[i] = classes[i] == tokenizer::TokenClass::initial ? 0U : ~0U;
  }
}

bool all_finite(std::span<const float> row) { return count_not_finite(row.data(), row.size()) == 0; }

bool ClassMask::any(std::uint32_t bits) const { return std::ranges::find(bits_, bits) != bits_.end(); }

std::optional<LogSums> log_sums(std::span<const float> logits, const ClassMask& classes) {
  const auto bits = classes.bits();
  STEREOSWEEP_ASSERT(!logits.empty() && bits.size() == logits.size(), "one class per logit");
  if (!all_finite(logits)) {
    return std::nullopt;
  }
  const std::size_t blocks = logits.size() / lanes;
  const Tail tail(logits, bits);
  std::array<float, lanes> highest_initial{};
  std::array<float, lanes> highest_continuation{};
  highest_initial.fill(lowest);
  highest_continuation.fill(lowest);
  class_maxima(logits.data(), bits.data(), blocks, highest_initial.data(), highest_continuation.data());
  class_maxima(tail.x.data(), tail.bits.data(), 1, highest_initial.data(), highest_continuation.data());
  const Maxima top{*std::max_element(highest_initial.begin(), highest_initial.end()),
                   *std::max_element(highest_continuation.begin(), highest_continuation.end())};
  std::array<double, lanes> initial{};
  std::array<double, lanes> continuation{};
  class_sums(logits.data(), bits.data(), blocks, top, initial.data(), continuation.data());
  class_sums(tail.x.data(), tail.bits.data(), 1, top, initial.data(), continuation.data());
  LogSums sums;
  sums.initial = classes.any(0U) ? top.initial + std::log(sum(initial)) : -std::numeric_limits<double>::infinity();
  sums.continuation =
      classes.any(~0U) ? top.continuation + std::log(sum(continuation)) : -std::numeric_limits<double>::infinity();
  const double larger = std::max(sums.initial, sums.continuation);
  sums.total = larger + std::log1p(std::exp(std::min(sums.initial, sums.continuation) - larger));
  return sums;
}

}  // namespace stereosweep::engine
