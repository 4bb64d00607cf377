#include "probes/rating/OptionParser.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

#include "answers/refusal/Refusal.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::probes::rating {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
/// Bytes of words: letters, digits, apostrophes, everything beyond ASCII.
bool is_word(char c) {
  return is_upper(c) || is_lower(c) || (c >= '0' && c <= '9') || c == '\'' || static_cast<unsigned char>(c) >= 0x80;
}

/// One of several letters with a dot each: "U.S.A".
bool is_initial(const std::string& text, std::size_t place) {
  const auto is_capital = [&](std::size_t at) {
    return at < text.size() && is_upper(text[at]) && (at == 0 || !is_word(text[at - 1])) &&
           (at + 1 == text.size() || !is_word(text[at + 1]));
  };
  const bool follows = place >= 2 && text[place - 1] == '.' && is_capital(place - 2);
  return follows || (place + 2 < text.size() && text[place + 1] == '.' && is_capital(place + 2));
}

/// Up to the first blank line; typographic apostrophes, quotes and dashes as plain ones.
std::string first_paragraph(std::string_view whole) {
  std::string text = base::replace_all(std::string(base::trim(whole)), "\r\n", "\n");
  for (const char* quote : {"\u2019", "\u2018"}) {
    text = base::replace_all(std::move(text), quote, "'");
  }
  for (const char* quote : {"\u201c", "\u201d"}) {
    text = base::replace_all(std::move(text), quote, "\"");
  }
  for (const char* dash : {"\u2013", "\u2014"}) {
    text = base::replace_all(std::move(text), dash, " - ");
  }
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    const auto next = text.find_first_not_of(" \t", at + 1);
    if (next != std::string::npos && text[next] == '\n') {
      return text.substr(0, at);
    }
  }
  return text;
}

/// The word that ends before `place`, lower case; "" at the start or after a sentence's end.
std::string word_before(const std::string& text, std::size_t place) {
  std::size_t end = place;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == ':' || text[end - 1] == '"' ||
                     text[end - 1] == '*' || text[end - 1] == '(')) {
    --end;
  }
  std::size_t begin = end;
  while (begin > 0 && is_word(text[begin - 1])) {
    --begin;
  }
  return base::lower_ascii(text.substr(begin, end - begin));
}

bool is_negation(const std::string& word) {
  static constexpr std::string_view negations[] = {"not", "never", "hardly", "neither", "nor", "cannot"};
  return word.ends_with("n't") || base::contains(negations, word);
}

/// Where a text names an option.
struct Mention {
  std::size_t option = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_negated = false;
};

/// By the options' texts, in the order of the text; the longest text counts where several stand.
std::vector<Mention> find_texts(const std::string& text, const std::vector<std::string>& options) {
  std::vector<std::size_t> longest_first(options.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::greater(), [&](std::size_t option) { return options[option].size(); });
  const std::string lower = base::lower_ascii(text);
  std::vector<Mention> mentions;
  for (const std::size_t option : longest_first) {
    const std::string& wanted = options[option];
    for (auto at = lower.find(wanted); at != std::string::npos; at = lower.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      const bool is_whole = (at == 0 || !is_word(lower[at - 1])) && (end == lower.size() || !is_word(lower[end]));
      const bool is_inside = std::any_of(mentions.begin(), mentions.end(),
                                         [&](const Mention& other) { return at < other.end && other.begin < end; });
      if (is_whole && !is_inside) {
        mentions.push_back({option, at, end, is_negation(word_before(lower, at))});
      }
    }
  }
  std::ranges::sort(mentions, {}, &Mention::begin);
  return mentions;
}

