#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/RatingParser.hpp"
#include "answers/refusal/Refusal.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

/// An item's name in the text.
struct ItemMention : NameMention {
  bool opens_line = false;  ///< but for marks and the number of the line
};

class RatingListReader : TokenReader {
 public:
  RatingListReader(std::span<const Token> tokens, std::span<const std::string> items, const Scale& scale)
      : TokenReader(tokens),
        scale_(scale),
        names_(joined_names(items)),
        ratings_(items.size(), Rating{.status = Status::missing}) {}

  std::vector<Rating> read() {
    find_mentions();
    std::vector<Token> others(tokens_.begin(), tokens_.end());  // names of items are of no language
    for (const auto& one : mentions_) {
      std::fill_n(others.begin() + static_cast<std::ptrdiff_t>(one.first), one.last - one.first, Token{});
    }
    language_ = language_of(others);
    std::erase_if(mentions_, [own = Surroundings(tokens_)](const ItemMention& one) {
      return !one.opens_line && own.refuse(one.first);  // "I won't rate them as friendly"
    });
    read_opened_lines();
    read_running_text();
    if (mentions_.empty()) {
      read_bare_list();
    }
    return std::move(ratings_);
  }

 private:
  /// Names as they are given; where an item has none, lines that begin with another form of it.
  void find_mentions() {
    find_mentions(NameForm::exact);
    std::vector<bool> is_named(names_.size(), false);
    for (const auto& one : mentions_) {
      is_named[one.name] = true;
    }
    if (!base::contains(is_named, false)) {
      return;
    }
    auto exact = std::exchange(mentions_, {});
    find_mentions(NameForm::same_stem);
    // "Friendliness 4, honesty 3" where no item is named as it was asked.
    const bool are_others = exact.empty() && !mentions_.empty() && mentions_.front().name != mentions_.back().name;
    std::erase_if(mentions_,
                  [&](const ItemMention& one) { return is_named[one.name] || !(one.opens_line || are_others); });
    exact.insert(exact.end(), mentions_.begin(), mentions_.end());
    mentions_.clear();
    // Of two that overlap the longer one: "Warm-heartedness" is "warm-hearted", not "warm".
    std::ranges::stable_sort(exact, std::greater{}, [](const ItemMention& one) { return one.last - one.first; });
    std::ranges::copy_if(exact, std::back_inserter(mentions_), [&](const ItemMention& one) {
      return std::ranges::none_of(
          mentions_, [&](const ItemMention& other) { return one.first < other.last && other.first < one.last; });
    });
    std::ranges::sort(mentions_, {}, &ItemMention::first);
  }

  void find_mentions(NameForm form) {
    constexpr std::size_t most = 1000;  // more are no answer; they are compared with each other
    bool opens = true;
    for (std::size_t at = 0; at < tokens_.size() && mentions_.size() < most;) {
      const auto found = name_at(tokens_, at, names_, form);
      if (!found) {
        opens = is_line_end(at) || tokens_[at].is_list_mark || (opens && tokens_[at].kind == Token::Kind::mark);
        ++at;
        continue;
      }
      mentions_.push_back({*found, opens});
      opens = false;
      at = found->last;
    }
  }

  /// Takes another answer about an item.
  static void take(Rating& known, const Rating& rating) {
    if (rating.status == Status::unparsed) {
      return;
    }
    const bool same = known.status == rating.status &&
                      (known.status != Status::answered || known.value == rating.value) &&
                      (known.status != Status::range || (known.low == rating.low && known.high == rating.high));
    if (known.status == Status::missing || known.status == Status::unparsed) {
      known = rating;
    } else if (!same) {
      known = {.status = Status::contradictory};
    }
  }

  Rating read_part(std::size_t first, std::size_t last) const {
    return read_rating(tokens_.subspan(first, last - first), scale_, language_);
  }

  /// At most `longest_line` tokens before.
  std::size_t line_begin(std::size_t at) const {
    const auto first = at - std::min(at, longest_line);
    while (at > first && !is_line_end(at - 1)) {
      --at;
    }
    return at;
  }

