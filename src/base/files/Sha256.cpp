#include "base/files/Sha256.hpp"

#include <openssl/evp.h>

#include <bit>

#include "base/Error.hpp"

namespace stereosweep::base {
namespace {

void require(int status) { fail_if(status != 1, "SHA-256 failed", "OpenSSL refused the operation"); }

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  return *this;
}

Sha256& Sha256::update(std::string_view text) { return update(std::as_bytes(std::span(text.data(), text.size()))); }

Sha256& Sha256::field(std::string_view text) { return number(text.size()).update(text); }

Sha256& Sha256::number(std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little);
  return update(std::as_bytes(std::span(&value, 1)));
}

Digest Sha256::finish() {
  Digest digest{};
  require(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr));
  return digest;
}

Digest sha256(std::string_view text) { return Sha256().update(text).finish(); }

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const auto byte : bytes) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}

}  // namespace stereosweep::base
