#include "corpus/Characters.hpp"

#include <utf8proc.h>

#include <array>
#include <vector>

namespace stereosweep::corpus {
namespace {

constexpr std::size_t num_code_points = 0x110000;

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
  std::vector<Kind> kinds = std::vector<Kind>(num_code_points, Kind::other);
  std::vector<char32_t> folded = std::vector<char32_t>(num_code_points);

  Tables() {
    std::size_t changing = 0;  // up to the last character that changes
    for (char32_t value = 0; value < num_code_points; ++value) {
      if (value == 0x40000) {
        value = 0xE0000;  // planes 4 to 13 have no characters
      }
      kinds[value] = is_surrogate(value) ? Kind::other : find_kind(value);
      folded[value] = is_surrogate(value) ? value : find_folded(value);
      changing = folded[value] == value ? changing : value + 1;
    }
    folded.resize(changing);
  }
};

const Tables& known() {
  static const Tables tables;
  return tables;
}

}  // namespace

Kind kind_of(char32_t character) { return character < num_code_points ? known().kinds[character] : Kind::other; }

char32_t fold(char32_t character) {
  const auto& folded = known().folded;
  return character < folded.size() ? folded[character] : character;
}

std::span<const Kind> kinds() { return known().kinds; }
std::span<const char32_t> foldings() { return known().folded; }

}  // namespace stereosweep::corpus
