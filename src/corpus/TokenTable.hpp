// From a run of letters to the words that begin with it: a hash table behind a bit filter that fits the first-level
// cache, since almost every run of a text is none.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace stereosweep::corpus {

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

class TokenTable {
 public:
  TokenTable() : filter_(filter_bits / 64) {}
  /// `value` belongs to the runs of this key. All are added before the first `find`.
  void add(TokenKey key, std::uint32_t value);
  void build();
  bool may_have(TokenKey key) const {
    const auto bit = key.hash() >> (64 - filter_power);
    return (filter_[bit / 64] >> bit % 64 & 1) != 0;
  }
  /// The values of a key, in the order in which they were added.
  std::span<const std::uint32_t> find(TokenKey key) const;

 private:
  static constexpr unsigned filter_power = 16;
  static constexpr std::size_t filter_bits = std::size_t{1} << filter_power;
  struct Entry {
    TokenKey key;
    std::uint32_t value = 0;
  };
  struct Slot {
    TokenKey key;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;  // 0: free
  };
  // not the bits that the filter takes, nor the lowest, which depend on the first letters alone
  std::size_t slot_of(TokenKey key) const { return key.hash() >> 32 & (slots_.size() - 1); }

  std::vector<std::uint64_t> filter_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> values_;
  std::vector<Slot> slots_;  // a power of two, at most half full
};

}  // namespace stereosweep::corpus
