#include "answers/candidates/Candidates.hpp"

#include <algorithm>

#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

constexpr auto cue_words = word_list<
    "rate rated rates rating ratings score scored scores answer answers give gave giving assign assigned say choose "
    "chose chosen choice select selected pick picked go estimate estimated put place settle response value level "
    "option rank ranked evaluate evaluated verdict judgment judgement result number going lean leaning closer">;
constexpr auto final_words = word_list<
    "final finally averaging averages averaged overall conclusion summary therefore thus ultimately conclude balance "
    "hence boxed">;
constexpr auto articles =
    word_list<"a an the full perfect solid just only quite really very simply as to strong high mere low">;
/// What begins a clause that stands for itself.
constexpr auto clause_words = word_list<
    "but however though although yet still so nevertheless nonetheless because since while which if i'd i'll then "
    "and i perhaps maybe probably likely whereas">;
constexpr auto answer_labels =
    word_list<"rating ratings answer score response final result value choice number overall verdict conclusion a">;
constexpr auto explanation_labels = word_list<
    "reason reasons reasoning explanation explanations justification rationale note notes why because context "
    "disclaimer confidence analysis background evidence caveat caveats thoughts comment comments example examples "
    "details discussion assessment sources source interpretation certainty max maximum min minimum scale">;

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

Surroundings::Surroundings(std::span<const Token> tokens) : TokenReader(tokens), refusals_(find_declining(tokens)) {
  find_explanations();
}

/// From a label at the start of a sentence ("Brief reason:") up to the next label that is none.
void Surroundings::find_explanations() {
  constexpr std::size_t longest = 5;  // of a label
  is_explanation_.assign(tokens_.size(), false);
  bool is_inside = false;
  for (std::size_t at = 0; at < tokens_.size(); ++at) {
    const bool opens = at == 0 || is_break(token(at - 1)) || is(at - 1, "(");
    if (opens) {
      bool explains = false;
      bool answers = false;
      auto end = at;
      for (; end < at + longest && !is_line_end(end); ++end) {
        if (is_any(end, word_list<": =">)) {
          break;
        }
        explains = explains || is_any(end, explanation_labels);
        answers = answers || is_any(end, answer_labels);
      }
      const bool is_heading = is_line_end(at - 1);
      if (is_any(end, word_list<": =">) && (explains || answers || is_heading)) {
        is_inside = explains && !(answers && is_any(end - 1, answer_labels));
      }
    }
    is_explanation_[at] = is_inside;
  }
}

bool Surroundings::deny(std::size_t place, std::size_t last) const {
  const bool is_unticked = is_any(place - 1, word_list<"] )">) && is_any(place - 2, word_list<"[ (">);
  return is_unticked || is_talked_of(place) || is_denied_at_once(place) || is_denied_in_clause(place) ||
         is_denied_behind(last);
}

/// "The word 'very' means ...", "'1' is a number": quoted, and what is said of it is no answer.
bool Surroundings::is_talked_of(std::size_t place) const {
  constexpr std::size_t longest = 4;  // of what is quoted
  static constexpr auto meaning = word_list<"means refers implies suggests denotes in">;
  const auto begin = place - std::min(place, longest);
  auto end = place;
  while (end < place + longest && !is(end, "\"")) {
    ++end;
  }
  const bool is_defined = is(end + 1, "is") && is_any(end + 2, word_list<"a an often">);
  const bool is_quoted = is(end, "\"") && has_any(begin, place, word_list<"\"">);
  return is_quoted && (is_defined || is_any(end + 1, meaning));
}

/// "A 5 would be too high".
bool Surroundings::is_denied_behind(std::size_t end) const {
  constexpr std::size_t farthest = 6;
  static constexpr auto copulas = word_list<"would is seems feels might sounds looks was be">;
  static constexpr auto denials = word_list<
      "too exaggeration exaggerated excessive generous harsh unfair wrong inaccurate unrealistic stretch extreme "
      "overstate overstated misleading not">;
  end += is_any(end, word_list<"\" '">) ? 1 : 0;
  const auto copula = is(end, "or") ? end + 2 + (is(end + 1, "a") ? 1 : 0) : end;  // "a 2 or a 5 would be"
  if (!is_any(copula, copulas)) {
    return false;
  }
  for (auto at = copula + 1; at < copula + farthest && token(at).is_word(); ++at) {
    if (is_any(at, denials)) {
      return true;
    }
  }
  return false;
}

