#include "answers/text/Names.hpp"

#include <string_view>

#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

/// Where the words end that begin at `at`; nothing: others stand there.
std::optional<std::size_t> words_end(std::span<const Token> tokens, std::size_t at, const NameWords& words,
                                     NameForm form) {
  static constexpr std::string_view joints[] = {"-", "_", "/", "(", ",", "&"};
  const auto first = at;
  for (const auto& word : words) {
    while (at > first && at < tokens.size() && base::contains(joints, tokens[at].text)) {
      ++at;
    }
    const bool is_here = at < tokens.size() &&
                         (tokens[at].is(word) || (form == NameForm::same_stem && is_same_stem(tokens[at].text, word)));
    if (!is_here) {
      return std::nullopt;
    }
    ++at;
  }
  return at;
}

}  // namespace

std::vector<NameWords> words_of_names(std::span<const std::string> names) {
  std::vector<NameWords> all;
  for (const auto& name : names) {
    all.emplace_back();
    const TokenizedText text(plain_text(name));
    for (const auto& token : text.tokens()) {
      if (token.is_word() || token.is_number()) {
        all.back().emplace_back(token.text);
      }
    }
  }
  return all;
}

std::optional<NameMention> name_at(std::span<const Token> tokens, std::size_t at, std::span<const NameWords> names,
                                   NameForm form) {
  std::optional<NameMention> best;
  for (std::size_t name = 0; name < names.size(); ++name) {
    const auto last = words_end(tokens, at, names[name], form);
    if (last && *last > (best ? best->last : at)) {
      best = {name, at, *last};
    }
  }
  return best;
}

}  // namespace stereosweep::answers
