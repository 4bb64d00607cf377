#include "model/checkpoint/gguf/Blocks.hpp"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cstdint>
#include <cstring>

#include "base/Check.hpp"

namespace stereosweep::model {
namespace {

using Byte = std::uint8_t;

float half(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return c10::Half(bits, c10::Half::from_bits());
}

std::uint32_t word(const Byte* at) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}

// 32 numbers of four bits: the low halves of 16 bytes, then the high ones.
unsigned nibble(const Byte* at, unsigned i) { return i < 16 ? at[i] & 15U : at[i - 16] >> 4U; }

void decode_q4_0(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = half(block) * static_cast<float>(static_cast<int>(nibble(block + 2, i)) - 8);
  }
}

void decode_q4_1(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = half(block) * static_cast<float>(nibble(block + 4, i)) + half(block + 2);
  }
}

unsigned fifth_bit(const Byte* at, unsigned i) { return (word(at) >> i & 1U) << 4U; }

void decode_q5_0(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = half(block) * static_cast<float>(static_cast<int>(nibble(block + 6, i) | fifth_bit(block + 2, i)) - 16);
  }
}

void decode_q5_1(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = half(block) * static_cast<float>(nibble(block + 8, i) | fifth_bit(block + 4, i)) + half(block + 2);
  }
}

void decode_q8_0(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * half(block);
  }
}

// 256 numbers of two bits: of each 32 bytes first the lowest bits, then the next.
unsigned two_bits(const Byte* at, unsigned i) { return at[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3U; }

void decode_q2_k(const Byte* block, float* out) {
  const auto scale = half(block + 80);
  const auto least = half(block + 82);
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned both = block[i / 16];
    const auto factor = scale * static_cast<float>(both & 15U);
    const auto minimum = least * static_cast<float>(both >> 4U);
    out[i] = factor * static_cast<float>(two_bits(block + 16, i)) - minimum;
  }
}

void decode_q3_k(const Byte* block, float* out) {
  const auto* scales = block + 96;  // 16 of six bits: four in the first eight bytes, two in the last four
  for (unsigned i = 0; i < 256; ++i) {
    const auto k = i / 16;
    const unsigned low = k < 8 ? scales[k] & 15U : scales[k - 8] >> 4U;
    const unsigned high = scales[8 + k % 4] >> k / 4 * 2 & 3U;
    const auto factor = half(block + 108) * static_cast<float>(static_cast<int>(low | high << 4U) - 32);
    const bool is_whole = (block[i % 32] >> i / 32 & 1U) != 0;  // else four less
    const auto quantized = static_cast<int>(two_bits(block + 32, i)) - (is_whole ? 0 : 4);
    out[i] = factor * static_cast<float>(quantized);
  }
}

struct ScaleAndMinimum {
  float scale;
  float minimum;
};

// Eight scales and eight minima of six bits in twelve bytes.
ScaleAndMinimum sixth_bits(const Byte* at, unsigned k) {
  if (k < 4) {
    return {static_cast<float>(at[k] & 63U), static_cast<float>(at[k + 4] & 63U)};
  }
  return {static_cast<float>((at[k + 4] & 15U) | (at[k - 4] >> 2U & 48U)),
          static_cast<float>(at[k + 4] >> 4U | (at[k] >> 2U & 48U))};
}

// 256 numbers of four bits: of each 32 bytes first the low halves, then the high ones.
unsigned four_bits(const Byte* at, unsigned i) { return at[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15U; }

float scaled(const Byte* block, unsigned i, unsigned quantized) {
  const auto [scale, minimum] = sixth_bits(block + 4, i / 32);
  const auto factor = half(block) * scale;
  const auto least = half(block + 2) * minimum;
  return factor * static_cast<float>(quantized) - least;
}

void decode_q4_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    out[i] = scaled(block, i, four_bits(block + 16, i));
  }
}

void decode_q5_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned high = block[16 + i % 32] >> i / 32 & 1U;
    out[i] = scaled(block, i, four_bits(block + 48, i) | high << 4U);
  }
}

void decode_q6_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned low = block[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15U;
    const auto factor = half(block + 208) * static_cast<float>(static_cast<std::int8_t>(block[192 + i / 16]));
    out[i] = factor * static_cast<float>(static_cast<int>(low | two_bits(block + 128, i) << 4U) - 32);
  }
}

void decode_plain(std::uint32_t type, const Byte* block, float* out) {
  if (type == 0) {
    std::memcpy(out, block, sizeof(float));
  } else if (type == 1) {
    *out = half(block);
  } else {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block, sizeof(bits));
    *out = c10::BFloat16(bits, c10::BFloat16::from_bits());
  }
}

}  // namespace

void decode_block(const base::GgufType& type, const std::byte* block, float* out) {
  const auto* bytes = reinterpret_cast<const Byte*>(block);
  switch (type.id) {
    case 0:
    case 1:
    case 30:
      return decode_plain(type.id, bytes, out);
    case 2:
      return decode_q4_0(bytes, out);
    case 3:
      return decode_q4_1(bytes, out);
    case 6:
      return decode_q5_0(bytes, out);
    case 7:
      return decode_q5_1(bytes, out);
    case 8:
      return decode_q8_0(bytes, out);
    case 10:
      return decode_q2_k(bytes, out);
    case 11:
      return decode_q3_k(bytes, out);
    case 12:
      return decode_q4_k(bytes, out);
    case 13:
      return decode_q5_k(bytes, out);
    case 14:
      return decode_q6_k(bytes, out);
    default:
      STEREOSWEEP_ASSERT(false, "a type that was refused");
  }
}

}  // namespace stereosweep::model
