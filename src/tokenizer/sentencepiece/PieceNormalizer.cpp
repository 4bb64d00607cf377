#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/Stages.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

// The parts of a double array's unit (Darts-clone).
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

// SentencePiece's compiled normalization ("precompiled_charsmap"): texts that are replaced, found by longest match.
// Form: four bytes with the trie's size, the trie (Darts double array, units of four bytes), texts ended by NUL.
class CharacterMap {
 public:
  /// Replaces nothing.
  CharacterMap() = default;
  /// Throws InputError (`where`: ...) for bytes of another form.
  CharacterMap(std::string_view compiled, std::string where) : where_(std::move(where)) {
    std::uint32_t size = 0;  // little-endian, as we are
    std::memcpy(&size, compiled.data(), compiled.size() < 4 ? 0 : sizeof size);
    base::refuse_if(size == 0 || size % 4 != 0 || size > compiled.size() - 4,
                    where_ + ": the trie's size does not fit " + std::to_string(compiled.size()) + " bytes",
                    "a compiled character map is needed");
    units_.resize(size / 4);
    std::memcpy(units_.data(), compiled.data() + 4, size);
    texts_ = compiled.substr(4 + size);
  }

  struct Replacement {
    std::size_t length = 0;  ///< bytes that are replaced; 0: none
    std::string_view text;
  };
  enum class Match { longest, shortest };
  /// The text of the map that `text` starts with. Throws InputError where the map leads out of itself.
  Replacement find(std::string_view text, Match match) const {
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

 private:
  std::string_view text_at(std::uint32_t offset) const {
    const auto end = offset < texts_.size() ? texts_.find('\0', offset) : std::string::npos;
    const auto found =
        end == std::string::npos ? std::string_view() : std::string_view(texts_).substr(offset, end - offset);
    if (end == std::string::npos || base::find_invalid_utf8(found)) {
      base::refuse(where_ + ": no text at offset " + std::to_string(offset), "the character map leads there");
    }
    return found;
  }
  std::string where_;
  std::vector<std::uint32_t> units_;
  std::string texts_;
};

constexpr char32_t mark_character = U'\u2581';

class PieceNormalizer {
 public:
  PieceNormalizer(const PieceFile& model, const std::string& file)
      : user_defined_(user_defined_pieces(model)),
        marks_(model.marks),
        adds_mark_(model.adds_mark),
        removes_(model.removes_extra_spaces),
        space_(model.escapes_spaces ? mark_character : U' ') {
    if (!model.character_map.empty()) {
      map_ = CharacterMap(model.character_map, file + ":normalizer_spec.precompiled_charsmap");
    }
    base::append_utf8(space_text_, space_);
  }

  void operator()(AlignedText& text) const {
    const auto input = text.text();
    AlignedText out = text.part(0, 0);
    out.reserve(input.size() + input.size() / 4 + space_text_.size());
    std::size_t position = removes_ ? end_of_leading_spaces(input) : 0;
    const bool marked = adds_mark_ && !input.empty() && text.alignment(0).begin == 0;
    if (position < input.size()) {
      if (marked && marks_ == PieceFile::Marks::before) {
        out.put(space_, text.alignment(position));
      }
      append_rest(text, position, out);
      if (removes_) {
        out = without_trailing_spaces(std::move(out));
      }
      if (marked && marks_ == PieceFile::Marks::behind) {
        out.put(space_, text.alignment(input.size() - 1));
      }
    }
    text = std::move(out);
  }

 private:
  // What the start of `text` becomes.
  CharacterMap::Replacement start_of(std::string_view text) const {
    if (const auto whole = user_defined_.longest_prefix(text); whole > 0) {
      return {whole, text.substr(0, whole)};
    }
    if (const auto found = map_.find(text, CharacterMap::Match::longest); found.length > 0) {
      return found;
    }
    std::size_t length = 0;
    next_character(text, length);
    return {length, text.substr(0, length)};
  }

  std::size_t end_of_leading_spaces(std::string_view input) const {
    std::size_t position = 0;
    while (position < input.size()) {
      const auto [length, becomes] = start_of(input.substr(position));
      if (becomes != " ") {
        break;
      }
      position += length;
    }
    return position;
  }