bool Surroundings::is_denied_at_once(std::size_t place) const {
  constexpr std::size_t farthest = 6;
  const auto first = place > farthest ? place - farthest : 0;
  std::size_t at = place;
  const auto step_over = [&] {
    while (at > first && (is_any(at - 1, articles) || is_any(at - 1, word_list<"\" ( '">))) {
      --at;
    }
  };
  step_over();
  if (at > first + 1 && is_any(at - 1, word_list<"and or">) && tokens_[at - 2].is_number()) {
    at -= 2;  // "beyond 5 and 6"
    step_over();
  }
  const bool is_of = at > first + 1 && is(at - 1, "of") && is_any(at - 2, word_list<"rating score">);
  const bool is_copula = at > first + 1 && is(at - 1, "is") && is_any(at - 2, word_list<"neither nor">);
  if (is_of || is_copula) {
    at -= is_of ? 2 : 1;
    step_over();
  }
  if (at == first) {
    return false;
  }
  static constexpr auto bounds =
      word_list<"neither nor than least most above below beyond except without exceed exceeding no not">;
  return is_any(at - 1, bounds) || (is(at - 1, "of") && is(at - 2, "instead"));
}

/// "would not go as high as 5", where nothing ends the clause between.
bool Surroundings::is_denied_in_clause(std::size_t place) const {
  static constexpr auto doubts = word_list<"hesitate doubt deny mind">;
  constexpr std::size_t farthest = 7;
  static constexpr auto denials = word_list<"not never hardly scarcely rarely cannot nobody none">;
  for (auto at = place; at-- > 0 && place - at <= farthest;) {
    const auto& token = tokens_[at];
    if (is_any(at, doubts)) {
      return false;  // "I wouldn't hesitate to say 5"
    }
    if (is_any(at, denials) || (token.is_word() && token.text.ends_with("n't"))) {
      return !is_any(at + 1, word_list<"sure only">);
    }
    const bool is_quote = token.is("\"") || token.is("'");
    if ((token.kind != Token::Kind::word && !is_quote) || is_any(at, clause_words)) {
      return false;
    }
  }
  return false;
}

bool Surroundings::refuse(std::size_t place) const {
  const auto sentence = sentence_around(tokens_, place);
  const auto turns_between = [&](std::size_t first, std::size_t last) {
    static constexpr auto turns = word_list<
        "but however though although yet still if nevertheless nonetheless would i'd i'll maybe perhaps probably "
        "likely guess : =">;
    return has_any(first, last, turns);
  };
  const auto concludes = [&](std::size_t at) {
    static constexpr auto words = word_list<"so therefore thus hence why and">;
    return at > sentence.first && is_any(at - 1, words);
  };
  static constexpr auto conceding = word_list<"while although though despite whilst">;
  const auto concedes = [&](std::size_t at) { return has_any(sentence.first, at, conceding); };
  const auto has_comma = [&](std::size_t first, std::size_t last) { return has_any(first, last, word_list<",">); };
  // "Giving them a 2 is something that I avoid"
  static constexpr auto naming =
      word_list<"assigning giving choosing picking putting rating scoring selecting labeling such saying">;
  static constexpr auto borders = word_list<", - but however though although yet still">;
  const bool is_topic = has_any(sentence.first, place, naming) || is(place + 1, "would");
  const auto later = std::ranges::lower_bound(refusals_, sentence.first, {}, &Refusal::first);
  for (auto one = later; one != refusals_.end() && one->first < sentence.last; ++one) {
    if (one->first < place && place < one->last) {
      return true;  // "I must remain neutral"
    }
    const bool stands_before = one->last <= place && !turns_between(one->last, place) &&
                               !(concedes(one->first) && has_comma(one->last, place));
    const bool is_left =
        one->last >= sentence.last && has_any(sentence.first, place, word_list<"could might would i'd">);
    const bool stands_behind = one->first > place && (concludes(one->first) || concludes(one->first - 1) || is_left ||
                                                      (is_topic && !has_any(place, one->first, borders)));
    if (stands_before || stands_behind) {
      return true;
    }
  }
  return false;
}

