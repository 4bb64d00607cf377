// The "model" of a tokenizer file: a piece of text -> tokens of the vocabulary.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/JsonValue.hpp"
#include "query/Query.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"

namespace stereosweep::tokenizer {

using query::TokenId;

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

class Vocabulary {
 public:
  /// Throws InputError for ids that are no whole number, too large or given twice.
  explicit Vocabulary(const base::JsonValue& field);
  /// Token i has id i; no token twice.
  explicit Vocabulary(std::span<const std::string> tokens);
  std::optional<TokenId> find(std::string_view token) const;
  /// Nothing for ids without a token.
  std::optional<std::string_view> token(TokenId id) const;
  std::size_t num_tokens() const { return ids_.size(); }
  /// One more than the largest id.
  std::size_t size() const { return tokens_.size(); }
  std::size_t longest_token() const { return longest_; }  ///< bytes

 private:
  TextMap<TokenId> ids_;  // its keys stay in place when the whole moves
  std::vector<std::optional<std::string_view>> tokens_;
  std::size_t longest_ = 0;
};

/// Tokens follow each other from the piece's first byte on, each `length` bytes long.
struct PieceToken {
  TokenId id = 0;
  std::uint32_t length = 0;
};

class Model {
 public:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;
  /// Appends the tokens of a piece that is not empty.
  virtual void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const = 0;
  /// Bytes; longer pieces do not come again, and are not remembered.
  static constexpr std::size_t max_remembered = 64;
  /// The end of the part of a piece that begins at `from` and can be asked alone: the same tokens come out, and short
  /// parts can be remembered.
  std::size_t end_of_part(std::string_view piece, std::size_t from) const;
  struct Traits {
    /// The token for what the vocabulary cannot spell, if the file names one.
    std::optional<std::string> unknown_token;
    /// What a token within a word starts with ("##"); nothing for byte-level models.
    std::optional<std::string> continuation_prefix;
    /// Whether a piece may be cut before each "▁" that follows another character, and still gives the same tokens.
    bool cuts_at_marks = false;
    /// The id whose tokens stand for the text that they replace, white space at its ends included (offsets are trimmed
    /// by it); nothing where they stand for the unknown token's own text.
    std::optional<TokenId> unknown_keeps_text;
  };
  const Traits& traits() const { return traits_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  /// Throws InputError if the vocabulary lacks the unknown token; `part` of a text needs it: "a word".
  TokenId unknown_id(std::string_view part) const;
  Traits traits_;

 private:
  Vocabulary vocabulary_;
};

/// The 256 tokens "<0x00>" to "<0xFF>" that spell what a vocabulary lacks; nothing where one is missing.
class ByteTokens {
 public:
  explicit ByteTokens(const Vocabulary& vocabulary);
  /// Appends a token for each byte; false, and nothing appended, unless all of these are there.
  bool spell(std::string_view text, std::vector<PieceToken>& tokens) const;

 private:
  std::array<std::optional<TokenId>, 256> ids_;
};

/// WordPiece (schuster2012, longest match first) or BPE (sennrich2016), also from files without "type", or Unigram
/// (kudo2018).
std::unique_ptr<Model> read_model(const base::JsonValue& field);
std::unique_ptr<Model> make_byte_pairs(const base::JsonValue& field);
std::unique_ptr<Model> make_unigram(const base::JsonValue& field);
/// The model of a tokenizer.model: pairs by score, or Unigram.
std::unique_ptr<Model> make_piece_model(const PieceFile& file);
std::unique_ptr<Model> make_piece_unigram(const PieceFile& file);

}  // namespace stereosweep::tokenizer
