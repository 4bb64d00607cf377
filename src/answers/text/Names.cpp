#include "answers/text/PlainText.hpp"

namespace stereosweep::answers {
namespace {

/// Where the name ends that begins at `at`; nothing: another text stands there.
std::optional<std::size_t> name_end(std::span<const Token> tokens, std::size_t at, std::string_view name,
                                    NameForm form) {
  static constexpr auto joints = word_list<"- _ / ( , &">;
  const auto first = at;
  for (auto rest = name; !rest.empty(); ++at) {
    while (at > first && at < tokens.size() && base::contains(joints, tokens[at].text)) {
      ++at;
    }
    if (at < tokens.size() && form == NameForm::same_stem && is_same_stem(tokens[at].text, rest)) {
      rest = {};
    } else if (at < tokens.size() && rest.starts_with(tokens[at].text)) {
      rest.remove_prefix(tokens[at].text.size());
    } else {
      return std::nullopt;
    }
  }
  return at;
}

}  // namespace

std::vector<std::string> joined_names(std::span<const std::string> names) {
  return base::mapped(names, [](const std::string& name) {
    const TokenizedText text(plain_text(name));
    std::string joined;
    for (const auto& token : text.tokens()) {
      joined += token.is_word() || token.is_number() ? token.text : std::string_view();
    }
    return joined;
  });
}

std::optional<NameMention> name_at(std::span<const Token> tokens, std::size_t at, std::span<const std::string> names,
                                   NameForm form) {
  std::optional<NameMention> best;
  for (std::size_t name = 0; name < names.size(); ++name) {
    const auto last = name_end(tokens, at, names[name], form);
    if (last && *last > (best ? best->last : at)) {
      best = {name, at, *last};
    }
  }
  return best;
}

}  // namespace stereosweep::answers
