#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "answers/candidates/Candidates.hpp"

namespace stereosweep::answers {
namespace {

// Words that decide what a number of an answer is, each list with an example.

// What may be a number.
/// "rating of four", "between two and three": a number in letters behind these is meant as one
constexpr auto before_written_number = word_list<
    "a of is as to be say them it rating score solid go and maybe or from give between choose with at around about "
    "group than not nor neither perhaps strong even">;
/// "four out of five", "four because"
constexpr auto behind_written_number = word_list<"out on because since but points stars as for">;
/// "three to four"
constexpr auto joining_written_numbers = word_list<"to and or">;

// The scale, and ranges.
/// "1 being the lowest": what the number means follows
constexpr auto before_label = word_list<"= being means meaning is for representing indicating : ,">;
/// "1 (not at all) to 5 (extremely)"
constexpr auto between_ends = word_list<"to through and or - till until thru ~ -> versus ,">;
/// "3 to 4"
constexpr auto joining_range = word_list<"to through - till until thru ~ -> towards">;
/// "3 or 4", "3, maybe even a 4"
constexpr auto offering_range = word_list<"or maybe perhaps possibly even if bordering verging leaning">;
/// may stand between the two: "3 to about 4"
constexpr auto filling_range = word_list<"a an probably around about not rather up on at most">;

/// "2 bis 5" in other languages
constexpr auto foreign_to = word_list<"bis à a al hasta até tot til do">;

// What counts or dates something.
/// "$5", "#3"
constexpr auto before_amount = word_list<"$ # @">;
/// "page 3", "SD 2"
constexpr auto numbered_things = word_list<
    "stop room floor line bus gate part phase aged age ages grade # table figure chapter section page step question "
    "item version group sd se n p ci">;
/// "3 x 4", "(3 + 4) / 2 = 3.5"; of two numbers "-" and "/" may be a range and a share
constexpr auto calculation_signs = word_list<"+ x * = ^">;
/// "multiply by 2"
constexpr auto calculating = word_list<
    "^ multiply multiplied multiplying divide divided dividing subtract subtracted add added subtracting plus">;
/// "the 3 most common jobs"
constexpr auto before_count = word_list<"the these those all first last top my their">;
/// ... but "the 3 reflects", "my 4 is": what an answer does
constexpr auto behind_the_answer = word_list<
    "rating is would seems feels reflects because since and or but on out for as here that which might could may "
    "mark range to">;
/// "3 reasons", "12 million"
constexpr auto counted_things = word_list<
    "percent percentage years year people persons million billion thousand hundred groups reasons factors times "
    "point dimensions traits items questions keywords words adjectives examples categories aspects americans men "
    "women studies main key different major important common steps options individuals respondents participants "
    "months days weeks decades centuries countries states ways things members sentences paragraphs">;
/// "4 because", "3 overall": these do not make it a count
constexpr auto behind_any_answer = word_list<
    "and but or on out because since as for in at given overall due based with when considering if though although "
    "so is would seems feels points stars star to reflects reflecting indicating suggesting meaning signifying which "
    "that here from by however while this they very somewhat moderately quite fairly slightly extremely not "
    "representing showing according among then rating will might could may than being instead there most generally i "
    "it these their are of range region area mark zone">;

// What is an answer.
/// "rate 4", "score: 4"
constexpr auto right_before_answer = word_list<"rate rated rating score scored give answer choose say assign : = a an">;
/// "rate them 4"
constexpr auto between_cue_and_answer = word_list<"them it this him her of group be">;

// What explains the scale.
/// "where 1 is", "(5 = extremely)"
constexpr auto before_scale_end = word_list<"where with and ( , from if while">;
/// the same
constexpr auto behind_scale_end = word_list<
    "= is being means represents meaning indicates indicating stands corresponds denotes equals as signifies "
    "signifying">;
/// "1 = not at all, 2: slightly"
constexpr auto behind_legend_entry = word_list<"= : - ( -> being means meaning is for as">;

std::optional<double> number_word(const Token& token) {
  static constexpr auto words = word_list<"zero one two three four five six seven eight nine ten eleven twelve">;
  const auto found = std::ranges::find(words, token.text);
  return found == words.end() ? std::nullopt : std::optional(static_cast<double>(found - words.begin()));
}

/// Reads numbers of an answer from left to right.
class NumberReader : TokenReader {
 public:
  NumberReader(std::span<const Token> tokens, const Scale& scale, Language language)
      : TokenReader(tokens), scale_(scale), surroundings_(tokens), is_english_(language == Language::english) {}

