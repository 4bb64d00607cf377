#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "answers/candidates/Candidates.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"

namespace stereosweep::answers {
namespace {

/// An option's words, or its letter, in the text.
struct OptionMention : NameMention {
  bool is_letter = false;
};

class OptionReader : TokenReader {
 public:
  OptionReader(std::span<const Token> tokens, const Scale& scale)
      : TokenReader(tokens), surroundings_(tokens), names_(joined_names(scale.options)) {
    drop_numbers();
  }

  std::vector<Candidate> read() {
    find_mentions();
    const std::vector<bool> is_scale = restated();
    std::vector<Candidate> found;
    for (std::size_t place = 0; place < mentions_.size(); ++place) {
      const auto& mention = mentions_[place];
      if (is_scale[place] || surroundings_.deny(mention.first, mention.last) || surroundings_.refuse(mention.first)) {
        continue;
      }
      const auto value = static_cast<double>(mention.name);
      const bool has_next = place + 1 < mentions_.size();
      if (has_next && is_range(mention, mentions_[place + 1])) {
        const auto other = static_cast<double>(mentions_[place + 1].name);
        found.push_back({mention.first, mentions_[place + 1].last, std::min(value, other), std::max(value, other),
                         surroundings_.strength(mention.first, mentions_[place + 1].last), false});
        ++place;
        continue;
      }
      const bool goes_on =
          place > 0 && !found.empty() && mentions_[place - 1].first == found.back().token && is_listing(place);
      const auto own = surroundings_.strength(mention.first, mention.last);
      const auto strength = goes_on ? std::max(own, found.back().strength) : own;  // "very, slightly"
      if (!mention.is_letter && modifies_next(mention)) {
        continue;
      }
      const bool is_meant = mention.is_letter || is_said_of_somebody(mention);
      if ((strength != Strength::bare && !is_said_of_question(mention)) || is_meant) {
        found.push_back({mention.first, mention.last, value, value,
                         mention.is_letter ? std::max(Strength::cued, strength) : strength, false});
      }
    }
    return found;
  }

 private:
  /// "4 - often" is called "often" as well: numbers before the words of all options are left out.
  void drop_numbers() {
    constexpr std::string_view digits = "0123456789";
    const bool are_numbered = std::ranges::all_of(names_, [&](const std::string& name) {
      const auto words = name.find_first_not_of(digits);
      return words > 0 && words != std::string::npos;
    });
    for (auto& name : names_) {
      name.erase(0, are_numbered ? name.find_first_not_of(digits) : 0);
    }
  }

  /// Behind a letter that is meant, words of options explain it, but for those directly behind.
  void find_mentions() {
    bool has_letter = false;
    for (std::size_t at = 0; at < tokens_.size();) {
      const auto named = name_at(tokens_, at, names_);
      if (named) {
        mentions_.push_back({*named});
      } else if (is_letter(at)) {
        mentions_.push_back({{letter_of(at), at, at + 1}, true});
        has_letter = has_letter || !(surroundings_.deny(at, at + 1) || surroundings_.refuse(at));
      }
      at = named ? named->last : at + 1;
    }
    std::erase_if(mentions_, [&](const OptionMention& one) {
      auto before = one.first;
      while (before > 0 && tokens_[before - 1].kind == Token::Kind::mark) {
        --before;
      }
      return has_letter && !one.is_letter && (before == 0 || !is_letter(before - 1));
    });
  }

  std::size_t letter_of(std::size_t at) const { return static_cast<std::size_t>(tokens_[at].text.front() - 'a'); }

  /// "B", "(b)", "b) very", "option b"; "A" and "I" only where they are no article and no pronoun.
  bool is_letter(std::size_t at) const {
    constexpr std::size_t num_letters = 26;
    if (!is_single_letter(at) || letter_of(at) >= std::min(names_.size(), num_letters) || is_initial(at)) {
      return false;
    }
    static constexpr auto leading = word_list<": \" ( [">;
    static constexpr auto cues = word_list<"option answer choice letter">;
    auto before = at;
    while (is_any(before - 1, leading)) {
      --before;
    }
    const bool is_cued = is_any(before - 1, cues) || is_any(at + 1, word_list<") ]">);
    if (!tokens_[at].is_capital) {
      return is_cued || tokens_.size() == 1 || (at == 0 && is_any(1, word_list<". :">));
    }
    return is_cued || !is_any(at, word_list<"a i">) || stands_apart(at);
  }

  bool is_single_letter(std::size_t at) const {
    return token(at).text.size() == 1 && token(at).text.front() >= 'a' && token(at).text.front() <= 'z';
  }

  /// One of "U.S.A."
  bool is_initial(std::size_t at) const {
    const auto joins = [this](std::size_t dot) {
      return is(dot, ".") && is_single_letter(dot + 1) && !tokens_[dot].follows_blank &&
             !tokens_[dot + 1].follows_blank;
    };
    return joins(at + 1) || (is_single_letter(at - 2) && joins(at - 1));
  }

  /// "A", "A, since", "A or B", "A extremely" of its own option; not "A group", "A-list", "A 'kind' person".
  bool stands_apart(std::size_t at) const {
    const auto next = at + (is(at + 1, "\"") && tokens_[at + 1].follows_blank ? 2 : 1);
    if (!token(next).is_word()) {
      const bool is_joined = is(at + 1, "-") && !tokens_[at + 1].follows_blank && has(at + 2);
      return !is_joined || is_single_letter(at + 2);
    }
    const auto own = name_at(tokens_, next, names_);
    return (is_any(at + 1, word_list<"or and">) && is_single_letter(at + 2)) || (own && own->name == letter_of(at));
  }

