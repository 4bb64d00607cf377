// What SentencePiece does to a text before it looks for pieces: its character map, white space, "▁" for spaces.
#pragma once

#include <memory>

#include "tokenizer/algorithms/ByteTrie.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/Normalizer.hpp"

namespace stereosweep::tokenizer {

/// "▁", which stands for a space.
constexpr std::string_view space_mark = "\xE2\x96\x81";

/// The user-defined pieces of a model: they are found in the text as it is and stay whole.
ByteTrie user_defined_pieces(const PieceFile& model);

/// `file` names the model in errors. The one more "▁" comes at the start of the whole text only: a part behind an
/// added token has none.
std::unique_ptr<Normalizer> make_piece_normalizer(const PieceFile& model, const std::string& file);

}  // namespace stereosweep::tokenizer