  std::vector<Candidate> read() {
    constexpr std::size_t most = 10'000;  // more numbers are no answer
    for (std::size_t at = 0; at < tokens_.size() && found_.size() < most; ++at) {
      if (const auto value = value_at(at)) {
        at = take(at, *value);
      }
    }
    drop_legends();
    mark_other_scales();
    if (!is_english_) {
      std::erase_if(found_, [this](const Candidate& one) { return !stands_by_itself(one); });
    }
    std::erase_if(found_, [this](const Candidate& one) {
      return std::ranges::binary_search(scale_ends_, one.token) || surroundings_.deny(one.token, one.last) ||
             surroundings_.refuse(one.token);
    });
    return std::move(found_);
  }

 private:
  bool joins(std::size_t at) const { return !token(at).follows_blank; }

  /// What every language writes so: a number alone in its line, or behind a short label, or a share ("4/5").
  bool stands_by_itself(const Candidate& one) const {
    constexpr std::size_t longest_label = 4;
    if (std::ranges::binary_search(shares_, one.token)) {
      return true;
    }
    auto first = one.token;
    while (first > 0 && one.token - first <= longest_label && tokens_[first - 1].kind != Token::Kind::line_end) {
      --first;
    }
    const bool is_first = first == one.token;
    static constexpr std::string_view leading[] = {":", "=", "{", "(", "["};
    const bool is_labelled = one.token - first <= longest_label && is_any(one.token - 1, leading);
    const bool is_end = !token(one.token + 1).is_word();
    const bool has_unit = is_first && has(one.token + 1) && !has(one.token + 2);
    return has_unit || ((is_first || is_labelled) && is_end);
  }

  /// The number that begins at `at`, with its sign.
  std::optional<double> value_at(std::size_t at) const {
    if (token(at).is_list_mark) {
      return std::nullopt;
    }
    if (token(at).is_number()) {
      const bool is_negative = is(at - 1, "-") && joins(at) && (token(at - 1).follows_blank || is(at - 2, "(")) &&
                               !token(at - 2).is_number();
      return is_negative ? -tokens_[at].value : tokens_[at].value;
    }
    const auto word = number_word(token(at));
    return word && is_meant_as_number(at) ? word : std::nullopt;
  }

  /// "four out of five", "rating of four", "Four."; not "one of them", "two groups".
  bool is_meant_as_number(std::size_t at) const {
    const bool is_compound = is(at - 1, "-") && joins(at - 1);  // "sixty-two"
    const bool opens = !token(at - 1).is_word() && !is_compound;
    const bool joins_next =
        is_any(at + 1, joining_written_numbers) && (is_number_or_half(at + 2) || is_number_or_half(at + 3));
    const bool ends = !token(at + 1).is_word() || is_any(at + 1, behind_written_number) || joins_next ||
                      (is(at + 1, "or") && is(at + 2, "so"));
    return (opens || is_any(at - 1, before_written_number)) && ends;
  }

  bool is_number_or_half(std::size_t at) const { return token(at).is_number() || value_at(at) || is(at, "half"); }

  bool is_in(double value) const { return value >= scale_.low && value <= scale_.high; }

  /// Behind "(not at all)" or "= not at all" or "being the lowest"; `at` itself where nothing of that stands there.
  std::size_t after_label(std::size_t at) const {
    constexpr std::size_t longest = 9;
    if (is_any(at, word_list<"( [">)) {
      for (auto end = at + 1; end < at + longest; ++end) {
        if (is_any(end, word_list<") ]">)) {
          return end + 1;
        }
      }
      return at;
    }
    if (is_any(at, before_label) || is(at, "\"")) {
      for (auto end = at + 1; end < at + longest && !ends_sentence(token(end)) && !is(end, "but") && !value_at(end);
           ++end) {
        if (is_any(end, between_ends) && value_at(end + 1)) {
          return end;
        }
      }
    }
    return at;
  }

