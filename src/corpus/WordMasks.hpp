// Which bytes of a text belong to letters, marks and digits: one bit a byte, so that words are found by bit operations.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "corpus/Characters.hpp"

namespace stereosweep::corpus {

/// Of 64 bytes, bit i for byte i. A byte over 127 is neither `word` nor `zero`.
struct ByteMasks {
  std::uint64_t word = 0;  ///< ASCII letters and digits
  std::uint64_t high = 0;  ///< over 127
  std::uint64_t zero = 0;
  bool operator==(const ByteMasks&) const = default;
};
using Bytes64 = std::array<char, 64>;
/// With the processor's vector instructions where they are known, else as `masks_of_each`.
ByteMasks masks_of(const char* bytes);
ByteMasks masks_of_each(const char* bytes);

class WordMasks {
 public:
  /// Classifies every byte of `text`, which may be invalid.
  void assign(std::string_view text);
  /// Bit i % 64 of [i / 64]: byte i belongs to a character of kind `word`. Bits behind the text are 0.
  const std::vector<std::uint64_t>& words() const { return words_; }
  /// Whether a byte of [begin, end) is over 127.
  bool has_high(std::size_t begin, std::size_t end) const;
  /// Offsets, ascending, of bytes that are no UTF-8, and of NULs.
  const std::vector<std::size_t>& invalid() const { return invalid_; }

 private:
  void add_characters(std::string_view text, std::size_t block, std::uint64_t high);

  std::span<const Kind> kinds_ = kinds();
  std::vector<std::uint64_t> words_, high_;
  std::vector<std::size_t> invalid_;
  std::size_t decoded_ = 0;  // end of the last character over 127
};

}  // namespace stereosweep::corpus
