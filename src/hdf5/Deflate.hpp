// A fast encoder of zlib's format for numbers whose bytes were shuffled: plane after plane, most of them noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::hdf5 {

/// What files say of their chunks (1, fast, to 9); our own encoder has no levels.
constexpr unsigned deflate_level = 4;

/// A zlib stream (RFC 1950, 1951) that any inflate turns back into `bytes`; equal input gives equal output. Every
/// `plane` bytes (1 or more) start a block: stored, where no code makes it smaller, else with Huffman codes of its own.
/// Repetitions of eight bytes or more are searched: at every place, in noise where a byte ends in four zero bits. The
/// bytes choose the places, so both copies are looked at.
std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> bytes, std::size_t plane);

}  // namespace stereosweep::hdf5
