#include "corpus/JsonField.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/text/Text.hpp"

namespace stereosweep::corpus {
namespace {

constexpr int max_depth = 64;

bool ends_plain_text(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

// The first quote, backslash or control character from `at` on; the size where there is none.
std::size_t skip_plain_text(std::string_view text, std::size_t at) {
#ifdef __SSE2__
  for (; at + 16 <= text.size(); at += 16) {
    const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    const auto control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const auto quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    const auto backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    const auto found = _mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, backslash)));
    if (found != 0) {
      return at + static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(found)));
    }
  }
#endif
  while (at < text.size() && !ends_plain_text(text[at])) {
    ++at;
  }
  return at;
}

// Walks over one line. Every function returns false where the text is no JSON.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool done() const { return at_ == text_.size(); }
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    const bool found = next() == wanted && !done();
    at_ += found ? 1 : 0;
    return found;
  }

  /// The raw text between two quotes; `has_escapes` where it is not the string itself.
  bool string(std::string_view& raw, bool& has_escapes) {
    has_escapes = false;
    if (!take('"')) {
      return false;
    }
    const auto begin = at_;
    for (;;) {
      at_ = skip_plain_text(text_, at_);
      if (next() == '"') {
        raw = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      }
      if (next() != '\\' || !escape()) {
        return false;
      }
      has_escapes = true;
    }
  }

  bool value(int depth) {
    skip_space();
    std::string_view raw;
    bool has_escapes = false;
    switch (next()) {
      case '"':
        return string(raw, has_escapes);
      case '{':
        return depth < max_depth && members([&](std::string_view, bool) { return value(depth + 1); });
      case '[':
        return depth < max_depth && list('[', ']', [&] { return value(depth + 1); });
      case 't':
        return literal("true");
      case 'f':
        return literal("false");
      case 'n':
        return literal("null");
      default:
        return number();
    }
  }

  /// An object; `member` is called behind each colon with the raw key and must walk over the value.
  template <class Member>
  bool members(const Member& member) {
    return list('{', '}', [&] {
      std::string_view key;
      bool has_escapes = false;
      if (!string(key, has_escapes)) {
        return false;
      }
      skip_space();
      return take(':') && member(key, has_escapes);
    });
  }

 private:
  // What stands between the two, parted by commas; `item` must walk over one, and what it returns false for ends all.
  template <class Item>
  bool list(char open, char close, const Item& item) {
    if (!take(open)) {
      return false;
    }
    skip_space();
    if (take(close)) {
      return true;
    }
    do {
      skip_space();
      if (!item()) {
        return false;
      }
      skip_space();
    } while (take(','));
    return take(close);
  }

  bool literal(std::string_view wanted) {
    const bool found = text_.substr(at_, wanted.size()) == wanted;
    at_ += found ? wanted.size() : 0;
    return found;
  }

  bool digits() {
    const auto begin = at_;
    while (next() >= '0' && next() <= '9') {
      ++at_;
    }
    return at_ > begin;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) {
      return false;
    }
    if (take('.') && !digits()) {
      return false;
    }
    if (take('e') || take('E')) {
      if (!take('+')) {
        take('-');
      }
      return digits();
    }
    return true;
  }

  bool escape() {
    ++at_;
    const auto kind = next();
    if (kind != 'u') {
      ++at_;
      return kind != '\0' && std::string_view("\"\\/bfnrt").find(kind) != std::string_view::npos;
    }
    for (int i = 1; i <= 4; ++i) {
      ++at_;
      if (std::isxdigit(static_cast<unsigned char>(next())) == 0) {
        return false;
      }
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

char32_t hexadecimal(std::string_view digits) {
  std::uint32_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

// The string that `raw`, whose escapes have the right form, stands for; false for a surrogate without its other half.
bool decode(std::string_view raw, std::string& decoded) {
  constexpr std::string_view letters = "bfnrt";
  constexpr std::string_view characters = "\b\f\n\r\t";
  decoded.clear();
  for (std::size_t at = 0; at < raw.size();) {
    const auto found = raw.find('\\', at);
    const auto next = found == std::string_view::npos ? raw.size() : found;
    decoded.append(raw.substr(at, next - at));
    if (next == raw.size()) {
      break;
    }
    const char kind = raw[next + 1];
    at = next + 2;
    if (kind != 'u') {
      const auto letter = letters.find(kind);
      decoded += letter == std::string_view::npos ? kind : characters[letter];
      continue;
    }
    auto value = hexadecimal(raw.substr(at, 4));
    at += 4;
    if (value >= 0xD800 && value <= 0xDFFF) {
      const bool has_other = raw.substr(at, 2) == "\\u";
      const auto other = has_other ? hexadecimal(raw.substr(at + 2, 4)) : 0;
      if (value >= 0xDC00 || other < 0xDC00 || other > 0xDFFF) {
        return false;
      }
      value = 0x10000 + ((value - 0xD800) << 10) + (other - 0xDC00);
      at += 6;
    }
    base::append_utf8(decoded, value);
  }
  return true;
}

}  // namespace

JsonLine JsonField::find(std::string_view line) {
  Walker walker(line);
  walker.skip_space();
  if (walker.next() != '{') {
    const bool valid = walker.value(0);
    walker.skip_space();
    return valid && walker.done() ? JsonLine::no_field : JsonLine::broken;
  }
  std::optional<std::string_view> text;  // raw
  int times = 0;
  bool text_has_escapes = false;
  std::string key;
  const auto members = [&](const auto& self, std::string_view wanted, int depth) -> bool {
    return walker.members([&](std::string_view raw_key, bool key_has_escapes) {
      if (key_has_escapes) {
        if (!decode(raw_key, key)) {
          return false;
        }
        raw_key = key;
      }
      walker.skip_space();
      const bool is_field = raw_key == wanted;
      times += is_field ? 1 : 0;
      if (is_field && walker.next() == '"') {
        return walker.string(text.emplace(), text_has_escapes);
      }
      const bool leads_to_field = wanted.size() > raw_key.size() && wanted.starts_with(raw_key) &&
                                  wanted[raw_key.size()] == '.' && walker.next() == '{' && depth < max_depth;
      return leads_to_field ? self(self, wanted.substr(raw_key.size() + 1), depth + 1) : walker.value(depth);
    });
  };
  const bool valid = members(members, field_, 1);
  walker.skip_space();
  if (!valid || !walker.done() || times > 1) {
    return JsonLine::broken;
  }
  if (!text) {
    return JsonLine::no_field;
  }
  value_ = *text;
  if (text_has_escapes) {
    if (!decode(*text, decoded_)) {
      return JsonLine::broken;
    }
    value_ = decoded_;
  }
  return JsonLine::found;
}

}  // namespace stereosweep::corpus