  /// Takes what begins with the number at `at`; its last token.
  std::size_t take(std::size_t at, double value) {
    if (const auto end = is_english_ ? take_pair(at, value) : take_foreign_pair(at, value)) {
      return *end;
    }
    if (const auto end = listed_scale(at)) {
      return *end;
    }
    if (const auto end = take_share(at, value)) {
      return *end;
    }
    const auto halved = half_after(at);
    value += halved ? 0.5 : 0;
    const auto last = halved.value_or(at);
    const auto point = is(at + 1, "-") ? at + 2 : at + 1;
    if (is(point, "point") && is(point + 1, "scale") && value != scale_.high && value != scale_.high - scale_.low + 1) {
      name_other_scale(at);
    }
    if (is_counted(last, value) || is_whole(at)) {
      return last;
    }
    if (is_scale_end(last, value)) {
      scale_ends_.push_back(at);  // it may still belong to a legend
    }
    add(at, last + 1, value, value, !is_in(value));
    return last;
  }

  void add(std::size_t first, std::size_t last, double low, double high, bool is_off_scale) {
    found_.push_back({first, last, low, high, surroundings_.strength(first, last), is_off_scale});
  }

  /// "3 and a half", "3 1/2": the last token of the half.
  std::optional<std::size_t> half_after(std::size_t at) const {
    if (is(at + 1, "and") && is(at + 2, "a") && is(at + 3, "half")) {
      return at + 3;
    }
    return is(at + 1, "1") && is(at + 2, "/") && is(at + 3, "2") ? std::optional(at + 3) : std::nullopt;
  }

  /// N of "out of N".
  bool is_whole(std::size_t at) const {
    return (is(at - 1, "of") || is(at - 2, "of")) && (is(at - 2, "out") || is(at - 3, "out"));
  }

  /// What stands between two numbers of a range or a scale.
  struct Joint {
    std::size_t second = 0;  ///< the token of the second number
    bool joins = false;      ///< "3 to 4", "3-4"
    bool offers = false;     ///< "3 or 4", "3, maybe even a 4"
    bool separates = false;  ///< "3, 4"
    bool adds = false;       ///< "3 and 4"
  };

  Joint joint_at(std::size_t at) const {
    constexpr std::size_t longest = 5;
    Joint joint;
    for (auto place = at; place < at + longest; ++place) {
      if (value_at(place)) {
        joint.second = place;
        return joint;
      }
      const bool is_known = is_any(place, joining_range) || is_any(place, offering_range) ||
                            is_any(place, filling_range) || is_any(place, word_list<"and , ( versus">);
      if (!is_known || is(place, "rather")) {
        return joint;
      }
      joint.joins = joint.joins || is_any(place, joining_range);
      joint.offers = joint.offers || is_any(place, offering_range);
      joint.separates = joint.separates || is_any(place, word_list<", ( versus">);
      joint.adds = joint.adds || is(place, "and");
    }
    return joint;
  }

  /// Two numbers: the scale, or a range.
  std::optional<std::size_t> take_pair(std::size_t at, double first) {
    const auto connector = is(at + 1, "(") && is_any(at + 2, offering_range) ? at + 1 : after_label(at + 1);
    const bool is_plain = connector == at + 1;
    if (is_plain && dangles(at)) {
      return connector;
    }
    const auto joint = joint_at(connector);
    const auto second = joint.second > connector ? value_at(joint.second) : std::nullopt;
    if (!second) {
      return std::nullopt;
    }
    const bool is_between = is(at - 1, "between") || (is(at - 2, "between") && token(at - 1).text.size() == 1);
    const bool is_range = joint.joins || (joint.adds && is_between);
    const bool is_scale = std::min(first, *second) == scale_.low && std::max(first, *second) == scale_.high;
    if (is_scale && (is_range || (joint.separates && !is_plain))) {
      return after_label(joint.second + 1) - 1;
    }
    const bool is_offer = joint.offers || (joint.adds && (is(at - 1, "both") || is(at - 2, "both")));
    const bool is_labelled_range = is(at + 1, "(") && (is_between || is(connector, "to"));
    if (!(is_plain || is_labelled_range) || !(is_range || is_offer) || *second == first ||
        (is_range && *second < first)) {
      return std::nullopt;
    }
    // "1-3" of another scale is named as one: "scale of 1 to 10".
    if (is_range && (names_scale(at) || is(joint.second + 1, "scale"))) {
      name_other_scale(at);
      return joint.second;
    }
    if (is_counted(joint.second, *second)) {
      return joint.second;
    }
    const auto halved = half_after(joint.second);
    const auto [low, high] = std::minmax({first, *second + (halved ? 0.5 : 0)});
    const auto last = halved.value_or(joint.second);
    add(at, last + 1, low, high, !is_in(low) || !is_in(high));
    const auto whole = is(last + 1, "/") ? last + 2 : is(last + 1, "out") && is(last + 2, "of") ? last + 3 : 0;
    return whole > 0 && value_at(whole) ? whole : last;
  }

