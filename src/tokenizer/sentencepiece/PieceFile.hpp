// A SentencePiece model file (tokenizer.model): its pieces with their scores; and what SentencePiece does to a text
// before it looks for pieces: its character map, white space, "▁" for spaces.
// Format: kudo2018, the published sentencepiece_model.proto.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/algorithms/PrefixTable.hpp"
#include "tokenizer/stages/Stages.hpp"

namespace stereosweep::tokenizer {

struct Piece {
  enum class Kind : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };
  std::string text;
  double score = 0;
  Kind kind = Kind::normal;
  /// Whether texts are split into it (all but the unknown piece, control pieces and bytes).
  bool is_plain() const { return kind == Kind::normal || kind == Kind::user_defined || kind == Kind::unused; }
};

struct PieceFile {
  enum class Algorithm : std::uint8_t { unigram = 1, pairs = 2 };
  enum class Marks : std::uint8_t { before, behind };
  Algorithm algorithm = Algorithm::unigram;
  std::vector<Piece> pieces;  // [id]
  std::size_t unknown = 0;    ///< id
  bool byte_fallback = false;
  Marks marks = Marks::before;  ///< where a word has its "▁"
  std::string begin = "<s>", end = "</s>";
  std::string character_map;  ///< compiled; empty: texts stay as they are
  bool adds_mark = true;      ///< one more "▁" at the text's start (or end)
  bool removes_extra_spaces = true;
  bool escapes_spaces = true;
  std::vector<std::string> texts() const;  ///< of the pieces
};

/// Throws InputError naming file, message and field for what is malformed or not supported (word and character models,
/// normalization on the way back).
PieceFile read_piece_file(std::string_view content, const std::string& file);

/// "▁", which stands for a space.
constexpr std::string_view space_mark = "\xE2\x96\x81";

/// The user-defined pieces of a model: they are found in the text as it is and stay whole.
PrefixTable user_defined_pieces(const PieceFile& model);

/// `file` names the model in errors. The one more "▁" comes at the start of the whole text only: a part behind an
/// added token has none.
Normalizer make_piece_normalizer(const PieceFile& model, const std::string& file);

/// "Precompiled" of tokenizer files: SentencePiece's character map, applied as the tokenizers wheel does. It looks up
/// grapheme clusters and takes the shortest entry that one starts with, where SentencePiece takes the longest anywhere.
Normalizer read_precompiled(const base::JsonValue& field);

}  // namespace stereosweep::tokenizer
