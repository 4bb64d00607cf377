// SentencePiece's compiled normalization ("precompiled_charsmap"): texts that are replaced, found by longest match.
// Form: four bytes with the trie's size, the trie (Darts double array, units of four bytes), texts ended by NUL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::tokenizer {

class CharacterMap {
 public:
  /// Replaces nothing.
  CharacterMap() = default;
  /// Throws InputError (`where`: ...) for bytes of another form.
  CharacterMap(std::string_view compiled, std::string where);

  struct Replacement {
    std::size_t length = 0;  ///< bytes that are replaced; 0: none
    std::string_view text;
  };
  /// The longest text of the map that `text` starts with. Throws InputError where the map leads out of itself.
  Replacement find(std::string_view text) const { return find(text, Match::longest); }
  enum class Match { longest, shortest };
  Replacement find(std::string_view text, Match match) const;

 private:
  std::string_view text_at(std::uint32_t offset) const;
  std::string where_;
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

}  // namespace stereosweep::tokenizer