  /// "1 bis 5", "2-5" of another language: the scale, or a part of it.
  std::optional<std::size_t> take_foreign_pair(std::size_t at, double value) {
    const auto place = is(at + 1, "-") || token(at + 1).is_word() ? at + 2 : at;
    const auto second = place > at ? value_at(place) : std::nullopt;
    if (second != scale_.high) {
      return second && is(at + 1, "-") ? take_pair(at, value) : std::nullopt;
    }
    const bool joins = value == scale_.low || is(at + 1, "-") || is_any(at + 1, foreign_to);
    return joins ? std::optional(place) : std::nullopt;
  }

  /// "on a scale from 1 to" where the text is cut.
  bool dangles(std::size_t at) const {
    return !has(at + 2) && is_any(at + 1, word_list<"to - and">) && is_any(at - 1, word_list<"from of between">);
  }

  /// "1, 2, 3, 4, 5": the whole scale, one after the other.
  std::optional<std::size_t> listed_scale(std::size_t at) const {
    double next = scale_.low;
    for (auto place = at; value_at(place) == next; next += 1) {
      if (next == scale_.high) {
        return place;
      }
      place += 1;
      while (is_any(place, word_list<", or and | /">)) {
        ++place;
      }
    }
    return std::nullopt;
  }

  /// "scale of 1 to 10": soon before a number.
  bool names_scale(std::size_t at) const {
    constexpr std::size_t farthest = 4;
    static constexpr auto scales = word_list<"scale scales">;
    const auto first = sentence_around(tokens_, at).first;
    return has_any(std::max(first, at - std::min(at, farthest)), at, scales);
  }

  /// "4/5", "4 out of 5", "4 (out of 5)", "4 of 5"; with the scale's end "4 sur 5".
  std::optional<std::size_t> take_share(std::size_t at, double value) {
    const bool is_bounded = is_any(at - 1, word_list<"least most nearly only">);
    if (is(at + 1, "in") && value_at(at + 2) && (is_bounded || token(at + 3).is_word())) {
      return at + 2;  // "3 in 5 Americans", "at least 1 in 5"
    }
    std::size_t whole_at = at;
    const auto out = is_any(at + 1, word_list<"( points stars">) ? at + 2 : at + 1;
    if (is_any(at + 1, word_list<"/ of">)) {
      whole_at = at + 2;
    } else if (is(out, "out") && is(out + 1, "of")) {
      whole_at = out + 2;
      while (is_any(whole_at, word_list<"a possible the maximum total">)) {
        ++whole_at;
      }
    }
    const bool is_foreign = whole_at == at && token(at + 1).text.size() > 1 && token(at + 1).is_word() &&
                            !is_frequent(token(at + 1)) && !is_any(at + 1, foreign_to) &&
                            value_at(at + 2) == scale_.high;
    whole_at = is_foreign ? at + 2 : whole_at;
    const auto whole = whole_at > at ? value_at(whole_at) : std::nullopt;
    if (!whole || (is(at + 1, "of") && *whole != scale_.high)) {
      return std::nullopt;
    }
    const bool is_date = is(whole_at + 1, "/");
    if (is_date || (!is_foreign && has(whole_at + 1) && is_counted(whole_at, *whole))) {
      return is_date ? whole_at + 2 : whole_at;
    }
    add(at, whole_at + 1, value, value, *whole != scale_.high || !is_in(value));
    if (!surroundings_.explain(at)) {
      found_.back().strength = std::max(found_.back().strength, Strength::cued);
    }
    shares_.push_back(at);
    return whole_at;
  }

