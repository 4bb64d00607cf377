#include "tokenizer/unicode/AlignedText.hpp"

#include <algorithm>
#include <array>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::size_t num_characters = 256 + 68;  // 188 bytes stand for themselves

struct Alphabet {
  std::array<char32_t, 256> characters{};
  std::array<int, num_characters> bytes{};
  Alphabet() {
    bytes.fill(-1);
    char32_t next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = printable ? byte : next++;
      bytes[characters[byte]] = static_cast<int>(byte);
    }
  }
};

const Alphabet alphabet;

}  // namespace

AlignedText::AlignedText(std::string_view part, std::size_t offset)
    : text_(part), origin_(static_cast<std::uint32_t>(offset)) {
  alignments_.reserve(part.size());
  for (std::size_t i = 0; i < part.size();) {
    const auto begin = i;
    if (static_cast<unsigned char>(part[i]) < 0x80) {
      ++i;
      alignments_.push_back({static_cast<std::uint32_t>(offset + begin), static_cast<std::uint32_t>(offset + i)});
      continue;
    }
    next_character(part, i);
    alignments_.resize(i, {static_cast<std::uint32_t>(offset + begin), static_cast<std::uint32_t>(offset + i)});
  }
}

void AlignedText::reserve(std::size_t bytes) {
  text_.reserve(bytes);
  alignments_.reserve(bytes);
}

void AlignedText::put_long(char32_t value, Alignment alignment) {
  base::append_utf8(text_, value);
  alignments_.resize(text_.size(), alignment);
}

void AlignedText::put(std::string_view text, Alignment alignment) {
  text_ += text;
  alignments_.resize(text_.size(), alignment);
}

void AlignedText::append(const AlignedText& other, std::size_t begin, std::size_t end) {
  text_.append(other.text_, begin, end - begin);
  const auto first = other.alignments_.begin();
  alignments_.insert(alignments_.end(), first + static_cast<std::ptrdiff_t>(begin),
                     first + static_cast<std::ptrdiff_t>(end));
}

AlignedText AlignedText::part(std::size_t begin, std::size_t end) const {
  AlignedText out;
  out.append(*this, begin, end);
  out.origin_ = begin < end ? alignments_[begin].begin : origin_;
  return out;
}

void AlignedText::transform(std::span<const Change> target) {
  AlignedText out;
  out.reserve(size());
  out.origin_ = origin_;
  std::size_t position = 0;  // of the next old character
  for (const auto& [value, change] : target) {
    if (change > 0) {
      out.put(value, before(position));
      continue;
    }
    STEREOSWEEP_ASSERT(position < size(), "more characters replaced than there are");
    out.put(value, alignments_[position]);
    for (std::int32_t i = change; i <= 0 && position < size(); ++i) {
      next_character(text_, position);
    }
  }
  *this = std::move(out);
}

void AlignedText::prepend(std::string_view prefix) {
  if (text_.empty()) {
    return;
  }
  alignments_.insert(alignments_.begin(), prefix.size(), alignments_.front());
  text_.insert(0, prefix);
}

void AlignedText::check_growth(std::size_t bytes, std::size_t before) {
  constexpr std::size_t most = std::size_t{1} << 24;  // forty replacements in turn can double a text each
  if (bytes > std::max(most, before)) {
    base::refuse("the tokenizer makes the text longer than " + std::to_string(most) + " bytes",
                 "replacements that grow without end are refused");
  }
}

char32_t byte_character(unsigned char byte) { return alphabet.characters[byte]; }

std::optional<unsigned char> character_byte(char32_t value) {
  if (value >= num_characters || alphabet.bytes[value] < 0) {
    return std::nullopt;
  }
  return static_cast<unsigned char>(alphabet.bytes[value]);
}

void append_byte_level(const AlignedText& from, std::size_t begin, std::size_t end, AlignedText& to) {
  const auto text = from.text();
  AlignedText::check_growth(to.size() + 2 * (end - begin), from.size());
  for (std::size_t i = begin; i < end; ++i) {
    to.put(byte_character(static_cast<unsigned char>(text[i])), from.alignment(i));
  }
}

}  // namespace stereosweep::tokenizer
