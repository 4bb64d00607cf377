#include "corpus/Characters.hpp"

#include <array>
#include <vector>

#include "base/Text.hpp"
#include "corpus/CharacterTables.hpp"

namespace stereosweep::corpus {
namespace {

constexpr std::size_t num_code_points = 0x110000;

struct Tables {
  std::vector<Kind> kinds = std::vector<Kind>(num_code_points, Kind::other);
  std::vector<char32_t> folded;

  Tables() {
    mark(tables::word_ranges, Kind::word);
    mark(tables::white_space_ranges, Kind::white_space);
    const auto& runs = tables::folding_runs;
    folded.resize(runs[runs.size() - 3] + 1);  // up to the last character that changes
    for (char32_t value = 0; value < folded.size(); ++value) {
      folded[value] = value;
    }
    for (std::size_t i = 0; i < runs.size(); i += 4) {
      for (char32_t value = runs[i]; value <= runs[i + 1]; value += runs[i + 2]) {
        folded[value] = value - runs[i] + runs[i + 3];
      }
    }
  }
  void mark(std::span<const char32_t> ranges, Kind kind) {
    for (std::size_t i = 0; i < ranges.size(); i += 2) {
      for (char32_t value = ranges[i]; value <= ranges[i + 1]; ++value) {
        kinds[value] = kind;
      }
    }
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

std::string fold(std::string_view text) {
  const auto& folded = known().folded;
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto character = next_character(text, at);
    const auto value = character < folded.size() ? folded[character] : character;
    if (value >= 0x80 && value < 0x800) {  // most letters with case: this is a hot loop
      const std::array<char, 2> bytes = {static_cast<char>(0xC0 | value >> 6),
                                         static_cast<char>(0x80 | (value & 0x3F))};
      result.append(bytes.data(), bytes.size());
    } else {
      base::append_utf8(result, value);
    }
  }
  return result;
}

}  // namespace stereosweep::corpus
