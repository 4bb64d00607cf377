#include "answers/text/Language.hpp"

#include <algorithm>
#include <string_view>

#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

constexpr std::string_view frequent_words[] = {
    "the",   "of",     "and",    "to",     "in",    "us",   "is",     "are",   "was",     "were",   "be",     "been",   "it",    "it's",
    "its",   "this",   "that",   "these",  "those",  "they",  "them",    "their",  "there",  "i",      "i'd",   "i'm",
    "i'll",  "we",     "my",     "you",    "your",   "our",   "he",      "his",    "she",    "her",    "not",   "no",
    "yes",   "as",     "at",     "by",     "for",    "from",  "with",    "on",     "or",     "but",    "if",    "so",
    "then",  "than",   "very",   "most",   "many",   "some",  "would",   "could",  "should", "can",    "will",  "may",
    "might", "do",     "does",   "don't",  "has",    "have",  "had",     "people", "group",  "groups", "rate",  "rating",
    "score", "answer", "say",    "think",  "give",   "because", "about", "who",    "how",    "which",  "what",  "when",
    "more",  "less",   "all",    "also",   "just",   "only",  "one",     "other",  "others", "out",    "into",  "up",
    "over",  "such",   "while",  "reason", "a",      "an",    "somewhere", "around", "maybe", "scale", "overall", "seen",
    "final", "choice", "number", "points", "stars",  "however", "cannot", "can't",  "both",  "low",    "high",  "media"};
constexpr std::string_view endings[] = {"ing", "ly", "ness", "ful"};

}  // namespace

bool is_frequent(const Token& word) {
  const auto ends = [&](std::string_view end) { return word.text.size() > end.size() + 2 && word.text.ends_with(end); };
  return base::contains(frequent_words, word.text) || std::ranges::any_of(endings, ends);
}

Language language_of(std::span<const Token> tokens) {
  constexpr std::size_t least_words = 3;
  constexpr std::size_t looked_at = 400;
  constexpr std::size_t known_share = 5;  // one in so many
  std::size_t num_words = 0;
  std::size_t num_known = 0;
  for (const auto& token : tokens.first(std::min(tokens.size(), looked_at))) {
    num_words += token.is_word() ? 1 : 0;
    num_known += token.is_word() && is_frequent(token) ? 1 : 0;
  }
  return num_words < least_words || num_known * known_share >= num_words ? Language::english : Language::unknown;
}

}  // namespace stereosweep::answers
