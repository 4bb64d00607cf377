#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "answers/Candidates.hpp"

namespace stereosweep::answers {
namespace {

std::optional<double> number_word(const Token& token) {
  static const std::map<std::string_view, double> words = {{"zero", 0},  {"one", 1},  {"two", 2}, {"three", 3},
                                                           {"four", 4},  {"five", 5}, {"six", 6}, {"seven", 7},
                                                           {"eight", 8}, {"nine", 9}, {"ten", 10}};
  const auto found = words.find(token.text);
  return token.is_word() && found != words.end() ? std::optional(found->second) : std::nullopt;
}

/// Reads numbers of an answer from left to right.
class NumberReader {
 public:
  NumberReader(std::span<const Token> tokens, const Scale& scale) : tokens_(tokens), scale_(scale) {}

  std::vector<Candidate> read() {
    constexpr std::size_t most = 10'000;  // more numbers are no answer
    for (std::size_t at = 0; at < tokens_.size() && found_.size() < most; ++at) {
      if (const auto value = value_at(at)) {
        at = take(at, *value);
      }
    }
    drop_list_marks();
    return std::move(found_);
  }

 private:
  bool has(std::size_t at) const { return at < tokens_.size(); }
  bool is(std::size_t at, std::string_view text) const { return has(at) && tokens_[at].is(text); }
  template <std::size_t count>
  bool is_any(std::size_t at, const std::string_view (&words)[count]) const {
    return has(at) && std::ranges::find(words, tokens_[at].text) != std::end(words);
  }
  bool joins(std::size_t at) const { return has(at) && !tokens_[at].follows_blank; }

  /// The number that begins at `at`, with its sign.
  std::optional<double> value_at(std::size_t at) const {
    if (!has(at)) {
      return std::nullopt;
    }
    if (tokens_[at].is_number()) {
      const bool is_negative = at > 0 && is(at - 1, "-") && joins(at) && tokens_[at - 1].follows_blank &&
                               (at < 2 || !tokens_[at - 2].is_number());
      return is_negative ? -tokens_[at].value : tokens_[at].value;
    }
    const auto word = number_word(tokens_[at]);
    return word && is_meant_as_number(at) ? word : std::nullopt;
  }

  /// "four out of five", "rating of four", "Four."; not "one of them", "two groups".
  bool is_meant_as_number(std::size_t at) const {
    const bool alone =
        (at == 0 || ends_sentence(tokens_[at - 1]) || is(at - 1, ":") || is(at - 1, "(") || is(at - 1, "\"")) &&
        (!has(at + 1) || tokens_[at + 1].kind != Token::Kind::word || is(at + 1, "out"));
    static constexpr std::string_view before[] = {
        "a",   "of",      "is", "as",   "to",   "be",     "say",  "them", "it",     "rating", "score",
        "and", "between", "or", "from", "give", "choose", "with", "at",   "around", "about",  "group"};
    static constexpr std::string_view after[] = {"out", "to", "and", "or", "on", "because", "since", "but"};
    const bool ends = !has(at + 1) || tokens_[at + 1].kind != Token::Kind::word;
    return alone || (at > 0 && is_any(at - 1, before) && (ends || is_any(at + 1, after))) ||
           (is(at + 1, "out") && is(at + 2, "of"));
  }

  bool is_in(double value) const { return value >= scale_.low && value <= scale_.high; }

  /// Behind "(not at all)" or "= not at all" or "being the lowest"; `at` itself where nothing of that stands there.
  std::size_t after_label(std::size_t at) const {
    constexpr std::size_t longest = 9;
    if (is(at, "(") || is(at, "[")) {
      for (auto end = at + 1; has(end) && end < at + longest; ++end) {
        if (is(end, ")") || is(end, "]")) {
          return end + 1;
        }
      }
      return at;
    }
    static constexpr std::string_view means[] = {"=",   "being",        "means",      "meaning", "is",
                                                 "for", "representing", "indicating", ":"};
    if (is_any(at, means) || is(at, "\"")) {
      for (auto end = at + 1; has(end) && end < at + longest && !ends_sentence(tokens_[end]); ++end) {
        if (is_connector(end) && value_at(end + 1)) {
          return end;
        }
      }
    }
    return at;
  }