  /// At most `longest_line` tokens further on.
  std::size_t line_end(std::size_t at) const {
    const auto last = std::min(tokens_.size(), at + longest_line);
    while (at < last && !is_line_end(at)) {
      ++at;
    }
    return at;
  }

  /// "Friendly: 4 because ...", and what follows up to the next such line.
  void read_opened_lines() {
    std::vector<ItemMention> openers;
    std::ranges::copy_if(mentions_, std::back_inserter(openers), [&](const ItemMention& one) {
      return one.opens_line && !is(one.last, ",") && !is(one.last, "and");
    });
    for (std::size_t place = 0; place < openers.size(); ++place) {
      const auto& one = openers[place];
      const bool has_next = place + 1 < openers.size();
      const auto next = has_next ? openers[place + 1].first : tokens_.size();
      const auto line = has_next ? line_begin(next) : 0;  // its number may stand before it
      const auto last = part_end(one, line > one.last ? line : next);
      const auto end = std::min(line_end(one.last), last);
      auto stop = end;
      for (const auto& other : mentions_) {
        if (other.first >= one.last && other.first < end && other.name != one.name) {
          stop = std::min(stop, other.first);
        }
      }
      auto rating = read_at_once(one, stop);
      if (rating.status == Status::unparsed) {
        rating = read_part(one.last, stop);
      }
      if (rating.status == Status::unparsed && stop == end) {
        rating = read_lines(end, last);
      }
      if (rating.status == Status::unparsed) {
        ratings_[one.name].status = no_answer(lower_text(one.last, last), End::finished);
      } else {
        take(ratings_[one.name], rating);
      }
    }
  }

  /// Where the part of an item ends that begins a line, `last` at most: at the next entry of its list, whatever that
  /// names.
  std::size_t part_end(const ItemMention& one, std::size_t last) const {
    const auto own = line_begin(one.first);
    const bool is_bulleted = is_any(own, word_list<"- +">);
    const auto marks = tokens_.subspan(own, one.first - own);
    const bool is_inside_line = std::ranges::count(marks, true, &Token::is_list_mark) > 1;
    last = is_inside_line ? std::min(last, line_end(one.last)) : last;
    for (auto at = one.last; at < last; ++at) {
      const bool starts = is_line_end(at - 1);
      const bool is_bullet = starts && is_any(at, word_list<"- +">) && indent(at) <= indent(own);
      if (tokens_[at].is_list_mark || (is_bulleted && is_bullet)) {
        return at;
      }
    }
    return last;
  }

  /// Blanks before the first token of a line.
  std::size_t indent(std::size_t at) const {
    return at == 0 ? 0 : static_cast<std::size_t>(tokens_[at].text.data() - tokens_[at - 1].text.data() - 1);
  }

  /// What the lines below an item say; of different ratings that of the first line.
  Rating read_lines(std::size_t first, std::size_t last) const {
    auto rating = read_part(first, last);
    for (auto at = first; rating.status == Status::contradictory && at < last; ++at) {
      const auto end = std::min(line_end(at), last);
      const auto one = read_part(at, end);
      rating = one.status == Status::unparsed ? rating : one;
      at = end;
    }
    return rating;
  }

  /// "Friendly (4): 3 in 5 say so", "Friendly: 4 - since 1980": the number directly behind the item, where nothing
  /// takes it back, up to what ends its clause.
  Rating read_at_once(const ItemMention& one, std::size_t end) const {
    static constexpr auto leading = word_list<"rating score rated about around solid approximately roughly a of">;
    auto at = one.last;
    while (at < end && !tokens_[at].is_number() && (tokens_[at].kind == Token::Kind::mark || is_any(at, leading)) &&
           !is(at, "]") && (!ends_sentence(tokens_[at]) || is(at, "?"))) {
      ++at;
    }
    static constexpr auto explaining = word_list<"= means being is">;  // "(1 = not at all, ...)"
    if (at == one.last || at >= end || !tokens_[at].is_number() || is_any(at + 1, explaining)) {
      return {};
    }
    auto stop = at + 1;
    while (stop < end && !ends_clause(stop, end)) {
      ++stop;
    }
    const bool is_taken_back = last_withdrawal(tokens_.first(end), stop).has_value();
    return is_taken_back ? Rating{} : read_part(at, stop);
  }

