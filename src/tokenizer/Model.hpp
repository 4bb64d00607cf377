// The "model" of a tokenizer file: a piece of text -> tokens of the vocabulary.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/Query.hpp"
#include "tokenizer/Field.hpp"

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
  explicit Vocabulary(const Field& field);
  std::optional<TokenId> find(std::string_view token) const;
  /// Nothing for ids without a token.
  std::optional<std::string_view> token(TokenId id) const;
  std::size_t num_tokens() const { return ids_.size(); }
  /// One more than the largest id.
  std::size_t size() const { return tokens_.size(); }
  std::size_t longest_token() const { return longest_; }  ///< bytes

 private:
  TextMap<TokenId> ids_;
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
  explicit Model(const Field& field) : vocabulary_(field.at("vocab")) {}
  virtual ~Model() = default;
  /// Appends the tokens of a piece that is not empty.
  virtual void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const = 0;
  /// The token for what the vocabulary cannot spell, if the file names one.
  virtual std::optional<std::string> unknown_token() const = 0;
  /// What a token within a word starts with ("##"); nothing for byte-level models.
  virtual std::optional<std::string> continuation_prefix() const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

/// WordPiece (schuster2012, longest match first) or BPE (sennrich2016), also from files without "type".
std::unique_ptr<Model> read_model(const Field& field);
std::unique_ptr<Model> make_word_piece(const Field& field);
std::unique_ptr<Model> make_byte_pairs(const Field& field);

}  // namespace stereosweep::tokenizer
