#include "engine/readout/SoftmaxRow.hpp"

#include <algorithm>
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

template <class Number>
struct ByClass {
  Number initial;
  Number continuation;
};

// visit(logits, bits) for each eight columns of a row; the last ones are filled up with logits that weigh nothing.
[[gnu::always_inline]] inline void by_lanes(std::span<const float> row, std::span<const std::uint32_t> bits,
                                            const auto& visit) {
  for (std::size_t i = 0; i < row.size(); i += lanes) {
    const auto count = std::min(lanes, row.size() - i);
    Floats values = Floats{} + lowest;
    Words mask = Words{} + static_cast<std::int32_t>(bits.back());
    if (count == lanes) {
      std::memcpy(&values, row.data() + i, sizeof(Floats));
      std::memcpy(&mask, bits.data() + i, sizeof(Words));
    } else {
      std::memcpy(&values, row.data() + i, count * sizeof(float));
      std::memcpy(&mask, bits.data() + i, count * sizeof(std::uint32_t));
    }
    visit(values, mask);
  }
}

STEREOSWEEP_VECTOR_CLONES
ByClass<float> class_maxima(std::span<const float> row, std::span<const std::uint32_t> bits) {
  Floats initial = Floats{} + lowest;
  Floats continuation = initial;
  by_lanes(
      row, bits, [&](const Floats& values, const Words& mask) __attribute__((always_inline)) {
        initial = (mask == 0) & (values > initial) ? values : initial;
        continuation = (mask != 0) & (values > continuation) ? values : continuation;
      });
  ByClass<float> top{lowest, lowest};
  for (std::size_t j = 0; j < lanes; ++j) {
    top = {std::max(top.initial, initial[j]), std::max(top.continuation, continuation[j])};
  }
  return top;
}

// exp(x) for x <= 0 (about 1e-38 below -87) by Cody-Waite reduction x = n ln 2 + r and the polynomial of Cephes' expf.
STEREOSWEEP_VECTOR_CLONES
ByClass<double> class_sums(std::span<const float> row, std::span<const std::uint32_t> bits, ByClass<float> top) {
  constexpr float round_bias = 12582912.0F;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr auto bias_bits = std::bit_cast<std::int32_t>(round_bias);
  const Floats top_initial = Floats{} + top.initial;
  const Floats top_continuation = Floats{} + top.continuation;
  const Floats floor = Floats{} - 87.0F;
  Doubles initial{};
  Doubles continuation{};
  by_lanes(
      row, bits, [&](const Floats& values, const Words& mask) __attribute__((always_inline)) {
        Floats value = values - (mask == 0 ? top_initial : top_continuation);
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
        initial += __builtin_convertvector(__builtin_bit_cast(Floats, term & ~mask), Doubles);
        continuation += __builtin_convertvector(__builtin_bit_cast(Floats, term & mask), Doubles);
      });
  ByClass<double> sums{0, 0};
  for (std::size_t j = 0; j < lanes; ++j) {
    sums = {sums.initial + initial[j], sums.continuation + continuation[j]};
  }
  return sums;
}

STEREOSWEEP_VECTOR_CLONES
std::uint32_t count_not_finite(const float* x, std::size_t size) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < size; ++i) {
    count += (std::bit_cast<std::uint32_t>(x[i]) & 0x7f800000U) == 0x7f800000U ? 1U : 0U;
  }
  return count;
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
  const auto top = class_maxima(logits, bits);
  const auto found = class_sums(logits, bits, top);
  constexpr auto none = -std::numeric_limits<double>::infinity();
  LogSums sums;
  sums.initial = classes.any(0U) ? top.initial + std::log(found.initial) : none;
  sums.continuation = classes.any(~0U) ? top.continuation + std::log(found.continuation) : none;
  const double larger = std::max(sums.initial, sums.continuation);
  sums.total = larger + std::log1p(std::exp(std::min(sums.initial, sums.continuation) - larger));
  return sums;
}

}  // namespace stereosweep::engine
