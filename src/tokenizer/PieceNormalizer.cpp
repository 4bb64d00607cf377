#include "tokenizer/PieceNormalizer.hpp"

#include "base/Text.hpp"
#include "tokenizer/CharacterMap.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr char32_t mark_character = U'\u2581';

class PieceNormalizer final : public Normalizer {
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

  void apply(AlignedText& text) const override {
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
    if (const auto found = map_.find(text); found.length > 0) {
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

  ByteTrie user_defined_;
  CharacterMap map_;
  PieceFile::Marks marks_;
  bool adds_mark_, removes_;
  char32_t space_;
  std::string space_text_;
};

}  // namespace

ByteTrie user_defined_pieces(const PieceFile& model) {
  std::vector<std::pair<std::string_view, std::int32_t>> texts;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].kind == Piece::Kind::user_defined) {
      texts.emplace_back(model.pieces[id].text, static_cast<std::int32_t>(id));
    }
  }
  return ByteTrie(std::move(texts));
}

std::unique_ptr<Normalizer> make_piece_normalizer(const PieceFile& model, const std::string& file) {
  return std::make_unique<PieceNormalizer>(model, file);
}

}  // namespace stereosweep::tokenizer
