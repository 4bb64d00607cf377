// SHA-256 (OpenSSL's, which uses the processor's instructions): keys of blocks and jobs, digests of results, hashes of
// model files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's EVP_MD_CTX

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
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// Hash of one text.
Digest sha256(std::string_view text);
/// Lower-case hexadecimal.
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace stereosweep::base
