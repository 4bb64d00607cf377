// Streams of the random numbers of this room: no two statistics draw the same ones by chance.
#pragma once

#include <cstdint>

namespace stereosweep::findings {

/// A new one stands at the end, without a number. Stream 0 and those below 2^40 are of tests without one of their own.
enum class Stream : std::uint64_t {
  templates = 1,  ///< of the bootstrap; every statistic of a result uses the same, so that differences can be read
  rephrasings,
  pairings = 5,            ///< of shuffled correlations
  annotators = 16,         ///< of the bootstrap with people; those of subject s begin s 2^20 further on
  visited_templates = 32,  ///< order in which a sweep that may stop asks them
  visited_rephrasings,
};

/// Its first number: draws are counted up from there, or combined by xor.
constexpr std::uint64_t start_of(Stream stream) { return static_cast<std::uint64_t>(stream) << 40U; }

}  // namespace stereosweep::findings
