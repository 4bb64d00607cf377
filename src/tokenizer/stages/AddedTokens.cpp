#include "tokenizer/stages/AddedTokens.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

bool is_word(std::string_view text, std::size_t position) { return is(next_character(text, position), classes::word); }

}  // namespace

AddedToken read_added_token(const base::JsonValue& field, AddedToken token) {
  token.content = field["content"].text();
  if (field.object().contains("id")) {
    field["id"].whole<std::size_t>();  // counted as in the published reader; without a number the file is damaged
  }
  token.single_word = field["single_word"].flag_or(token.single_word);
  token.strip_left = field["lstrip"].flag_or(token.strip_left);
  token.strip_right = field["rstrip"].flag_or(token.strip_right);
  token.special = field["special"].flag_or(token.special);
  token.normalized = field["normalized"].flag_or(!token.special);
  return token;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Vocabulary& vocabulary, const Normalizer& normalizer,
                         const std::string& file)
    : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.content.empty(); });
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    auto& token = tokens_[i];
    token.id = id_for(token.content, vocabulary);
    token.shown = token.content;
    ids_[token.content] = token.id;
    by_id_[token.id] = i;
    size_ = std::max(size_, static_cast<std::size_t>(token.id) + 1);
    if (token.special) {
      specials_[token.content] = true;
    }
  }
  // Special ones first: of two with the same pattern the first counts.
  std::map<std::string, std::int32_t> raw, normalized;
  for (const bool special : {true, false}) {
    for (auto& token : tokens_) {
      if (token.special != special) {
        continue;
      }
      if (token.normalized && normalizer) {
        AlignedText text(token.content, 0);
        normalizer(text);
        base::refuse_if(text.size() == 0,
                        base::Place{file, 0, "added_tokens"}.text() + ": the token " + base::json_quote(token.content) +
                            " is normalized to nothing",
                        "it would be found everywhere");
        token.shown = text.text();
      }
      // the last token with this id decides the flags
      (token.normalized ? normalized : raw).emplace(token.shown, static_cast<std::int32_t>(by_id_.at(token.id)));
    }
  }
  raw_ = PrefixTable({raw.begin(), raw.end()});
  normalized_ = PrefixTable({normalized.begin(), normalized.end()});
}

TokenId AddedTokens::id_for(const std::string& content, const Vocabulary& vocabulary) const {
  if (const auto it = ids_.find(content); it != ids_.end()) {
    return it->second;
  }
  if (const auto id = vocabulary.find(content)) {
    return *id;
  }
  return static_cast<TokenId>(std::max(vocabulary.num_tokens(), size_));
}

void AddedTokens::find(std::string_view text, Phase phase, std::vector<AddedMatch>& parts) const {
  const auto& patterns = phase == Phase::raw ? raw_ : normalized_;
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size() && !patterns.empty();) {
    std::size_t length = 0;
    const AddedToken* token = nullptr;
    patterns.visit_prefixes(text.substr(i), [&](std::size_t found, std::int32_t index) {
      length = found;
      token = &tokens_[static_cast<std::size_t>(index)];
    });
    if (token == nullptr) {
      ++i;
      continue;
    }
    auto begin = i;
    auto end = i + length;
    i = end;
    if (token->single_word &&
        ((begin > 0 && is_word(text, previous_character(text, begin))) || (end < text.size() && is_word(text, end)))) {
      continue;
    }
    if (token->strip_left) {
      begin = std::max(start_of_trailing(text.substr(0, begin)), done);
    }
    if (token->strip_right) {
      end += end_of_leading(text.substr(end));
    }
    if (begin >= end) {  // white space that the token before has taken, and that this one may begin behind
      continue;
    }
    if (done < begin) {
      parts.push_back({done, begin, nullptr});
    }
    parts.push_back({begin, end, token});
    done = end;
  }
  if (done < text.size()) {
    parts.push_back({done, text.size(), nullptr});
  }
}

const AddedToken* AddedTokens::by_id(TokenId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &tokens_[it->second];
}

std::optional<TokenId> AddedTokens::find_id(std::string_view content) const {
  const auto it = ids_.find(content);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace stereosweep::tokenizer