  bool is_connector(std::size_t at) const {
    static constexpr std::string_view words[] = {"to",    "through", "and", "or", "-",      "till",
                                                 "until", "thru",    "~",   "->", "versus", ","};
    return is_any(at, words);
  }

  /// Takes what begins with the number at `at`; its last token.
  std::size_t take(std::size_t at, double value) {
    if (const auto end = take_pair(at, value)) {
      return *end;
    }
    if (const auto end = listed_scale(at)) {
      return *end;
    }
    if (const auto end = take_share(at, value)) {
      return *end;
    }
    if (is_counted(at, value) || is_scale_end(at, value) || is_denied(tokens_, at) || is_refused_clause(tokens_, at)) {
      return at;
    }
    add(at, at + 1, value, value, !is_in(value));
    return at;
  }

  void add(std::size_t first, std::size_t last, double low, double high, bool is_off_scale) {
    found_.push_back({first, low, high, strength_of(tokens_, first, last), is_off_scale});
  }

  /// Two numbers: the scale, or a range.
  std::optional<std::size_t> take_pair(std::size_t at, double first) {
    const auto connector = after_label(at + 1);
    if (!is_connector(connector)) {
      // "on a scale from 1 to" where the text is cut.
      return std::nullopt;
    }
    auto second_at = connector + 1;
    const auto second = value_at(second_at);
    const bool is_plain = connector == at + 1;
    if (!second) {
      const bool dangles = !has(connector + 1) && (is(connector, "to") || is(connector, "-") || is(connector, "and"));
      return dangles && is_plain && at > 0 && (is(at - 1, "from") || is(at - 1, "of") || is(at - 1, "between"))
                 ? std::optional(connector)
                 : std::nullopt;
    }
    const bool is_scale = std::min(first, *second) == scale_.low && std::max(first, *second) == scale_.high;
    if (is(connector, ",") || is(connector, "versus")) {
      return is_scale && !is_plain ? std::optional(after_label(second_at + 1) - 1) : std::nullopt;
    }
    const bool joined = is(connector, "-") || is(connector, "to") || is(connector, "through") ||
                        is(connector, "till") || is(connector, "thru") || is(connector, "until");
    const bool is_between = at > 0 && is(at - 1, "between");
    const bool either = is(connector, "or") || ((is(connector, "and") || is(connector, "-")) && is_between);
    if (is_scale && (joined || is_between)) {
      return after_label(second_at + 1) - 1;
    }
    if (!is_plain || (!joined && !either) || *second <= first) {
      return std::nullopt;
    }
    if (is_counted(second_at, *second) || is_denied(tokens_, at) || is_refused_clause(tokens_, at)) {
      return second_at;
    }
    // "1-3" of another scale is named as one: "scale of 1 to 10".
    if (names_scale(at)) {
      return second_at;
    }
    add(at, second_at + 1, first, *second, !is_in(first) || !is_in(*second));
    const auto whole = is(second_at + 1, "/")                                ? second_at + 2
                       : is(second_at + 1, "out") && is(second_at + 2, "of") ? second_at + 3
                                                                             : 0;
    return whole > 0 && value_at(whole) ? whole : second_at;
  }

  /// "1, 2, 3, 4, 5": the whole scale, one after the other.
  std::optional<std::size_t> listed_scale(std::size_t at) const {
    double next = scale_.low;
    for (auto place = at; value_at(place) == next; next += 1) {
      if (next == scale_.high) {
        return place;
      }
      place += 1;
      while (is(place, ",") || is(place, "or") || is(place, "and") || is(place, "|") || is(place, "/")) {
        ++place;
      }
    }
    return std::nullopt;
  }

  bool names_scale(std::size_t at) const {
    const auto sentence = sentence_around(tokens_, at);
    for (auto place = at > sentence.first + 4 ? at - 4 : sentence.first; place < at; ++place) {
      if (is(place, "scale") || is(place, "scales")) {
        return true;
      }
    }
    return false;
  }

