// A text that was changed step by step, and for each of its bytes the bytes of the input that it stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {

/// Bytes of the input, always whole characters.
struct Alignment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

class AlignedText {
 public:
  AlignedText() = default;
  /// `part` as it stands, found at byte `offset` of the input.
  AlignedText(std::string_view part, std::size_t offset);

  std::string_view text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  /// Input bytes of the non-empty range [begin, end).
  Alignment original(std::size_t begin, std::size_t end) const {
    return {alignments_[begin].begin, alignments_[end - 1].end};
  }
  Alignment alignment(std::size_t byte) const { return alignments_[byte]; }

  /// Of the byte before this one; of the first the place where the text begins.
  Alignment before(std::size_t position) const {
    return position == 0 ? Alignment{origin_, origin_} : alignments_[position - 1];
  }

  void reserve(std::size_t bytes);
  void put(char32_t value, Alignment alignment) {
    if (value < 0x80) {
      text_ += static_cast<char>(value);
      alignments_.push_back(alignment);
    } else {
      put_long(value, alignment);
    }
  }
  void put(std::string_view text, Alignment alignment);
  /// Appends [begin, end) of another text.
  void append(const AlignedText& other, std::size_t begin, std::size_t end);
  AlignedText part(std::size_t begin, std::size_t end) const;

  /// Calls `visit(value, alignment, out)` for each character; what it puts into `out` becomes the text.
  void rewrite(auto visit) {
    AlignedText out;
    out.reserve(size());
    out.origin_ = origin_;
    for (std::size_t i = 0; i < text_.size();) {
      const Alignment alignment = alignments_[i];
      visit(next_character(text_, i), alignment, out);
    }
    *this = std::move(out);
  }
  /// The whole text becomes `target` (see Change).
  void transform(std::span<const Change> target);
  /// Puts `prefix` before a text that is not empty; it stands for the first character's input.
  void prepend(std::string_view prefix);
  /// Throws InputError where a step has made a text of `before` bytes much longer: hostile files double it in each
  /// step.
  static void check_growth(std::size_t bytes, std::size_t before);

 private:
  void put_long(char32_t value, Alignment alignment);
  std::string text_;
  std::vector<Alignment> alignments_;  // [byte]
  std::uint32_t origin_ = 0;           // byte of the input at which this part begins
};

/// GPT-2's byte alphabet: each byte is written as one printable character (radford2019, the published encoder.py).
/// The character that stands for a byte: itself where printable Latin-1, else one from U+0100 on.
char32_t byte_character(unsigned char byte);
/// The byte that a character stands for; nothing for other characters.
std::optional<unsigned char> character_byte(char32_t value);
/// Rewrites [begin, end) of `from` in the byte alphabet to the end of `to`; a character's bytes share its alignment.
void append_byte_level(const AlignedText& from, std::size_t begin, std::size_t end, AlignedText& to);

}  // namespace stereosweep::tokenizer