  void append_rest(const AlignedText& text, std::size_t position, AlignedText& out) const {
    const auto input = text.text();
    bool behind_space = removes_;
    while (position < input.size()) {
      auto [length, becomes] = start_of(input.substr(position));
      const auto where = text.original(position, position + length);
      while (behind_space && becomes.starts_with(' ')) {
        becomes.remove_prefix(1);
      }
      for (std::size_t i = 0; i < becomes.size();) {
        const auto value = next_character(becomes, i);
        out.put(value == U' ' ? space_ : value, where);
      }
      AlignedText::check_growth(out.size(), 4 * input.size());  // a mark has three bytes for one of a space
      behind_space = removes_ && (becomes.empty() ? behind_space : becomes.ends_with(' '));
      position += length;
    }
  }

  AlignedText without_trailing_spaces(AlignedText text) const {
    auto end = text.size();
    while (text.text().substr(0, end).ends_with(space_text_)) {
      end -= space_text_.size();
    }
    return end == text.size() ? std::move(text) : text.part(0, end);
  }

  PrefixTable user_defined_;
  CharacterMap map_;
  PieceFile::Marks marks_;
  bool adds_mark_, removes_;
  char32_t space_;
  std::string space_text_;
};

constexpr std::size_t longest_looked_up = 5;  // bytes of a cluster

std::string decode_base64(const base::JsonValue& field) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto text = field.text();
  field.refuse_if(text.size() % 4 != 0, std::to_string(text.size()) + " characters",
                  "base64 has four for each three bytes");
  for (int i = 0; i < 2 && text.ends_with('='); ++i) {
    text.pop_back();
  }
  std::string bytes;
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char digit : text) {
    const auto value = alphabet.find(digit);
    if (value == std::string_view::npos) {
      field.refuse("a character that is no base64 digit", "the character map is written in base64");
    }
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

class Precompiled {
 public:
  explicit Precompiled(const base::JsonValue& field)
      : map_(decode_base64(field["precompiled_charsmap"]), field.file() + ":" + field.path()) {}

  void operator()(AlignedText& text) const {
    const auto input = text.text();
    std::vector<Change> changes;
    changes.reserve(input.size());
    bool changed = false;
    for (std::size_t begin = 0; begin < input.size();) {
      const auto end = end_of_cluster(input, begin);
      changed = append(input.substr(begin, end - begin), changes) || changed;
      AlignedText::check_growth(changes.size(), input.size());
      begin = end;
    }
    if (changed) {
      text.transform(changes);
    }
  }

 private:
  bool append(std::string_view cluster, std::vector<Change>& changes) const {
    if (cluster.size() <= longest_looked_up && replace(cluster, changes)) {
      return true;
    }
    bool changed = false;
    for (std::size_t i = 0; i < cluster.size();) {
      const auto begin = i;
      const auto value = next_character(cluster, i);
      if (replace(cluster.substr(begin, i - begin), changes)) {
        changed = true;
      } else {
        changes.push_back({value, 0});
      }
    }
    return changed;
  }

  // `part` as a whole becomes what its shortest known start becomes.
  bool replace(std::string_view part, std::vector<Change>& changes) const {
    const auto found = map_.find(part, CharacterMap::Match::shortest);
    if (found.length == 0) {
      return false;
    }
    const auto before = changes.size();
    for (std::size_t i = 0; i < found.text.size();) {
      changes.push_back({next_character(found.text, i), 0});
    }
    const auto added =
        static_cast<std::ptrdiff_t>(changes.size() - before) - static_cast<std::ptrdiff_t>(count_characters(part));
    for (std::ptrdiff_t i = 0; i < added; ++i) {
      changes[changes.size() - 1 - static_cast<std::size_t>(i)].change = 1;
    }
    if (added < 0 && !changes.empty()) {
      changes.back().change += static_cast<std::int32_t>(added);
    }
    return true;
  }

  CharacterMap map_;
};

}  // namespace

PrefixTable user_defined_pieces(const PieceFile& model) {
  std::vector<std::pair<std::string_view, std::int32_t>> texts;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].kind == Piece::Kind::user_defined) {
      texts.emplace_back(model.pieces[id].text, static_cast<std::int32_t>(id));
    }
  }
  return PrefixTable(texts);
}

Normalizer make_piece_normalizer(const PieceFile& model, const std::string& file) {
  return PieceNormalizer(model, file);
}

Normalizer read_precompiled(const base::JsonValue& field) { return Precompiled(field); }

}  // namespace stereosweep::tokenizer