  /// A dash with blanks, a bracket, a comma or the end of a sentence: what follows explains the number before it.
  bool ends_clause(std::size_t at, std::size_t end) const {
    const bool is_range = at + 1 < end && tokens_[at + 1].is_number() && (at + 2 == end || !tokens_[at + 2].is_word());
    const bool is_dash = is(at, "-") && tokens_[at].follows_blank && !is_range;
    const bool is_bracket = is(at, "(") && !is(at + 1, "out") && !is(at + 1, "or") && !is(at + 1, "/");
    static constexpr auto ends = word_list<", ) ] | because since due">;
    const bool offers = is(at, ",") && is_any(at + 1, word_list<"maybe perhaps possibly">);
    return ends_sentence(tokens_[at]) || is_dash || is_bracket || (is_any(at, ends) && !offers);
  }

  std::string_view lower_text(std::size_t first, std::size_t last) const {
    if (first == last) {
      return {};
    }
    const auto end = tokens_[last - 1].text;
    return {tokens_[first].text.data(), end.data() + end.size()};
  }

  /// "friendly 4, sociable 3", "4 for friendly and 3 for sociable", "friendly and sociable both 4".
  void read_running_text() {
    std::vector<Rating> found(ratings_.size(), Rating{.status = Status::missing});
    Rating last;
    for (std::size_t place = 0; place < mentions_.size(); ++place) {
      const auto& one = mentions_[place];
      const auto begin = place > 0 ? mentions_[place - 1].last : 0;
      const auto end = place + 1 < mentions_.size() ? mentions_[place + 1].first : tokens_.size();
      const auto sentence = sentence_around(tokens_, one.first);
      const bool number_first = leads_with_rating(sentence);
      auto rating = number_first ? read_part(std::max(begin, sentence.first), one.first) : Rating{};
      if (rating.status == Status::unparsed && number_first && place > 0 && is_joined(mentions_[place - 1], one)) {
        rating = last;  // "4 for friendly and honest"
      }
      if (rating.status == Status::unparsed) {
        const bool is_asked = is(one.last, "?");  // "Pity? 1."
        const auto own = is_asked ? sentence_around(tokens_, std::min(one.last + 1, tokens_.size() - 1)) : sentence;
        rating = read_part(one.last, std::min(end, own.last));
      }
      // Joined to the next item: they share its rating.
      for (auto next = place + 1; rating.status == Status::unparsed && next < mentions_.size() &&
                                  is_joined(mentions_[next - 1], mentions_[next]);
           ++next) {
        const auto stop = next + 1 < mentions_.size() ? mentions_[next + 1].first : tokens_.size();
        rating = read_part(mentions_[next].last, std::min(stop, sentence_around(tokens_, mentions_[next].first).last));
      }
      take(found[one.name], rating);
      if (rating.status == Status::answered && last_withdrawal(tokens_.first(one.first), sentence.first)) {
        ratings_[one.name] = rating;  // "On reflection, competent should be 5"
      }
      last = rating;
    }
    for (std::size_t item = 0; item < ratings_.size(); ++item) {
      const bool is_open = ratings_[item].status == Status::missing || ratings_[item].status == Status::unparsed;
      if (is_open && found[item].status != Status::missing) {
        ratings_[item] = found[item];
      }
    }
  }

  /// "4 for friendly": a rating stands before the sentence's first item.
  bool leads_with_rating(const Sentence& sentence) const {
    const auto first =
        std::ranges::find_if(mentions_, [&](const ItemMention& one) { return one.first >= sentence.first; });
    constexpr std::size_t farthest = 6;  // tokens between a number and the item
    const auto begin = std::max(sentence.first, first->first - std::min(first->first, farthest));
    const auto before = tokens_.subspan(begin, first->first - begin);
    const bool is_near = !scale_.options.empty() || std::ranges::any_of(before, &Token::is_number);
    // "4 for friendly", but "those who gave 4 are friendly"
    static constexpr auto telling = word_list<"are is was were that who have has means you">;
    const auto last = std::ranges::find_if(before.rbegin(), before.rend(), &Token::is_number).base();
    const bool tells = is_near && scale_.options.empty() && std::any_of(last, before.end(), [](const Token& token) {
                         return base::contains(Words(telling), token.text);
                       });
    return is_near && !tells && read_part(sentence.first, first->first).status != Status::unparsed;
  }