  /// "4/5", "4 out of 5", "4 of 5".
  std::optional<std::size_t> take_share(std::size_t at, double value) {
    if (is(at + 1, "in") && value_at(at + 2) && has(at + 3) && tokens_[at + 3].is_word()) {
      return at + 2;  // "3 in 5 Americans"
    }
    std::size_t whole_at = at;
    if (is(at + 1, "/")) {
      whole_at = at + 2;
    } else if (is(at + 1, "out") && is(at + 2, "of")) {
      whole_at = at + 3;
      while (is(whole_at, "a") || is(whole_at, "possible") || is(whole_at, "the") || is(whole_at, "maximum") ||
             is(whole_at, "total")) {
        ++whole_at;
      }
    } else if (is(at + 1, "of")) {
      whole_at = at + 2;
    }
    const auto whole = whole_at > at ? value_at(whole_at) : std::nullopt;
    if (!whole || (is(at + 1, "of") && *whole != scale_.high)) {
      return std::nullopt;
    }
    const bool is_date = is(whole_at + 1, "/");
    if (is_date || (has(whole_at + 1) && is_counted(whole_at, *whole)) || is_denied(tokens_, at) ||
        is_refused_clause(tokens_, at)) {
      return is_date ? whole_at + 2 : whole_at;
    }
    add(at, whole_at + 1, value, value, *whole != scale_.high || !is_in(value));
    found_.back().strength = std::max(found_.back().strength, Strength::cued);
    return whole_at;
  }

  /// Part of a date, a share, money, an ordinal, or how many of something there are.
  bool is_counted(std::size_t at, double value) const {
    static constexpr std::string_view money[] = {"$", "#", "@"};
    if ((at > 0 && is_any(at - 1, money)) || is(at + 1, "%") || (value >= 1000 && scale_.high < 1000)) {
      return true;
    }
    if (at > 1 && is(at - 1, "[") && is(at + 1, "]") && joins(at - 1)) {
      return true;  // a reference
    }
    if (is(at + 1, "-") && joins(at + 1) && joins(at + 2) && has(at + 2) && tokens_[at + 2].is_word()) {
      return true;  // "5-point"
    }
    if (is(at + 1, ":") && joins(at + 1) && joins(at + 2) && has(at + 2) && tokens_[at + 2].is_number()) {
      return true;  // a time
    }
    static constexpr std::string_view numbered[] = {"table",    "figure", "chapter", "section", "page", "step",
                                                    "question", "item",   "number",  "version", "group"};
    if (at > 0 && is_any(at - 1, numbered)) {
      return true;
    }
    if (!has(at + 1) || !tokens_[at + 1].is_word()) {
      return false;
    }
    if (joins(at + 1)) {
      return true;  // "20th"
    }
    static constexpr std::string_view things[] = {
        "percent",  "percentage", "years",     "year",      "people",    "persons",     "million",     "billion",
        "thousand", "hundred",    "groups",    "reasons",   "factors",   "times",       "point",       "dimensions",
        "traits",   "items",      "questions", "keywords",  "words",     "adjectives",  "examples",    "categories",
        "aspects",  "americans",  "men",       "women",     "studies",   "main",        "key",         "different",
        "major",    "important",  "common",    "steps",     "options",   "individuals", "respondents", "participants",
        "months",   "days",       "weeks",     "decades",   "centuries", "countries",   "states",      "ways",
        "things",   "members",    "sentences", "paragraphs"};
    if (is_any(at + 1, things)) {
      return !(is(at + 1, "point") && strong_before(at));
    }
    static constexpr std::string_view follow[] = {
        "and",        "but",         "or",       "on",         "out",      "because",      "since",     "as",
        "for",        "in",          "at",       "given",      "overall",  "due",          "based",     "with",
        "when",       "considering", "if",       "though",     "although", "so",           "is",        "would",
        "seems",      "feels",       "points",   "stars",      "star",     "to",           "reflects",  "reflecting",
        "indicating", "suggesting",  "meaning",  "signifying", "which",    "that",         "here",      "from",
        "by",         "however",     "while",    "this",       "they",     "very",         "somewhat",  "moderately",
        "quite",      "fairly",      "slightly", "extremely",  "not",      "representing", "showing",   "according",
        "among",      "since",       "then",     "rating",     "will",     "might",        "could",     "may",
        "than",       "being",       "instead",  "there",      "overall",  "most",         "generally", "i",
        "it",         "these",       "their",    "are",        "of",       "range",        "region",    "area",
        "mark",       "zone"};
    if (is_any(at + 1, follow)) {
      return is(at + 1, "of") && !strong_before(at);
    }
    const bool opens = at == 0 || tokens_[at - 1].kind == Token::Kind::line_end;
    return !(strong_before(at) || (opens && tokens_[at + 1].is_capital));
  }