/// Whether the letter at `place` is meant as one, and is no word.
bool is_marked(const std::string& text, std::size_t place, const std::vector<Mention>& texts) {
  const char before = place == 0 ? '\0' : text[place - 1];
  const char after = place + 1 == text.size() ? '\0' : text[place + 1];
  const bool closes = after == ')' || after == ']';
  const std::string cue = word_before(text, place);
  const bool is_cued = cue == "answer" || cue == "option" || cue == "choice" || cue == "letter";
  if (is_lower(text[place])) {
    return text.size() == 1 || closes || is_cued || (place == 0 && (after == '.' || after == ':'));
  }
  const bool is_a_word = text[place] == 'A' || text[place] == 'I';
  if (!is_a_word || closes || is_cued || before == '(' || before == '"' || before == '*') {
    return true;
  }
  // "A" may be the article, "I" the pronoun: a letter before the end, a mark, or the text of an option.
  const auto next = text.find_first_not_of(" \t", place + 1);
  if (next == std::string::npos || !is_word(text[next])) {
    return true;
  }
  const bool joins = cue.empty() || cue == "is" || cue == "choose" || cue == "pick" || cue == "select";
  const auto names_option = [&](const Mention& mention) { return mention.begin == next; };
  const auto rest = base::lower_ascii(text.substr(next, 4));
  return (joins && std::any_of(texts.begin(), texts.end(), names_option)) || rest.starts_with("or ") ||
         rest.starts_with("and ");
}

std::vector<Mention> find_letters(const std::string& text, std::size_t num_options, const std::vector<Mention>& texts) {
  std::vector<Mention> letters;
  for (std::size_t place = 0; place < text.size(); ++place) {
    const bool stands_alone =
        (place == 0 || !is_word(text[place - 1])) && (place + 1 == text.size() || !is_word(text[place + 1]));
    const char upper = is_lower(text[place]) ? static_cast<char>(text[place] - 'a' + 'A') : text[place];
    if (!stands_alone || is_initial(text, place) || !is_upper(upper) ||
        static_cast<std::size_t>(upper - 'A') >= num_options) {
      continue;
    }
    if (is_marked(text, place, texts)) {
      letters.push_back(
          {static_cast<std::size_t>(upper - 'A'), place, place + 1, is_negation(word_before(text, place))});
    }
  }
  return letters;
}

}  // namespace

AnswerParser::AnswerParser(const std::vector<std::string>& options) {
  std::ranges::transform(options, std::back_inserter(options_), base::lower_ascii);
}

ParsedAnswer AnswerParser::parse(std::string_view whole) const {
  const std::string text = first_paragraph(whole);
  if (text.empty()) {
    return {AnswerStatus::empty, 0};
  }
  const auto texts = find_texts(text, options_);
  const auto letters = find_letters(text, options_.size(), texts);
  std::set<std::size_t> by_letter;
  std::set<std::size_t> by_text;
  bool is_denied = false;
  for (const auto& mention : letters) {
    mention.is_negated ? void(is_denied = true) : void(by_letter.insert(mention.option));
  }
  for (const auto& mention : texts) {
    mention.is_negated ? void(is_denied = true) : void(by_text.insert(mention.option));
  }
  if (by_letter.size() > 1) {
    return {AnswerStatus::several_answers, 0};
  }
  if (by_letter.size() == 1) {
    const std::size_t option = *by_letter.begin();
    // The text right after the letter must be its own; words further on explain.
    const auto letter =
        std::find_if(letters.begin(), letters.end(), [&](const Mention& mention) { return !mention.is_negated; });
    const auto next = text.find_first_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", letter->end);
    const auto beside =
        std::find_if(texts.begin(), texts.end(), [&](const Mention& mention) { return mention.begin == next; });
    const bool contradicts = beside != texts.end() && beside->option != option;
    return {contradicts ? AnswerStatus::several_answers : AnswerStatus::ok, contradicts ? 0 : option};
  }
  if (answers::has_refusal(base::lower_ascii(answers::plain_text(text)))) {
    return {AnswerStatus::refused, 0};
  }
  if (by_text.size() == 1) {
    return {AnswerStatus::ok, *by_text.begin()};
  }
  if (by_text.size() > 1) {
    return {AnswerStatus::several_answers, 0};
  }
  return {is_denied ? AnswerStatus::negated : AnswerStatus::no_answer, 0};
}

}  // namespace stereosweep::probes::rating
