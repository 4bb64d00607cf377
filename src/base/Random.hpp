// Counter-based random numbers: a value is a function of (seed, stream, counter) alone, so that any rank, thread or
// resumed run draws the same. No state.
#pragma once

#include <array>
#include <cstdint>

namespace stereosweep::base {

/// 64 well-mixed bits (the finaliser of splitmix64; Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

/// `stream` names what is drawn for (a restart, a query), `counter` the draw.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  return mix_bits(mix_bits(mix_bits(seed) ^ stream) ^ counter);
}

/// A stream by the name of its hash: the first 8 bytes, the highest one first.
constexpr std::uint64_t stream_of(const auto& digest) {
  std::uint64_t stream = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    stream = stream << 8U | digest[i];
  }
  return stream;
}

/// Uniform in [0, 1), a multiple of 2^-53.
constexpr double random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, stream, counter) >> 11U) * 0x1p-53;
}

/// Uniform in [0, bound), bound > 0; off by less than bound / 2^64.
constexpr std::uint64_t random_below(std::uint64_t bound, std::uint64_t seed, std::uint64_t stream,
                                     std::uint64_t counter) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(random_bits(seed, stream, counter)) * bound >> 64U);
}

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Ten rounds; words in the order of the published reference (known answers in tests/base/Random.test.cpp).
constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  constexpr std::uint64_t first_factor = 0xD2511F53U;
  constexpr std::uint64_t second_factor = 0xCD9E8D57U;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = first_factor * counter[0];
    const std::uint64_t second = second_factor * counter[2];
    counter = {static_cast<std::uint32_t>(second >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(second),
               static_cast<std::uint32_t>(first >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(first)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

/// What is drawn for. Numbers are part of every published p: add new ones, never renumber.
enum class Purpose : std::uint32_t {
  context_of_word = 1,     ///< which context stands for a word: (test, sample, word)
  trimmed_set = 2,         ///< which words of a larger set stay: (test, set, word)
  permutation = 3,         ///< Monte Carlo draws of a permutation test: (test, draw, step)
  family_permutation = 4,  ///< common draws of a family of tests: (family, draw, step)
  sign_flip = 5            ///< signs of paired differences: (draw, 64 signs)
};

/// Which number: key words = low and high half of the seed, counter words = word, sample, test, purpose.
struct DrawKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::context_of_word;
  std::uint32_t test = 0;
  std::uint32_t sample = 0;
  std::uint32_t word = 0;
};

/// All 128 bits of a key, as four words.
constexpr PhiloxCounter philox_block(const DrawKey& draw) {
  return philox({draw.word, draw.sample, draw.test, static_cast<std::uint32_t>(draw.purpose)},
                {static_cast<std::uint32_t>(draw.seed), static_cast<std::uint32_t>(draw.seed >> 32U)});
}

/// Output words 0 (low half) and 1 (high half).
constexpr std::uint64_t philox_bits(const DrawKey& draw) {
  const auto block = philox_block(draw);
  return static_cast<std::uint64_t>(block[1]) << 32U | block[0];
}

/// Uniform in [0, bound), bound > 0: the high half of bits * bound; a value's probability is off by less than 2^-64.
constexpr std::uint64_t philox_below(std::uint64_t bound, const DrawKey& draw) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(philox_bits(draw)) * bound >> 64U);
}

}  // namespace stereosweep::base
