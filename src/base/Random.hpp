// Counter-based random numbers: a value is a function of (seed, stream, counter) alone, so that any rank, thread or
// resumed run draws the same. No state.
#pragma once

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

}  // namespace stereosweep::base
