#include "tokenizer/Model.hpp"

#include <algorithm>

#include "base/Check.hpp"
#include "base/Text.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::uint64_t max_id = std::uint64_t{1} << 22;  // the largest vocabularies have a quarter of a million

}  // namespace

Vocabulary::Vocabulary(const Field& field) {
  const auto& json = field.object();
  ids_.reserve(json.size());
  for (const auto& [token, id] : json.items()) {
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= max_id) {
      field.refuse("the id of " + base::json_quote(token) + " is " + id.dump(),
                   "a whole number below " + std::to_string(max_id) + " is needed");
    }
    const auto value = id.get<TokenId>();
    const auto index = static_cast<std::size_t>(value);
    if (index >= tokens_.size()) {
      tokens_.resize(index + 1);
    }
    if (tokens_[index]) {
      field.refuse("id " + std::to_string(value) + " stands for " + base::json_quote(*tokens_[index]) + " and " +
                       base::json_quote(token),
                   "an id has one token");
    }
    tokens_[index] = ids_.emplace(token, value).first->first;
    longest_ = std::max(longest_, token.size());
  }
}

Vocabulary::Vocabulary(std::span<const std::string> tokens) {
  ids_.reserve(tokens.size());
  tokens_.reserve(tokens.size());
  for (const auto& token : tokens) {
    const auto [it, is_new] = ids_.emplace(token, static_cast<TokenId>(tokens_.size()));
    STEREOSWEEP_ASSERT(is_new, "a token has one id");
    tokens_.emplace_back(it->first);
    longest_ = std::max(longest_, token.size());
  }
}

std::optional<TokenId> Vocabulary::find(std::string_view token) const {
  const auto it = ids_.find(token);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::string_view> Vocabulary::token(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < tokens_.size() ? tokens_[static_cast<std::size_t>(id)]
                                                                  : std::nullopt;
}

ByteTokens::ByteTokens(const Vocabulary& vocabulary) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (std::size_t byte = 0; byte < ids_.size(); ++byte) {
    ids_[byte] = vocabulary.find(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">");
  }
}

bool ByteTokens::spell(std::string_view text, std::vector<PieceToken>& tokens) const {
  const auto before = tokens.size();
  for (const char byte : text) {
    const auto id = ids_[static_cast<unsigned char>(byte)];
    if (!id) {
      tokens.resize(before);
      return false;
    }
    tokens.push_back({*id, 1});
  }
  return true;
}

std::unique_ptr<Model> read_model(const Field& field) {
  const auto type = field.type();
  if (type == "WordPiece" || (type.empty() && !field.find("merges") && field.find("continuing_subword_prefix"))) {
    return make_word_piece(field);
  }
  if (type == "BPE" || (type.empty() && field.find("merges"))) {
    return make_byte_pairs(field);
  }
  if (type == "Unigram") {
    return make_unigram(field);
  }
  if (type == "WordLevel") {
    return make_word_level(field);
  }
  field.refuse_type("WordPiece, BPE, Unigram, WordLevel");
}

}  // namespace stereosweep::tokenizer
