#include "tokenizer/CharacterMap.hpp"

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::tokenizer {
namespace {

std::uint32_t read_word(std::string_view bytes, std::size_t position) {  // little-endian
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[position + i])) << (8 * i);
  }
  return value;
}

// The parts of a double array's unit (Darts-clone).
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

}  // namespace

CharacterMap::CharacterMap(std::string_view compiled, std::string where) : where_(std::move(where)) {
  const auto size = compiled.size() < 4 ? 0 : read_word(compiled, 0);
  if (size == 0 || size % 4 != 0 || size > compiled.size() - 4) {
    throw base::InputError(where_ + ": " +
                           base::describe("the trie's size does not fit " + std::to_string(compiled.size()) + " bytes",
                                          "a compiled character map is needed"));
  }
  units_.reserve(size / 4);
  for (std::size_t i = 4; i < 4 + size; i += 4) {
    units_.push_back(read_word(compiled, i));
  }
  texts_ = compiled.substr(4 + size);
}

std::string_view CharacterMap::text_at(std::uint32_t offset) const {
  const auto end = offset < texts_.size() ? texts_.find('\0', offset) : std::string::npos;
  const auto found =
      end == std::string::npos ? std::string_view() : std::string_view(texts_).substr(offset, end - offset);
  if (end == std::string::npos || base::find_invalid_utf8(found)) {
    throw base::InputError(
        where_ + ": " + base::describe("no text at offset " + std::to_string(offset), "the character map leads there"));
  }
  return found;
}

CharacterMap::Replacement CharacterMap::find(std::string_view text, Match match) const {
  std::optional<std::uint32_t> found;
  Replacement answer;
  std::size_t at = units_.empty() ? 0 : offset_of(units_.front());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto label = static_cast<unsigned char>(text[i]);
    at ^= label;
    if (at >= units_.size() || label_of(units_[at]) != label) {
      break;
    }
    const auto unit = units_[at];
    at ^= offset_of(unit);
    if (has_leaf(unit) && at < units_.size()) {
      found = value_of(units_[at]);
      answer.length = i + 1;
      if (match == Match::shortest) {
        break;
      }
    }
  }
  if (found) {
    answer.text = text_at(*found);
  }
  return answer;
}

}  // namespace stereosweep::tokenizer
