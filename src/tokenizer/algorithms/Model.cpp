#include "tokenizer/algorithms/Model.hpp"

#include <algorithm>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Kinds.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

constexpr std::uint64_t max_id = std::uint64_t{1} << 22;  // the largest vocabularies have a quarter of a million

// Longest match first, from the left; a word that cannot be spelled to its end is one unknown token.
class WordPiece final : public Model {
 public:
  explicit WordPiece(const base::JsonValue& field)
      : Model(Vocabulary(field["vocab"])), prefix_(field["continuing_subword_prefix"].text_or("##")) {
    const auto& unknown = traits_.unknown_token.emplace(field["unk_token"].text_or("[UNK]"));
    traits_.continuation_prefix = prefix_;
    if (const auto most = field["max_input_chars_per_word"]) {
      max_characters_ = most.whole<std::size_t>();
    }
    const auto id = vocabulary().find(unknown);
    field.refuse_if(!id, "the unknown token " + base::json_quote(unknown) + " is not in \"vocab\"",
                    "words that cannot be spelled need it");
    unknown_id_ = *id;
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    const auto before = tokens.size();
    if (count_characters(piece) <= max_characters_ && spell(piece, tokens)) {
      return;
    }
    tokens.resize(before);
    tokens.push_back({unknown_id_, static_cast<std::uint32_t>(piece.size())});
  }

 private:
  bool spell(std::string_view piece, std::vector<PieceToken>& tokens) const {
    std::string candidate;
    for (std::size_t begin = 0; begin < piece.size();) {
      candidate.assign(begin > 0 ? prefix_ : std::string());
      const auto prefix = candidate.size();
      candidate.append(piece.substr(begin, vocabulary().longest_token()));
      std::optional<TokenId> id;
      while (candidate.size() > prefix && !(id = vocabulary().find(candidate))) {
        candidate.resize(previous_character(candidate, candidate.size()));
      }
      if (!id || candidate.size() <= prefix) {
        return false;
      }
      tokens.push_back({*id, static_cast<std::uint32_t>(candidate.size() - prefix)});
      begin += candidate.size() - prefix;
    }
    return true;
  }

  std::string prefix_;
  std::size_t max_characters_ = 100;
  TokenId unknown_id_ = 0;
};

// A piece is a token or unknown.
class WordLevel final : public Model {
 public:
  explicit WordLevel(const base::JsonValue& field) : Model(Vocabulary(field["vocab"])) {
    traits_.unknown_token = field["unk_token"].text_or("<unk>");
  }

  void tokenize(std::string_view piece, std::vector<PieceToken>& tokens) const override {
    const auto id = vocabulary().find(piece);
    tokens.push_back({id ? *id : unknown_id("a word"), static_cast<std::uint32_t>(piece.size())});
  }
};

}  // namespace

Vocabulary::Vocabulary(const base::JsonValue& field) {
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

std::size_t Model::end_of_part(std::string_view piece, std::size_t from) const {
  auto end = traits_.cuts_at_marks ? piece.find(space_mark, from + 1) : piece.size();
  while (end < piece.size() && piece.substr(from, end - from).ends_with(space_mark)) {
    end = piece.find(space_mark, end + space_mark.size());
  }
  return std::min(end, piece.size());
}

TokenId Model::unknown_id(std::string_view part) const {
  const auto id = vocabulary_.find(*traits_.unknown_token);
  if (!id) {
    base::refuse("the text has " + std::string(part) + " without token",
                 "the tokenizer's unk_token " + base::json_quote(*traits_.unknown_token) + " is not in its vocabulary");
  }
  return *id;
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

std::unique_ptr<Model> read_model(const base::JsonValue& field) {
  using Made = std::unique_ptr<Model>;
  static constexpr Kind<Made> kinds[] = {
      {"WordPiece", [](const base::JsonValue& model) -> Made { return std::make_unique<WordPiece>(model); }},
      {"BPE", make_byte_pairs},
      {"Unigram", make_unigram},
      {"WordLevel", [](const base::JsonValue& model) -> Made { return std::make_unique<WordLevel>(model); }}};
  const bool is_named = !field["type"].text_or("").empty();
  if (!is_named && field["merges"]) {
    return make_byte_pairs(field);
  }
  if (!is_named && field["continuing_subword_prefix"]) {
    return std::make_unique<WordPiece>(field);
  }
  return read_kind(field, kinds);
}

}  // namespace stereosweep::tokenizer
