// The characters that one part of a regular expression matches ("\p{L}", "[^\r\n]"), as Oniguruma says; asked once
// for each character, by sixty-fours when one of them is met.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/regex/Pattern.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

class CharacterSet {
 public:
  /// `expression` matches exactly one character or none. Throws InputError as make_regex does.
  CharacterSet(const std::string& expression, const Field& place);

  /// Whether the character at `position` is in it, which then moves behind the character. Safe from several threads.
  bool take(std::string_view text, std::size_t& position) const {
    const auto lead = static_cast<unsigned char>(text[position]);
    if (lead < 0x80) {
      position += ascii_[lead] ? 1 : 0;
      return ascii_[lead];
    }
    auto next = position;
    const bool found = contains(next_character(text, next));
    position = found ? next : position;
    return found;
  }
  bool contains_ascii(unsigned char character) const { return ascii_[character]; }

 private:
  static constexpr std::size_t page_size = 64;
  static constexpr std::size_t num_pages = 0x110000 / page_size;

  bool contains(char32_t value) const {
    const auto page = value / page_size;
    if (!known_[page].load(std::memory_order_acquire)) {
      read_page(page);
    }
    return (pages_[page].load(std::memory_order_relaxed) >> value % page_size & 1) != 0;
  }
  void read_page(std::size_t page) const;
  bool ask(char32_t value) const;

  std::unique_ptr<Pattern> pattern_;
  std::array<bool, 128> ascii_{};
  mutable std::vector<std::atomic<std::uint64_t>> pages_;
  mutable std::vector<std::atomic<bool>> known_;  // set after the page
};

}  // namespace stereosweep::tokenizer
