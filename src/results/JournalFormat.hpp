// The journal's bytes, shared by writer and reader.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stereosweep::results::journal_format {

inline constexpr std::string_view file_magic = "SSWJRNL1";
inline constexpr std::string_view record_magic = "\xF5SSWrec\n";  // 0xF5 never occurs in UTF-8 text
inline constexpr std::uint32_t version = 3;                       // 3: the settings name build and libraries
inline constexpr std::size_t magic_size = 8;
inline constexpr std::size_t crc_size = sizeof(std::uint32_t);
inline constexpr std::size_t cost_size = 4 * sizeof(std::uint64_t);
inline constexpr std::size_t head_size = magic_size + 8 + 32 + 8 + 8 + cost_size + crc_size;  ///< of a record
inline constexpr std::size_t max_header = std::size_t{1} << 24;

static_assert(file_magic.size() == magic_size && record_magic.size() == magic_size);

/// zlib's CRC-32 of `bytes`, going on from `seed`.
inline std::uint32_t crc(std::span<const std::byte> bytes, std::uint32_t seed = 0) {
  return static_cast<std::uint32_t>(
      ::crc32_z(seed, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace stereosweep::results::journal_format