  /// Part of a date, a time, an odds ratio or a name: "2018-03-04", "12:05", "1:3", "d2".
  bool is_part(std::size_t at) const {
    const auto joins_number = [&](std::size_t sign, std::size_t number) {
      return is_any(sign, word_list<": - . /">) && joins(std::max(sign, at)) && joins(std::max(sign, number)) &&
             token(number).is_number();
    };
    const bool is_before = joins_number(at + 1, at + 2);
    const bool is_behind = joins_number(at - 1, at - 2);
    const bool is_ratio = (is_before && is(at + 1, ":")) || (is_behind && is(at - 1, ":"));
    const auto is_same = [&](std::size_t left, std::size_t right) { return is(left, token(right).text); };
    const bool is_chain = (is_before && is_behind && is_same(at - 1, at + 1)) ||
                          (is_before && is_same(at + 1, at + 3) && joins_number(at + 3, at + 4)) ||
                          (is_behind && is_same(at - 1, at - 3) && joins_number(at - 3, at - 4));
    const bool is_named = joins(at) && token(at - 1).is_word() && is_ascii(token(at - 1));
    const bool is_padded = tokens_[at].text.size() > 1 && tokens_[at].text.starts_with('0') && tokens_[at].value >= 1;
    return is_ratio || is_chain || is_named || is_padded;
  }

  /// How far off the number before it may be: "give or take 5", "+/- 5", "plus or minus 1", "within 2 points".
  bool is_tolerance(std::size_t at) const {
    return (at > 2 && is(at - 2, "or") && is_any(at - 1, word_list<"take minus">)) ||
           (is(at - 1, "-") && is(at - 2, "/") && is(at - 3, "+")) || (is(at - 1, "by") && is(at + 1, "points")) ||
           is(at - 1, "within");
  }

  /// Of a calculation: "3 x 4 = 12", "multiply by 2".
  bool is_calculated(std::size_t at) const {
    const auto is_sign = [&](std::size_t sign) { return is_any(sign, calculation_signs); };
    const bool is_left = is_sign(at + 1) && (token(at + 2).is_number() || is(at + 2, "("));
    const bool is_right = is_sign(at - 1) && (token(at - 2).is_number() || is(at - 2, ")"));
    return is_left || is_right || has_any(sentence_around(tokens_, at).first, at, calculating);
  }

  /// "80 %", but where 100 is the scale's end and no word follows.
  bool is_percentage(std::size_t at) const {
    constexpr double whole = 100;
    return is(at + 1, "%") && (scale_.high != whole || token(at + 2).is_word() || is(at - 1, "("));
  }

  /// Part of a date, a share, money, an ordinal, or how many of something there are.
  bool is_counted(std::size_t at, double value) const {
    const bool is_formula = is(at + 1, "$");  // "$4$"
    if ((is_any(at - 1, before_amount) && !is_formula) || is_percentage(at) || (value >= 1000 && scale_.high < 1000) ||
        (!has(at + 1) && is(at - 1, "between")) || is_part(at) || is_tolerance(at) || is_calculated(at)) {
      return true;
    }
    if (is(at - 1, "[") && is(at + 1, "]") && joins(at - 1) && !is(at - 2, "[")) {
      return true;  // a reference
    }
    if (is(at + 1, "-") && joins(at + 1) && joins(at + 2) && token(at + 2).is_word()) {
      return !is(at + 2, "ish");  // "5-point"
    }
    if (is_any(at - 1, numbered_things)) {
      return true;
    }
    if (!token(at + 1).is_word()) {
      return false;
    }
    if (joins(at + 1)) {
      // "20th", but "4ish" and what other languages write without a blank
      return !is(at + 1, "ish") && !is(at + 1, "pts") && is_ascii(tokens_[at + 1]);
    }
    if (is_any(at - 1, before_count) && !is_any(at + 1, behind_the_answer)) {
      return true;  // "the 3 most common jobs"
    }
    if (is_any(at + 1, counted_things)) {
      return !(is(at + 1, "point") && strong_before(at));
    }
    if (is_any(at + 1, behind_any_answer)) {
      return is(at + 1, "of") && !strong_before(at);
    }
    const bool opens = is_line_end(at - 1);
    return !(strong_before(at) || (opens && tokens_[at + 1].is_capital) || !is_ascii(tokens_[at + 1]));
  }

