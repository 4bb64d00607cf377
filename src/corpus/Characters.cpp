#include "corpus/Characters.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <numeric>

#include "base/text/Text.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::size_t num_code_points = 0x110000;
constexpr auto composed = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);

bool is_surrogate(char32_t value) { return value >= 0xD800 && value <= 0xDFFF; }

Kind find_kind(char32_t value) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(value));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ND) {  // L, M and Nd stand side by side
    return Kind::word;
  }
  const bool is_white = (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) || value == 0x85 ||
                        (value >= '\t' && value <= '\r');
  return is_white ? Kind::white_space : Kind::other;
}

// utf8proc has full folding, to one character or more, and lower case: together they are simple folding, but for the
// dotted capital I, which has none.
char32_t find_folded(char32_t value) {
  const auto character = static_cast<utf8proc_int32_t>(value);
  const auto category = utf8proc_category(character);
  if (category == UTF8PROC_CATEGORY_LO || category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO) {
    return value;  // nearly all of Unicode has no case
  }
  std::array<utf8proc_int32_t, 4> folded{};
  const auto count = utf8proc_decompose_char(character, folded.data(), folded.size(), UTF8PROC_CASEFOLD, nullptr);
  return static_cast<char32_t>(count == 1 ? folded[0] : value == 0x130 ? character : utf8proc_tolower(character));
}

struct Tables {
  std::vector<std::uint8_t> kinds = std::vector<std::uint8_t>(num_code_points);
  std::vector<char32_t> folded = std::vector<char32_t>(num_code_points);

  Tables() {
    std::size_t changing = 0;  // up to the last character that changes
    for (char32_t value = 0; value < num_code_points; ++value) {
      if (value == 0x40000) {
        value = 0xE0000;  // planes 4 to 13 have no characters
      }
      if (!is_surrogate(value)) {
        kinds[value] |= static_cast<std::uint8_t>(find_kind(value));
        mark_unsettled(value);
      }
      folded[value] = is_surrogate(value) ? value : find_folded(value);
      changing = folded[value] == value ? changing : value + 1;
    }
    folded.resize(changing);
  }

  // Of what a character decomposes to all but the first are composed with what stands before them.
  void mark_unsettled(char32_t value) {
    const auto character = static_cast<utf8proc_int32_t>(value);
    std::array<utf8proc_int32_t, 8> parts{};  // four are the most
    const auto count = utf8proc_decompose_char(character, parts.data(), parts.size(), UTF8PROC_DECOMPOSE, nullptr);
    std::for_each(parts.begin() + 1, parts.begin() + count,
                  [&](auto part) { kinds[static_cast<std::size_t>(part)] |= unsettled; });
    const bool is_nfc = utf8proc_normalize_utf32(parts.data(), count, composed) == 1 && parts[0] == character;
    if (!is_nfc || is_unseen(value, 0) || utf8proc_get_property(character)->combining_class != 0) {
      kinds[value] |= unsettled;
    }
  }
};

const Tables& known() {
  static const Tables tables;
  return tables;
}

// By utf8proc; as it is where it is invalid.
std::string rewritten(std::string_view text, int options) {
  utf8proc_uint8_t* made = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &made, static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(made, &std::free);
  return size < 0 ? std::string(text)
                  : std::string(reinterpret_cast<const char*>(made), static_cast<std::size_t>(size));
}

}  // namespace

Kind kind_of(char32_t character) {
  return character < num_code_points ? static_cast<Kind>(known().kinds[character] & ~unsettled) : Kind::other;
}

char32_t fold(char32_t character) {
  const auto& folded = known().folded;
  return character < folded.size() ? folded[character] : character;
}

std::span<const std::uint8_t> kinds() { return known().kinds; }
std::span<const char32_t> foldings() { return known().folded; }

bool is_unseen(char32_t character, char32_t before) {
  const bool parts_words = (before >= 0xE00 && before < 0x10A0) || (before >= 0x1780 && before < 0x1800);
  return character == 0xAD || (character == 0x200B && !parts_words) || (character > 0x200B && character <= 0x200F) ||
         character == 0x2060 || character == 0xFEFF;
}

std::string normal_form(std::string_view text, std::span<const std::size_t> positions,
                        std::vector<std::size_t>& places) {
  constexpr std::size_t most_marks = 256;  // putting them in order takes the square of their number
  std::string normal;
  std::size_t done = 0;
  places.clear();
  const auto keep = [&](std::size_t end) {
    normal.append(text.substr(done, end - done));
    places.resize(normal.size());
    std::iota(places.end() - static_cast<std::ptrdiff_t>(end - done), places.end(), done);
    done = end;
  };
  for (const auto position : positions) {
    if (position < done) {
      continue;
    }
    const auto begin = std::max(position > 0 ? previous_character(text, position) : 0, done);
    char32_t before = position > 0 ? character_at(text, previous_character(text, position)) : 0;
    std::string seen(text.substr(begin, position - begin));
    auto contiguous = std::string::npos;  // how much of it stands in the text without a gap
    auto end = position;
    for (auto next = end; next < text.size() && next < position + most_marks; end = next) {
      const auto character = next_character(text, next);
      if (is_unseen(character, before)) {
        contiguous = std::min(contiguous, seen.size());
      } else if (end > position && (character >= num_code_points || (kinds()[character] & unsettled) == 0 ||
                                    kind_of(character) != Kind::word || kind_of(before) != Kind::word)) {
        break;  // a word may begin or end here
      } else {
        seen += text.substr(end, next - end);
        before = character;
      }
    }
    const auto now = seen.size() > position - begin ? rewritten(seen, composed) : seen;
    auto same = static_cast<std::size_t>(std::ranges::mismatch(seen, now).in1 - seen.begin());
    same = std::min(same, contiguous);
    while (same > 0 && same < now.size() && !base::begins_character(now[same])) {
      --same;
    }
    keep(begin + same);
    normal += now.substr(same);
    places.resize(normal.size(), begin + same);
    done = end;
  }
  keep(text.size());
  places.push_back(text.size());
  return normal;
}

std::string comparable(std::string_view word, StaticVectors::Case letter_case, StaticVectors::Accents accents) {
  return base::replace_all(rewritten(word, composed | UTF8PROC_IGNORE |
                                               (letter_case == StaticVectors::Case::ignore ? UTF8PROC_CASEFOLD : 0) |
                                               (accents == StaticVectors::Accents::ignore ? UTF8PROC_STRIPMARK : 0)),
                           " ", "_");
}

}  // namespace stereosweep::corpus