  /// Only "," and "and" stand between two items.
  bool is_joined(const ItemMention& left, const ItemMention& right) const {
    for (auto at = left.last; at < right.first; ++at) {
      if (!is(at, ",") && !is(at, "and") && !is(at, "&")) {
        return false;
      }
    }
    return left.last < right.first;
  }

  /// As many ratings as items, one a line or separated by commas or "and", and hardly a word; of three items or more
  /// also a line of them alone below a text that declines nothing.
  void read_bare_list() {
    constexpr std::size_t few_words = 6;
    constexpr std::size_t fewest = 3;
    auto line = tokens_.size();
    while (line > 0 && !is_line_end(line - 1)) {
      --line;
    }
    const auto above = tokens_.first(line);
    if (!read_bare_list(0, few_words) && line > 0 && ratings_.size() >= fewest && find_declining(above).empty()) {
      read_bare_list(line, 0);
    }
  }

  bool read_bare_list(std::size_t begin, std::size_t most_beside) {
    static constexpr auto labels = word_list<"rating ratings score scores answer answers value values item trait">;
    std::vector<Rating> found;
    std::size_t first = begin;
    std::size_t num_words = 0;
    const auto close = [&](std::size_t at) {
      const bool is_numbered = first + 2 < at && tokens_[first].is_number() && is_any(first + 1, word_list<". ) :">);
      const auto value = first + (is_numbered ? 2 : 0);
      const auto rating = value < at ? read_part(value, at) : Rating{};
      if (rating.status != Status::unparsed) {
        found.push_back(rating);
      }
    };
    for (auto at = begin; at <= tokens_.size(); ++at) {
      const bool separates = at == tokens_.size() || is_line_end(at) || is_any(at, word_list<", ; and">);
      const bool follows_number =
          at > first && at < tokens_.size() && tokens_[at].is_number() && tokens_[at - 1].is_number();
      const bool is_word = !separates && tokens_[at].is_word();
      const bool names_another = is_word && is(at + 1, ":") && !is_any(at, labels);  // "Height: 3"
      num_words += names_another ? most_beside + 1 : is_word ? 1 : 0;
      if (separates || follows_number) {
        close(at);
        first = separates ? at + 1 : at;
      }
    }
    const bool is_list = found.size() == ratings_.size() && (num_words <= most_beside || !scale_.options.empty());
    if (is_list) {
      ratings_ = std::move(found);
    }
    return is_list;
  }

  static constexpr std::size_t longest_line = 1000;  ///< tokens: time must grow with the length of the text alone

  const Scale& scale_;
  Language language_ = Language::english;
  std::vector<std::string> names_;  ///< of the items, joined
  std::vector<ItemMention> mentions_;
  std::vector<Rating> ratings_;
};

}  // namespace

std::vector<Rating> parse_ratings(std::string_view answer, std::span<const std::string> items, const Scale& scale,
                                  End end) {
  const TokenizedText text(plain_text(answer));
  auto ratings = RatingListReader(text.tokens(), items, scale).read();
  const bool has_none = std::ranges::all_of(ratings, [](const Rating& one) {
    return one.status == Status::missing || one.status == Status::unparsed || one.status == Status::refused;
  });
  const bool is_refused = has_none && no_answer(text.lower(), end) == Status::refused;
  for (auto& rating : ratings) {
    if (is_refused) {
      rating.status = Status::refused;
    } else if (end == End::cut_off && (rating.status == Status::missing || rating.status == Status::unparsed)) {
      rating.status = Status::truncated;
    }
  }
  return ratings;
}

}  // namespace stereosweep::answers
