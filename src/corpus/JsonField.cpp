#include "corpus/JsonField.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include <bit>
#include <charconv>
#include <cstdint>

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

  /// A string. What it stands for is added to `decoded`; null: it is passed over, and may have half a surrogate pair.
  bool string(std::string* decoded) {
    if (!take('"')) {
      return false;
    }
    for (;;) {
      const auto end = skip_plain_text(text_, at_);
      if (decoded != nullptr) {
        decoded->append(text_, at_, end - at_);
      }
      at_ = end;
      if (take('"')) {
        return true;
      }
      if (!take('\\') || !escape(decoded)) {
        return false;
      }
    }
  }

  bool value(int depth) {
    skip_space();
    switch (next()) {
      case '"':
        return string(nullptr);
      case '{':
        return depth < max_depth && members(nullptr, [&] { return value(depth + 1); });
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

  /// An object; `member` is called behind each colon, with the key in `key` unless that is null, and must walk over the
  /// value.
  template <class Member>
  bool members(std::string* key, const Member& member) {
    return list('{', '}', [&] {
      if (key != nullptr) {
        key->clear();
      }
      if (!string(key)) {
        return false;
      }
      skip_space();
      return take(':') && member();
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

  // What stands behind a backslash.
  bool escape(std::string* decoded) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view characters = "\"\\/\b\f\n\r\t";
    const auto letter = letters.find(next());
    char32_t value = 0;
    if (letter != std::string_view::npos) {
      ++at_;
      value = static_cast<unsigned char>(characters[letter]);
    } else if (!take('u') || !hexadecimal(value)) {
      return false;
    }
    if (decoded == nullptr) {
      return true;
    }
    if (value >= 0xD800 && value <= 0xDFFF) {
      char32_t other = 0;
      if (value >= 0xDC00 || !take('\\') || !take('u') || !hexadecimal(other) || other < 0xDC00 || other > 0xDFFF) {
        return false;
      }
      value = 0x10000 + ((value - 0xD800) << 10) + (other - 0xDC00);
    }
    base::append_utf8(*decoded, value);
    return true;
  }

  // Four digits.
  bool hexadecimal(char32_t& value) {
    const auto digits = text_.substr(at_, 4);
    std::uint32_t number = 0;
    const auto* end = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
    at_ += digits.size();
    value = number;
    return end == digits.data() + 4;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

JsonLine JsonField::find(std::string_view line) {
  Walker walker(line);
  walker.skip_space();
  value_.clear();
  bool has_text = false;
  int times = 0;
  std::string key;
  const auto members = [&](const auto& self, std::string_view wanted, int depth) -> bool {
    return walker.members(&key, [&] {
      walker.skip_space();
      const bool is_field = key == wanted;
      times += is_field ? 1 : 0;
      if (is_field && walker.next() == '"') {
        has_text = true;
        return walker.string(&value_);
      }
      const bool leads_to_field = wanted.size() > key.size() && wanted.starts_with(key) && wanted[key.size()] == '.' &&
                                  walker.next() == '{' && depth < max_depth;
      return leads_to_field ? self(self, wanted.substr(key.size() + 1), depth + 1) : walker.value(depth);
    });
  };
  const bool valid = walker.next() == '{' ? members(members, field_, 1) : walker.value(0);
  walker.skip_space();
  if (!valid || !walker.done() || times > 1) {
    return JsonLine::broken;
  }
  return has_text ? JsonLine::found : JsonLine::no_field;
}

}  // namespace stereosweep::corpus