  static bool is_ascii(const Token& token) {
    return std::ranges::all_of(token.text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }

  /// A cue right before: "rate them 4", ": 4".
  bool strong_before(std::size_t at) const {
    return is_any(at - 1, right_before_answer) ||
           (is_any(at - 1, between_cue_and_answer) && (is_any(at - 2, right_before_answer) || is(at - 2, "would")));
  }

  /// An end of the scale with what it means: "where 1 is", "(5 = extremely)".
  bool is_scale_end(std::size_t at, double value) const {
    if (value != scale_.low && value != scale_.high) {
      return false;
    }
    const bool means = is_any(at + 1, behind_scale_end);
    const bool opens = at == 0 || ends_sentence(tokens_[at - 1]) || is_any(at - 1, word_list<": \"">);
    const bool in_front = is_any(at - 1, before_scale_end);
    const bool in_scale = is(at - 1, "of") && names_scale(at) && (!has(at + 1) || is(at + 1, "to"));
    return in_scale || (means && in_front) ||
           (means && !opens && !is(at + 1, "is") && !is(at + 1, "as") && (!is(at - 1, "a") || is(at + 1, "means")));
  }

  /// Those at these places, which ascend.
  void drop(const std::vector<std::size_t>& places) {
    std::size_t place = 0;
    std::erase_if(found_, [&](const Candidate& /*one*/) { return std::ranges::binary_search(places, place++); });
  }

  /// Values with what they mean: "1 = not at all, 2 = slightly, ...", "1: not at all".
  void drop_legends() {
    std::vector<std::size_t> legends;
    for (std::size_t first = 0; first < found_.size();) {
      auto last = first + 1;
      while (last < found_.size() && continues_legend(last)) {
        ++last;
      }
      if (last - first > 2) {
        for (auto place = first; place < last; ++place) {
          legends.push_back(place);
        }
      } else if (is_pair_of_ends(first)) {
        legends.insert(legends.end(), {first, first + 1});
        last = first + 2;
      }
      first = last;
    }
    drop(legends);
  }

  /// The next value up or down, soon; both with what they mean or both at the start of lines.
  bool continues_legend(std::size_t place) const {
    const auto is_entry = [this](std::size_t one) {
      const auto at = found_[one].token;
      const bool is_line = is_line_end(at - 1) && is_line_end(at + 1);
      return is_line || is_legend_entry(one);
    };
    return is_entry(place - 1) && is_entry(place) && found_[place].token - found_[place - 1].token <= longest_entry &&
           std::abs(found_[place].low - found_[place - 1].low) == 1;
  }

  /// "(1 ...)" or "1 =", "1:", "1 - ..."; "[1]".
  bool is_legend_entry(std::size_t place) const {
    const auto at = found_[place].token;
    const bool is_enclosed = is(at - 1, "(") && is(at + 1, ")");
    return found_[place].low == found_[place].high && (is_any(at + 1, behind_legend_entry) || is_enclosed);
  }

  /// The least and the greatest value, both with what they mean: "'not at all' (1) and 'extremely' (5)".
  bool is_pair_of_ends(std::size_t first) const {
    if (first + 1 >= found_.size() || !is_legend_entry(first)) {
      return false;
    }
    const auto second = found_[first + 1].token;
    const bool is_cut =
        std::ranges::binary_search(scale_ends_, found_[first].token) && is(second - 1, "and") && !has(second + 1);
    if (!is_legend_entry(first + 1) && !is_cut) {
      return false;
    }
    const auto ends = std::minmax({found_[first].low, found_[first + 1].low});
    const bool is_apart = is(found_[first].token + 1, "-") != is(second + 1, "-");  // "Nuns: 5 - ... (1 = lowest)"
    return !is_apart && ends.first == scale_.low && ends.second == scale_.high &&
           found_[first + 1].token - found_[first].token <= longest_entry;
  }

  void name_other_scale(std::size_t at) {
    constexpr std::size_t most = 100;  // each is compared with each number
    if (other_scales_.size() < most) {
      other_scales_.push_back(sentence_around(tokens_, at));
    }
  }

  /// Numbers in a sentence that names another scale are on that one: "on a scale of 1-10, I'd say 4".
  void mark_other_scales() {
    for (auto& one : found_) {
      one.is_off_scale = one.is_off_scale || std::ranges::any_of(other_scales_, [&](const Sentence& scale) {
                           return one.token >= scale.first && one.token < scale.last;
                         });
    }
  }

  static constexpr std::size_t longest_entry = 12;  ///< of a legend: tokens

  const Scale& scale_;
  Surroundings surroundings_;
  bool is_english_;
  std::vector<Candidate> found_;
  std::vector<std::size_t> shares_;      ///< tokens of "4 out of 5"
  std::vector<std::size_t> scale_ends_;  ///< tokens of "where 1 is"
  std::vector<Sentence> other_scales_;   ///< sentences that name one
};

}  // namespace

std::vector<Candidate> number_candidates(std::span<const Token> tokens, const Scale& scale, Language language) {
  return NumberReader(tokens, scale, language).read();
}

}  // namespace stereosweep::answers