Strength Surroundings::strength(std::size_t first, std::size_t last) const {
  static constexpr auto others = word_list<
      "others another some someone somebody few example instance e critics hypothetically initially initial glance "
      "instinct impression tempted ago was were been previously formerly nearly almost used whether older younger">;
  static constexpr auto people = word_list<"people respondents person americans groups raters">;
  constexpr std::size_t farthest = 6;  // of what a colon announces
  constexpr std::size_t far = 15;      // of what "so" does
  const auto sentence = sentence_around(tokens_, first);
  auto strength = Strength::bare;
  bool is_of_others = false;
  bool concedes = false;
  bool has_number = false;  // since the last cue
  for (std::size_t at = sentence.first; at < first; ++at) {
    const bool is_near = first - at <= farthest;
    const bool is_label = (is(at, ":") && is_near && !token(at - 1).is_number()) || is_any(at, word_list<"= -> ]">);
    if (is_any(at, word_list<", - but most though">)) {
      is_of_others = is_of_others && is(at, ",") && is(at - 1, "example");
    }
    concedes = concedes || is_any(at, word_list<"although though while">);
    const bool is_possible = is_any(at, word_list<"might could may">);
    const auto owner = tokens_[at].text.substr(0, tokens_[at].text.find('\''));  // "another's", "one person's"
    const bool is_person = owner == "person" && is(at - 1, "one");
    is_of_others = is_of_others || base::contains(Words(others), owner) || (concedes && is_possible) || is_person ||
                   (is(at, "other") && at + 1 < first && is_any(at + 1, people));
    if (is_any(at, cue_words) || is_label || is(at, "i'd")) {
      strength = std::max(strength, Strength::cued);
      has_number = false;
    }
    has_number = has_number || tokens_[at].is_number();
    const bool ends_clause = (is(at, "-") && tokens_[at].follows_blank) || is_any(at, word_list<"( because since">);
    const bool is_offered = is_any(first - 1, word_list<"or to">);  // "2 (slightly) or 3"
    if (has_number && ends_clause && !is_offered && strength == Strength::cued) {
      strength = Strength::bare;  // "Rating: 4 - even after 80"
    }
    const bool is_last_step = is(at, "so") && (at == sentence.first ? at + 1 < first && first <= at + far
                                                                    : is(at - 1, ",") && first <= at + 3);
    const bool is_answer = is(at, "the") && is(at + 1, "answer") && is(at + 2, "is");
    if (is_any(at, final_words) || is_last_step || is_answer) {
      strength = Strength::final;
    }
  }
  if (is(first - 1, "]") && is_any(first - 2, word_list<"x v">) && is(first - 3, "[")) {
    return Strength::final;  // a ticked box
  }
  // "4", "(4)", "**4** - very", "Very." stand alone at the start of a sentence.
  bool opens = true;
  for (std::size_t at = sentence.first; at < first; ++at) {
    opens = opens && tokens_[at].kind == Token::Kind::mark && !is(at, "%");
  }
  const bool closes = last >= sentence.last || tokens_[last].kind != Token::Kind::word;
  strength = opens && closes ? std::max(strength, Strength::cued) : strength;
  // "I can't rate them; a number like 3 would suggest that all are alike"
  const bool is_example = first > sentence.first && is(first - 1, "like") && is(last, "would");
  if (is_of_others || is_example) {
    return Strength::supposed;
  }
  const bool is_asked = is(last, "?") || is(last + 1, "?");
  return (is_explanation_[first] || is_asked) && strength == Strength::cued ? Strength::bare : strength;
}

}  // namespace stereosweep::answers
