#include "answers/refusal/Refusal.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "answers/refusal/RefusalPhrases.hpp"

namespace stereosweep::answers {
namespace {

using Slot = std::vector<std::string_view>;  // empty: "*"

struct Pattern {
  std::vector<Slot> slots;
  RefusalKind kind;
};

Pattern compiled(std::string_view text, RefusalKind kind) {
  Pattern pattern{{}, kind};
  for (const auto slot : parts_between(text, " ")) {
    pattern.slots.push_back(slot == "*" ? Slot() : parts_between(slot, "|"));
  }
  return pattern;
}

/// Patterns by their first words.
using PatternTable = std::unordered_map<std::string_view, std::vector<Pattern>>;

std::span<const std::string_view> phrases_of(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::declines:
      return declining;
    case RefusalKind::disclaims:
      return disclaiming;
    case RefusalKind::evades:
      break;
  }
  return evading;
}

const PatternTable& refusal_patterns() {
  static const PatternTable table = [] {
    PatternTable made;
    for (const auto kind : {RefusalKind::declines, RefusalKind::disclaims, RefusalKind::evades}) {
      for (const auto text : phrases_of(kind)) {
        const auto pattern = compiled(text, kind);
        for (const auto first : pattern.slots.front()) {
          made[first].push_back(pattern);
        }
      }
    }
    return made;
  }();
  return table;
}

/// A word without contraction, and the token that it is a part of. A sentence's end is ".".
struct PlainWord {
  std::string_view text;
  std::size_t token;
};

void append_words(std::vector<PlainWord>& words, const Token& token, std::size_t place) {
  static const std::unordered_map<std::string_view, std::pair<std::string_view, std::string_view>> whole = {
      {"cannot", {"can", "not"}}, {"can't", {"can", "not"}}, {"cant", {"can", "not"}},     {"won't", {"will", "not"}},
      {"wont", {"will", "not"}},  {"dont", {"do", "not"}},   {"shan't", {"shall", "not"}}, {"doesn't", {"do", "not"}},
      {"does", {"do", ""}},       {"don't", {"do", "not"}},  {"let's", {"let", "us"}}};
  static constexpr std::pair<std::string_view, std::string_view> ends[] = {
      {"n't", "not"}, {"'m", "am"}, {"'re", "are"}, {"'d", "would"}, {"'ll", "will"}, {"'ve", "have"}, {"'s", "is"}};
  if (const auto found = whole.find(token.text); found != whole.end()) {
    words.push_back({found->second.first, place});
    if (!found->second.second.empty()) {
      words.push_back({found->second.second, place});
    }
    return;
  }
  for (const auto& [end, meaning] : ends) {
    if (token.text.ends_with(end) && token.text.size() > end.size()) {
      words.push_back({token.text.substr(0, token.text.size() - end.size()), place});
      words.push_back({meaning, place});
      return;
    }
  }
  words.push_back({token.text, place});
}

/// The end of the pattern's match from `at` on with the slots from `slot` on.
std::optional<std::size_t> match_end(std::span<const PlainWord> words, std::size_t at, const Pattern& pattern,
                                     std::size_t slot) {
  constexpr std::size_t longest_gap = 4;
  for (; slot < pattern.slots.size(); ++slot, ++at) {
    if (pattern.slots[slot].empty()) {
      for (std::size_t gap = 0; gap <= longest_gap; ++gap) {
        if (const auto end = match_end(words, at + gap, pattern, slot + 1)) {
          return end;
        }
        if (at + gap >= words.size() || words[at + gap].text == ".") {
          break;
        }
      }
      return std::nullopt;
    }
    if (at >= words.size() || std::ranges::find(pattern.slots[slot], words[at].text) == pattern.slots[slot].end()) {
      return std::nullopt;
    }
  }
  return at;
}

template <class Counts>
bool has_any(std::string_view text, const Counts& counts) {
  constexpr std::size_t looked_at = 20'000;  // bytes at each end
  if (text.size() > 2 * looked_at) {
    return has_any(text.substr(0, looked_at), counts) || has_any(text.substr(text.size() - looked_at), counts);
  }
  return std::ranges::any_of(find_refusals(TokenizedText(text).tokens()), counts);
}

}  // namespace

std::vector<Refusal> find_refusals(std::span<const Token> tokens) {
  std::vector<PlainWord> words;
  words.reserve(tokens.size());
  for (std::size_t place = 0; place < tokens.size(); ++place) {
    if (tokens[place].is_word()) {
      append_words(words, tokens[place], place);
    } else if (ends_sentence(tokens[place])) {
      words.push_back({".", place});
    }
  }
  std::vector<Refusal> found;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto patterns = refusal_patterns().find(words[at].text);
    if (patterns == refusal_patterns().end()) {
      continue;
    }
    for (const auto& pattern : patterns->second) {
      if (const auto end = match_end(words, at, pattern, 0)) {
        found.push_back({words[at].token, words[*end - 1].token + 1, pattern.kind});
      }
    }
  }
  return found;
}

std::vector<Refusal> find_declining(std::span<const Token> tokens) {
  auto found = find_refusals(tokens);
  std::erase_if(found, [](const Refusal& one) { return one.kind != RefusalKind::declines; });
  return found;
}

bool has_refusal(std::string_view text) {
  return has_any(text, [](const Refusal& one) { return one.kind != RefusalKind::evades; });
}

bool has_evasion(std::string_view text) {
  return has_any(text, [](const Refusal& one) { return one.kind == RefusalKind::evades; });
}

}  // namespace stereosweep::answers
