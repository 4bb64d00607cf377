// The checksum of records on disk.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace stereosweep::results {

/// zlib's CRC-32 of `bytes`, going on from `seed`.
inline std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t seed = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace stereosweep::results
