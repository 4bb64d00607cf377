#include "tokenizer/Model.hpp"

#include <algorithm>

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

std::optional<TokenId> Vocabulary::find(std::string_view token) const {
  const auto it = ids_.find(token);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::string_view> Vocabulary::token(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < tokens_.size() ? tokens_[static_cast<std::size_t>(id)]
                                                                  : std::nullopt;
}

std::unique_ptr<Model> read_model(const Field& field) {
  const auto type = field.type();
  if (type == "WordPiece" || (type.empty() && !field.find("merges") && field.find("continuing_subword_prefix"))) {
    return make_word_piece(field);
  }
  if (type == "BPE" || (type.empty() && field.find("merges"))) {
    return make_byte_pairs(field);
  }
  field.refuse_type("WordPiece, BPE");
}

}  // namespace stereosweep::tokenizer
