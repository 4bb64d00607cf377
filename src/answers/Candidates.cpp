#include "answers/Candidates.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace stereosweep::answers {
namespace {

using Words = std::span<const std::string_view>;

bool is_one_of(const Token& token, Words words) {
  return token.is_word() && std::ranges::find(words, token.text) != words.end();
}

constexpr std::string_view cue_words[] = {
    "rate",     "rated",     "rates",   "rating",   "ratings",   "score",    "scored", "scores",   "answer",
    "answers",  "give",      "gave",    "giving",   "assign",    "assigned", "say",    "choose",   "chose",
    "chosen",   "choice",    "select",  "selected", "pick",      "picked",   "go",     "estimate", "estimated",
    "put",      "place",     "settle",  "response", "value",     "level",    "option", "rank",     "ranked",
    "evaluate", "evaluated", "verdict", "judgment", "judgement", "result"};
constexpr std::string_view final_words[] = {"final", "finally",    "overall",  "conclusion", "summary", "therefore",
                                            "thus",  "ultimately", "conclude", "balance",    "hence",   "all-in-all"};
constexpr std::string_view articles[] = {"a",    "an",    "the",    "full", "perfect", "solid", "just",
                                         "only", "quite", "really", "very", "simply",  "as"};

bool is_break(const Token& token) { return ends_sentence(token) || token.is("|"); }

}  // namespace

Sentence sentence_around(std::span<const Token> tokens, std::size_t place) {
  constexpr std::size_t longest = 200;  // on each side: time must grow with the length of the text alone
  Sentence sentence{place, place + 1};
  while (sentence.first > 0 && place - sentence.first < longest && !is_break(tokens[sentence.first - 1])) {
    --sentence.first;
  }
  while (sentence.last < tokens.size() && sentence.last - place < longest && !is_break(tokens[sentence.last])) {
    ++sentence.last;
  }
  return sentence;
}

bool is_denied(std::span<const Token> tokens, std::size_t place) {
  constexpr std::size_t farthest = 6;
  const auto first = place > farthest ? place - farthest : 0;
  std::size_t at = place;
  const auto step_over = [&] {
    while (at > first && (is_one_of(tokens[at - 1], articles) || tokens[at - 1].is("\"") || tokens[at - 1].is("(") ||
                          tokens[at - 1].is("'"))) {
      --at;
    }
  };
  step_over();
  if (at > first + 1 && tokens[at - 1].is("of") && (tokens[at - 2].is("rating") || tokens[at - 2].is("score"))) {
    at -= 2;
    step_over();
  }
  if (at == first) {
    return false;
  }
  static constexpr std::string_view denials[] = {"not",    "never",   "neither", "nor",      "than",   "least",
                                                 "most",   "above",   "below",   "beyond",   "except", "cannot",
                                                 "hardly", "without", "exceed",  "exceeding"};
  const auto& before = tokens[at - 1];
  const bool instead = at > first + 1 && before.is("of") && tokens[at - 2].is("instead");
  return is_one_of(before, denials) || instead || (before.is_word() && before.text.ends_with("n't"));
}

bool is_refused_clause(std::span<const Token> tokens, std::size_t place) {
  const auto sentence = sentence_around(tokens, place);
  static constexpr std::string_view turns[] = {"but", "however",      "though",      "although", "yet", "still",
                                               "if",  "nevertheless", "nonetheless", "would",    "i'd"};
  static constexpr std::string_view refusals[] = {"cannot", "can't",    "unable",        "won't",    "decline",
                                                  "refuse", "couldn't", "inappropriate", "shouldn't"};
  bool refuses = false;
  for (std::size_t at = sentence.first; at < place; ++at) {
    const bool cannot = tokens[at].is("not") && at > 0 &&
                        (tokens[at - 1].is("can") || tokens[at - 1].is("will") || tokens[at - 1].is("could") ||
                         tokens[at - 1].is("should"));
    refuses = (refuses || is_one_of(tokens[at], refusals) || cannot) && !is_one_of(tokens[at], turns);
  }
  return refuses;
}

Strength strength_of(std::span<const Token> tokens, std::size_t first, std::size_t last) {
  const auto sentence = sentence_around(tokens, first);
  auto strength = Strength::bare;
  for (std::size_t at = sentence.first; at < first; ++at) {
    if (tokens[at].is("other") || tokens[at].is("others") || tokens[at].is("another")) {
      return Strength::bare;  // what is said of somebody else, or by them
    }
    const bool says_so = tokens[at].is(":") || tokens[at].is("=") || tokens[at].is("->");
    if (is_one_of(tokens[at], cue_words) || says_so || tokens[at].is("i'd")) {
      strength = std::max(strength, Strength::cued);
    }
    if (is_one_of(tokens[at], final_words)) {
      strength = Strength::final;
    }
  }
  // "4", "(4)", "**4** - very", "Very." stand alone at the start of a sentence.
  bool opens = true;
  for (std::size_t at = sentence.first; at < first; ++at) {
    opens = opens && tokens[at].kind == Token::Kind::mark && !tokens[at].is("%");
  }
  const bool closes = last >= sentence.last || tokens[last].kind != Token::Kind::word;
  return opens && closes ? std::max(strength, Strength::cued) : strength;
}

}  // namespace stereosweep::answers
