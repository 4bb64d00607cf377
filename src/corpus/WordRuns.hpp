// Runs of letters, marks and digits in a text: found by bit operations, and looked up among those that wanted words
// begin with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>
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
  /// Offsets, ascending, of unsettled characters (see Characters.hpp).
  const std::vector<std::size_t>& unsettled() const { return unsettled_; }

 private:
  void add_characters(std::string_view text, std::size_t block, std::uint64_t high);

  std::span<const std::uint8_t> kinds_ = kinds();
  std::vector<std::uint64_t> words_, high_;
  std::vector<std::size_t> invalid_, unsettled_;
  std::size_t decoded_ = 0;  // end of the last character over 127
};

/// What stands for a run: its first eight bytes, filled up with zeros, and its length.
struct TokenKey {
  std::uint64_t head = 0;
  std::uint64_t length = 0;
  bool operator==(const TokenKey&) const = default;
  std::uint64_t hash() const { return (head ^ length << 56 ^ length) * 0x9e3779b97f4a7c15U; }
};

/// The key of text[begin, end).
inline TokenKey key_of(std::string_view text, std::size_t begin, std::size_t end) {
  TokenKey key{0, end - begin};
  if (begin + 8 <= text.size()) {
    std::memcpy(&key.head, text.data() + begin, 8);
    key.head &= key.length >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << key.length * 8) - 1;
  } else {
    std::memcpy(&key.head, text.data() + begin, end - begin);
  }
  return key;
}
/// With ASCII letters made lower: exact for letters and digits, which are all that a run of ASCII has.
inline TokenKey lower_key_of(std::string_view text, std::size_t begin, std::size_t end) {
  auto key = key_of(text, begin, end);
  const auto bits = std::uint64_t{0x2020202020202020};
  key.head |= key.length >= 8 ? bits : bits & ((std::uint64_t{1} << key.length * 8) - 1);
  return key;
}

/// Numbers by key, behind a bit filter that turns nearly every run of a text away.
class TokenTable {
 public:
  TokenTable() : filter_(num_places / 64) {}
  /// `value` belongs to the runs of this key.
  void add(TokenKey key, std::uint32_t value) {
    filter_[place_of(key) / 64] |= std::uint64_t{1} << place_of(key) % 64;
    values_.emplace(key, value);
  }
  bool may_have(TokenKey key) const {
    const auto place = place_of(key);
    return (filter_[place / 64] >> place % 64 & 1) != 0;
  }
  /// Calls `use` with the values of a key, in no order.
  void visit(TokenKey key, const auto& use) const {
    const auto [begin, end] = values_.equal_range(key);
    std::for_each(begin, end, [&](const auto& entry) { use(entry.second); });
  }

 private:
  static constexpr unsigned power = 16;
  static constexpr std::size_t num_places = std::size_t{1} << power;
  struct Hash {
    std::size_t operator()(TokenKey key) const { return key.hash(); }
  };
  static std::size_t place_of(TokenKey key) { return key.hash() >> (64 - power); }

  std::vector<std::uint64_t> filter_;  // fits the first-level cache
  std::unordered_multimap<TokenKey, std::uint32_t, Hash> values_;
};

}  // namespace stereosweep::corpus