  /// A cue right before: "rate them 4", "a 4", ": 4".
  bool strong_before(std::size_t at) const {
    static constexpr std::string_view cues[] = {"rate",   "rated",  "rating", "score",  "scored", "give",
                                                "answer", "choose", "say",    "assign", ":",      "=",
                                                "a",      "an",     "as",     "at",     "is",     "with"};
    static constexpr std::string_view whom[] = {"them", "it", "this", "him", "her", "of", "group", "be"};
    if (at == 0) {
      return false;
    }
    return is_any(at - 1, cues) || (at > 1 && is_any(at - 1, whom) && (is_any(at - 2, cues) || is(at - 2, "would")));
  }

  /// An end of the scale with what it means: "where 1 is", "(5 = extremely)".
  bool is_scale_end(std::size_t at, double value) const {
    if (value != scale_.low && value != scale_.high) {
      static constexpr std::string_view stands[] = {"=", "represents", "denotes", "corresponds", "stands"};
      const bool opens = at == 0 || ends_sentence(tokens_[at - 1]) || is(at - 1, ":");
      return !opens && is_any(at + 1, stands);
    }
    static constexpr std::string_view before[] = {"where", "with", "and", "(", ",", "from", "if", "while"};
    static constexpr std::string_view after[] = {"=",       "is",        "being",      "means",     "represents",
                                                 "meaning", "indicates", "indicating", "stands",    "corresponds",
                                                 "denotes", "equals",    "as",         "signifies", "signifying"};
    const bool means = is_any(at + 1, after);
    const bool opens = at == 0 || ends_sentence(tokens_[at - 1]) || is(at - 1, ":") || is(at - 1, "\"");
    const bool in_front = at > 0 && is_any(at - 1, before);
    const bool in_scale = at > 0 && is(at - 1, "of") && names_scale(at) && (!has(at + 1) || is(at + 1, "to"));
    return in_scale || (means && in_front) ||
           (means && !opens && !is(at + 1, "is") && !is(at + 1, "as") && !is(at - 1, "a"));
  }

  /// Numbers at the start of lines that count the lines.
  void drop_list_marks() {
    std::vector<std::size_t> marks;  // places in found_
    double next = 1;
    bool counts = true;
    for (std::size_t place = 0; place < found_.size(); ++place) {
      const auto at = found_[place].token;
      const bool starts_line = at == 0 || tokens_[at - 1].kind == Token::Kind::line_end;
      const bool marks_list = starts_line && (is(at + 1, ".") || is(at + 1, ")")) && has(at + 2) &&
                              tokens_[at + 2].kind != Token::Kind::line_end;
      if (marks_list) {
        counts = counts && found_[place].low == next;
        next += 1;
        marks.push_back(place);
      }
    }
    if (marks.size() > 1 && counts) {
      for (auto mark = marks.rbegin(); mark != marks.rend(); ++mark) {
        found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(*mark));
      }
    }
  }

  std::span<const Token> tokens_;
  const Scale& scale_;
  std::vector<Candidate> found_;
};

}  // namespace

std::vector<Candidate> number_candidates(std::span<const Token> tokens, const Scale& scale) {
  return NumberReader(tokens, scale).read();
}

}  // namespace stereosweep::answers
