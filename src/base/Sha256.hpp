// SHA-256 (FIPS 180-4): keys of blocks and jobs, digests of results, hashes of model files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stereosweep::base {

using Digest = std::array<std::uint8_t, 32>;

/// Streaming hash. `field` prefixes the length, so that ("ab","c") and ("a","bc") differ.
class Sha256 {
 public:
  Sha256();
  Sha256& update(std::span<const std::byte> bytes);
  Sha256& update(std::string_view text);
  Sha256& field(std::string_view text);  ///< 64-bit length, then the bytes
  Sha256& number(std::uint64_t value);   ///< 8 bytes, little-endian
  Digest finish();                       ///< the object must not be used afterwards

 private:
  void compress(const std::uint8_t* data, std::size_t num_blocks);
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_;
  std::size_t buffered_ = 0;
  std::uint64_t length_ = 0;
};

/// Hash of one text.
Digest sha256(std::string_view text);
/// Lower-case hexadecimal.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// The digest that `hex` writes. Throws InputError unless it is 64 hexadecimal digits.
Digest digest_from_hex(std::string_view hex);

}  // namespace stereosweep::base
