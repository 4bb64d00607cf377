#include "corpus/Characters.hpp"

#include <vector>

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

std::span<const Kind> kinds() { return known().kinds; }
std::span<const char32_t> foldings() { return known().folded; }

}  // namespace stereosweep::corpus
