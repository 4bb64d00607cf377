#include "corpus/WordRuns.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>

#include "base/text/Text.hpp"

namespace stereosweep::corpus {
ByteMasks masks_of_each(const char* bytes) {
  ByteMasks masks;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const auto letter = static_cast<unsigned char>((byte | 0x20) - 'a');
    const auto digit = static_cast<unsigned char>(byte - '0');
    const auto bit = std::uint64_t{1} << i;
    masks.word |= letter < 26 || digit < 10 ? bit : 0;
    masks.high |= byte > 0x7F ? bit : 0;
    masks.zero |= byte == 0 ? bit : 0;
  }
  return masks;
}

#ifdef __SSE2__
ByteMasks masks_of(const char* bytes) {
  ByteMasks masks;
  const auto bits = [](__m128i lanes) { return std::uint64_t{static_cast<std::uint32_t>(_mm_movemask_epi8(lanes))}; };
  for (int i = 0; i < 64; i += 16) {
    const auto text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
    // signed comparisons: a byte over 127 is negative and less than every bound
    const auto lower = _mm_or_si128(text, _mm_set1_epi8(0x20));
    const auto letter =
        _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)), _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
    const auto digit =
        _mm_and_si128(_mm_cmpgt_epi8(text, _mm_set1_epi8('0' - 1)), _mm_cmplt_epi8(text, _mm_set1_epi8('9' + 1)));
    masks.word |= bits(_mm_or_si128(letter, digit)) << i;
    masks.high |= bits(text) << i;
    masks.zero |= bits(_mm_cmpeq_epi8(text, _mm_setzero_si128())) << i;
  }
  return masks;
}
#else
ByteMasks masks_of(const char* bytes) { return masks_of_each(bytes); }
#endif

void WordMasks::assign(std::string_view text) {
  const auto blocks = (text.size() + 63) / 64;
  words_.assign(blocks + 1, 0);  // a character may begin in one block and end in the next
  high_.resize(blocks + 1);
  invalid_.clear();
  unsettled_.clear();
  decoded_ = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto begin = block * 64;
    const auto size = std::min<std::size_t>(64, text.size() - begin);
    ByteMasks masks;
    if (size == 64) {
      masks = masks_of(text.data() + begin);
    } else {
      Bytes64 last{};
      std::memcpy(last.data(), text.data() + begin, size);
      masks = masks_of(last.data());
      masks.zero &= (std::uint64_t{1} << size) - 1;
    }
    words_[block] |= masks.word;
    high_[block] = masks.high;
    const auto found = invalid_.size();
    if (masks.high != 0) {
      add_characters(text, block, masks.high);
    }
    for (auto zero = masks.zero; zero != 0; zero &= zero - 1) {
      invalid_.push_back(begin + static_cast<std::size_t>(std::countr_zero(zero)));
    }
    if (masks.zero != 0) {
      std::sort(invalid_.begin() + static_cast<std::ptrdiff_t>(found), invalid_.end());
    }
  }
}

void WordMasks::add_characters(std::string_view text, std::size_t block, std::uint64_t high) {
  const auto begin = block * 64;
  if (decoded_ > begin) {
    high &= ~std::uint64_t{0} << (decoded_ - begin);
  }
  std::uint64_t here = 0;
  std::uint64_t next = 0;  // of a character that ends in the next block
  while (high != 0) {
    const auto offset = static_cast<std::size_t>(std::countr_zero(high));
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data()) + begin + offset;
    const bool takes_two = bytes[0] >= 0xC2 && bytes[0] < 0xE0 && begin + offset + 1 < text.size() &&
                           (bytes[1] & 0xC0) == 0x80;  // most letters beyond ASCII: no call
    const auto found = takes_two ? base::CodePoint{(bytes[0] & 0x1FU) << 6 | (bytes[1] & 0x3FU), 2}
                                 : base::decode_utf8(text, begin + offset);
    const auto length = found ? found->length : 1;
    if (!found) {
      invalid_.push_back(begin + offset);
    } else if (const auto kind = kinds_[found->value]; kind != static_cast<std::uint8_t>(Kind::other)) {
      if ((kind & corpus::unsettled) != 0) {
        unsettled_.push_back(begin + offset);
      }
      const auto is_word = (kind & ~corpus::unsettled) == static_cast<std::uint8_t>(Kind::word);
      const auto bits = is_word ? (std::uint64_t{1} << length) - 1 : 0;
      here |= bits << offset;
      next |= offset + length > 64 ? bits >> (64 - offset) : 0;
    }
    const auto end = offset + length;
    decoded_ = begin + end;
    high &= end < 64 ? ~std::uint64_t{0} << end : 0;
  }
  words_[block] |= here;
  words_[block + 1] |= next;
}

bool WordMasks::has_high(std::size_t begin, std::size_t end) const {
  for (auto block = begin / 64; block * 64 < end; ++block) {
    auto bits = high_[block];
    if (block == begin / 64) {
      bits &= ~std::uint64_t{0} << begin % 64;
    }
    if (end < (block + 1) * 64) {
      bits &= (std::uint64_t{1} << end % 64) - 1;
    }
    if (bits != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace stereosweep::corpus