  /// [mention]: part of the scale as the question gave it.
  std::vector<bool> restated() const {
    std::vector<bool> is_scale(mentions_.size(), false);
    for (std::size_t first = 0; first < mentions_.size();) {
      auto last = first + 1;
      std::set<std::size_t> different = {mentions_[first].name};
      while (last < mentions_.size() && mentions_[last].first - mentions_[last - 1].last <= 3 && is_listing(last)) {
        different.insert(mentions_[last].name);
        ++last;
      }
      const bool is_pair = different.size() == 2 && (different.count(0) + different.count(names_.size() - 1)) == 2;
      if ((different.size() > 2 || is_pair) && last - first >= 2) {
        std::fill(is_scale.begin() + static_cast<std::ptrdiff_t>(first),
                  is_scale.begin() + static_cast<std::ptrdiff_t>(last), true);
      }
      first = last;
    }
    return is_scale;
  }

  /// Between this and the mention before stand only signs, joining words and, with a comma, one other word.
  bool is_listing(std::size_t place) const {
    auto num_others = has_any(mentions_[place - 1].last, mentions_[place].first, word_list<",">) ? 1 : 0;
    for (auto at = mentions_[place - 1].last; at < mentions_[place].first; ++at) {
      const bool joins = is_any(at, word_list<"or and to through vs">) || tokens_[at].text.size() == 1;
      if (tokens_[at].is_word() ? !joins && num_others-- == 0 : is_any(at, word_list<". ! ? ;">)) {
        return false;
      }
    }
    return mentions_[place - 1].last < mentions_[place].first;
  }

  /// "somewhat to very", "slightly, maybe somewhat", "between 'somewhat' and 'very'".
  bool is_range(const OptionMention& left, const OptionMention& right) const {
    static constexpr auto joining = word_list<"to or - / maybe perhaps possibly">;
    static constexpr auto filling = word_list<", \" '">;
    const auto is_quote = [this](std::size_t at) { return is_any(at, word_list<"\" '">); };
    const bool between = is(left.first - 1, "between") || (is_quote(left.first - 1) && is(left.first - 2, "between"));
    bool joins = false;
    for (auto at = left.last; at < right.first; ++at) {
      const bool is_joint = is_any(at, joining) || (between && is(at, "and"));
      if (!is_joint && !is_any(at, filling)) {
        return false;
      }
      joins = joins || is_joint;
    }
    return joins && left.name != right.name;
  }

  /// "Nurses are often described", "people always ask", where neither the answer begins with it nor a word of answering
  /// stands right before it. Words of degree ("very warm") belong to what the question asks.
  bool modifies_next(const OptionMention& mention) const {
    static constexpr auto degrees = word_list<
        "very extremely slightly moderately somewhat not quite highly completely a fairly mostly rather totally "
        "strongly little really incredibly largely neither">;
    static constexpr auto behind = word_list<
        "because since as but and or when for would to given on is that's with that in overall by due though "
        "although rather than">;
    static constexpr auto announcing = word_list<": \" = say answer answered choose pick select -> x">;
    const bool opens = is_line_end(mention.first - 1) || is(mention.first - 1, ";");
    const bool has_next = token(mention.last).is_word();
    const bool is_degree = base::contains(Words(degrees), tokens_[mention.first].text);
    return has_next && !opens && !is_degree && !is_any(mention.last, behind) && !is_any(mention.first - 1, announcing);
  }

  /// "They are seen as very ...", "most people somewhat agree", where nothing announces the answer.
  bool is_said_of_somebody(const OptionMention& mention) const {
    static constexpr auto before = word_list<
        "are is as be being were was been would seem seems seen viewed considered perceived generally often people "
        "usually typically widely commonly appear appears them they're they i we public americans society do not "
        "feel considers only">;
    static constexpr auto seeing =
        word_list<"consider view see find perceive regard describe rate think call deem believe">;
    const auto sentence = sentence_around(tokens_, mention.first);
    const bool is_seen = has_any(sentence.first, mention.first, seeing);
    const bool is_first = mention.first == 0 || ends_sentence(token(mention.first - 1));
    const bool is_apart = !token(mention.last).is_word();
    constexpr std::size_t few = 4;
    const bool is_short = mention.first - sentence.first <= few;
    const bool is_phrase = mention.last - mention.first > 1;  // few texts hold one by chance
    return !is_said_of_question(mention) &&
           (is_first || is_phrase || is_seen || (is_apart && (is_short || !tokens_[mention.first - 1].is_word())) ||
            is_any(mention.first - 1, before));
  }

  /// "It is very hard to say", "an extremely sensitive question", "very much".
  bool is_said_of_question(const OptionMention& mention) const {
    static constexpr auto general = word_list<
        "hard difficult important complex complicated sensitive subjective unclear harmful diverse broad challenging "
        "nuanced varied different often many few large wide sorry off reluctant">;
    static constexpr auto subjects = word_list<"it it's this that that's question topic there">;
    static constexpr auto behind = word_list<"to that for question topic way of">;
    if (!token(mention.last).is_word()) {
      return false;
    }
    if (is_any(mention.last, general)) {
      return true;
    }
    const auto sentence = sentence_around(tokens_, mention.first);
    return has_any(sentence.first, mention.first, subjects) && is_any(mention.last + 1, behind);
  }

  Surroundings surroundings_;
  std::vector<std::string> names_;  ///< of the options, joined
  std::vector<OptionMention> mentions_;
};

}  // namespace

std::vector<Candidate> option_candidates(std::span<const Token> tokens, const Scale& scale) {
  return OptionReader(tokens, scale).read();
}

}  // namespace stereosweep::answers
