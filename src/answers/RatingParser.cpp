#include "answers/RatingParser.hpp"

#include <algorithm>
#include <string>

#include "answers/refusal/Refusal.hpp"
#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

/// Words that take back what was said before them.
bool withdraws(std::span<const Token> tokens, std::size_t at) {
  static constexpr auto words = word_list<
      "actually wait correction scratch revise revised reconsider reconsidering reconsideration reflection corrected "
      "oops updated amended adjusted rounds rounded rounding">;
  /// Words that do so before another one.
  static constexpr auto pairs =
      word_list<"no_, no_- well_, second_thought second_thoughts make_that make_it i_mean correct_that correct_myself">;
  const auto& token = tokens[at];
  const bool is_arrow = token.is(">") && at > 1 && tokens[at - 1].is("-") && tokens[at - 2].is_number();
  if (!token.is_word()) {
    return is_arrow && (at + 1 == tokens.size() || tokens[at + 1].is_number());  // "3 -> 4"
  }
  const auto next = at + 1 < tokens.size() ? tokens[at + 1].text : std::string_view("\n");
  const bool opens = at == 0 || ends_sentence(tokens[at - 1]) || tokens[at - 1].is(",") || tokens[at - 1].is("-") ||
                     tokens[at - 1].is("or") || tokens[at - 1].is("but");
  if (token.is("rather") || token.is("instead")) {
    return opens && next != "than" && next != "of";
  }
  const bool is_pair = base::contains(pairs, std::string(token.text) + "_" + std::string(next)) ||
                       (base::contains(word_list<"change changed changing">, token.text) &&
                        base::contains(word_list<"my it that to the">, next));
  return base::contains(words, token.text) || (is_pair && (opens || !token.is("no")));
}

/// Those that count: not withdrawn, and of the surest kind.
std::vector<Candidate> that_count(std::span<const Token> tokens, std::vector<Candidate> found) {
  const auto before_last = tokens.first(found.empty() ? 0 : found.back().token);
  const auto withdrawn = last_withdrawal(before_last, 0).value_or(0);
  std::erase_if(found, [&](const Candidate& one) { return one.token < withdrawn; });
  auto surest = Strength::supposed;
  for (const auto& one : found) {
    surest = std::max(surest, one.strength);
  }
  const auto declines = [](const Refusal& one) { return one.kind != RefusalKind::disclaims; };
  if (surest == Strength::supposed && std::ranges::any_of(find_refusals(tokens), declines)) {
    return {};  // "I won't rate them. One person may say 3 and another 5."
  }
  constexpr std::size_t few_sentences = 3;
  const auto declines_behind = [&] {
    const auto last = found.empty() ? 0 : sentence_around(tokens, found.back().token).last;
    return !find_declining(tokens.subspan(last)).empty();
  };
  constexpr std::size_t few_tokens = 60;
  const bool is_long = count_sentences(tokens) > few_sentences || tokens.size() > few_tokens;
  if (surest == Strength::bare && (is_long || declines_behind())) {
    return {};  // a number of running text; "People might agree or disagree. I cannot pick one."
  }
  std::erase_if(found, [surest](const Candidate& one) { return one.strength < surest; });
  if (std::ranges::any_of(found, [](const Candidate& one) { return !one.is_off_scale && one.low == one.high; })) {
    // A number on another scale beside one on this: "7/10, which is a 4".
    std::erase_if(found, [&](const Candidate& one) {
      return one.is_off_scale && one.token + 1 < tokens.size() &&
             (tokens[one.token + 1].is("/") || tokens[one.token + 1].is("out"));
    });
  }
  return found;
}

Rating decided(const std::vector<Candidate>& found) {
  Rating rating;
  const auto is_point = [](const Candidate& one) { return one.low == one.high; };
  const auto point = std::ranges::find_if(found, is_point);
  if (std::ranges::all_of(found, [](const Candidate& one) { return one.is_off_scale; })) {
    rating.status = Status::off_scale;
    return rating;
  }
  const auto& chosen = point == found.end() ? found.front() : *point;
  const bool agrees = std::ranges::all_of(found, [&](const Candidate& one) {
    const bool same = one.low == chosen.low && one.high == chosen.high;
    return !one.is_off_scale &&
           (same || (!is_point(one) && is_point(chosen) && chosen.low >= one.low && chosen.low <= one.high));
  });
  if (!agrees) {
    rating.status = Status::contradictory;
  } else if (is_point(chosen)) {
    rating.status = Status::answered;
    rating.value = chosen.low;
  } else {
    rating.status = Status::range;
    rating.low = chosen.low;
    rating.high = chosen.high;
  }
  return rating;
}

}  // namespace

std::optional<std::size_t> last_withdrawal(std::span<const Token> tokens, std::size_t first) {
  for (auto at = tokens.size(); at-- > first;) {
    if (withdraws(tokens, at)) {
      return at;
    }
  }
  return std::nullopt;
}

Rating read_rating(std::span<const Token> tokens, const Scale& scale, Language language) {
  auto found = scale.options.empty() ? number_candidates(tokens, scale, language) : option_candidates(tokens, scale);
  found = that_count(tokens, std::move(found));
  return found.empty() ? Rating{} : decided(found);
}

Status no_answer(std::string_view lower, End end) {
  if (has_refusal(lower)) {
    return Status::refused;
  }
  if (end == End::cut_off) {
    return Status::truncated;  // what evades may still answer
  }
  return has_evasion(lower) ? Status::refused : Status::unparsed;
}

Rating parse_rating(std::string_view answer, const Scale& scale, End end) {
  const TokenizedText text(plain_text(answer));
  auto rating = read_rating(text.tokens(), scale, language_of(text.tokens()));
  if (rating.status == Status::unparsed) {
    rating.status = no_answer(text.lower(), end);
  }
  return rating;
}

}  // namespace stereosweep::answers
