// The subword ids of a word where it stands: found in the text, never by tokenizing the word alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::probes::association {

/// Text around the place of a word.
struct Surroundings {
  std::string before;
  std::string after;
  bool operator==(const Surroundings&) const = default;
};

enum class PieceStatus : std::uint8_t {
  ok,
  unknown,  ///< a piece is the unknown token
  joins,    ///< the tokens around the word are not those around a mask: a token covers the word and a neighbour
  none,     ///< the tokenizer makes nothing of the word
};

struct WordPieces {
  std::vector<query::TokenId> ids;
  PieceStatus status = PieceStatus::ok;
  bool operator==(const WordPieces&) const = default;
};

/// Finds words between `surroundings` (copied). `tokenizer` must outlive it and have a mask token.
class WordLocator {
 public:
  WordLocator(const tokenizer::Tokenizer& tokenizer, Surroundings surroundings);
  WordPieces locate(std::string_view word) const;
  /// Tokens of a text before, over and after a span.
  struct Parts {
    std::vector<query::TokenId> before;
    std::vector<query::TokenId> inside;
    std::vector<query::TokenId> after;
  };

 private:
  void take_blanks(const tokenizer::Encoding& encoding, Parts& parts) const;

  const tokenizer::Tokenizer& tokenizer_;
  Surroundings surroundings_;
  std::vector<query::TokenId> ids_before_;  ///< around one mask
  std::vector<query::TokenId> ids_after_;
};

/// The part of the surroundings that decides a word's ids where tokenizers split at white space (WordPiece, byte-level
/// BPE): what is glued to the word, the white space before it and the one character (or mask token) before that.
Surroundings neighbourhood(const Surroundings& surroundings, std::string_view mask_token);

}  // namespace stereosweep::probes::association
