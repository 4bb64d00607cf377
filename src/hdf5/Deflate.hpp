// zlib's format for numbers whose bytes were shuffled: plane after plane, most of them noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::hdf5 {

/// What files say of their chunks (1, fast, to 9).
constexpr int deflate_level = 1;

/// A zlib stream (RFC 1950) that any inflate turns back into `bytes`; equal input gives equal output. Of every `plane`
/// bytes (1 or more), noise is stored, and repetitions are searched where neighbours are often equal.
std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, std::size_t plane);

}  // namespace stereosweep::hdf5
