#include "corpus/Matcher.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::corpus {
namespace {

using Boundary = Corpus::Boundary;
using Case = Corpus::Case;

void check(std::span<const std::string> words) {
  base::Problems problems;
  std::set<std::string_view> known;
  for (const auto& word : words) {
    if (const auto fault = fault_of(word); !fault.empty()) {
      problems.add({}, "cannot look for " + base::json_quote(word), fault);
    } else if (!known.insert(word).second) {
      problems.add({}, "cannot look for " + base::json_quote(word), "it is wanted twice");
    }
  }
  problems.raise_if_any("the corpus cannot be searched");
}

}  // namespace

std::string_view fault_of(const std::string& word) {
  if (base::find_invalid_utf8(word)) {
    return "it is not valid UTF-8";
  }
  if (comparable(word, Case::exact, StaticVectors::Accents::keep).empty()) {
    return "it is empty";
  }
  bool after_blank = true;
  for (std::size_t at = 0; at < word.size();) {
    const auto character = next_character(word, at);
    if (character < 0x20 || character == 0x7F) {
      return "it has a control character";
    }
    if (character == ' ' && after_blank) {
      return "it begins with a blank, or has two beside each other";
    }
    if (character != ' ' && kind_of(character) == Kind::white_space) {
      return "it has white space that is no blank";
    }
    after_blank = character == ' ';
  }
  return after_blank ? "it ends with a blank" : "";
}

Matcher::Matcher(std::span<const std::string> words, Boundary boundary, Case letter_case)
    : boundary_(boundary), case_(letter_case) {
  check(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    masks_.assign(words[i]);
    add_pattern(i, normal_form(words[i], masks_.unsettled(), places_));
  }
}

void Matcher::add_pattern(std::size_t word, std::string_view text) {
  Pattern pattern{word, {}, 0};
  for (std::size_t at = 0; at < text.size();) {
    pattern.text += normal(next_character(text, at));
  }
  const auto is_word = [](char32_t character) { return kind_of(character) == Kind::word; };
  const auto begin = std::find_if(pattern.text.begin(), pattern.text.end(), is_word);
  const auto end = std::find_if_not(begin, pattern.text.end(), is_word);
  pattern.prefix = static_cast<std::size_t>(begin - pattern.text.begin());
  if (begin == end) {
    without_run_.push_back(patterns_.size());
  } else {
    std::string run;
    std::for_each(begin, end, [&run](char32_t character) { base::append_utf8(run, character); });
    table_.add(key_of(run, 0, run.size()), static_cast<std::uint32_t>(patterns_.size()));
  }
  patterns_.push_back(std::move(pattern));
}

const std::vector<Hit>& Matcher::find(std::string_view text, Scope scope) {
  scope_ = scope;
  hits_.clear();
  masks_.assign(text);
  if (masks_.unsettled().empty()) {
    search(text, masks_);
  } else {
    const auto normal = normal_form(text, masks_.unsettled(), places_);
    normal_masks_.assign(normal);
    search(normal, normal_masks_);
    for (auto& hit : hits_) {
      hit = {hit.word, places_[hit.begin], places_[hit.end]};
      for (auto last = previous_character(text, hit.end); is_unseen(character_at(text, last), 0);) {
        hit.end = last;
        last = previous_character(text, last);
      }
    }
  }
  const auto order = [](const Hit& hit) { return std::tuple(hit.begin, hit.word); };
  if (!std::ranges::is_sorted(hits_, {}, order)) {
    std::ranges::sort(hits_, {}, order);
  }
  return hits_;
}

void Matcher::search(std::string_view text, const WordMasks& masks) {
  const auto& words = masks.words();
  const auto run = [&](std::size_t begin, std::size_t end) {
    const auto key = case_ == Case::exact         ? key_of(text, begin, end)
                     : masks.has_high(begin, end) ? folded_key_of(text, begin, end)
                                                  : lower_key_of(text, begin, end);
    if (table_.may_have(key)) {  // nearly never: the rest is no part of this loop
      look_up(text, begin, key);
    }
  };
  std::uint64_t last = 0;  // bit 63 of the block before
  std::size_t begin = 0;
  bool inside = false;
  for (std::size_t block = 0; block < words.size(); ++block) {
    const auto bits = words[block];
    for (auto changes = bits ^ (bits << 1 | last); changes != 0; changes &= changes - 1) {
      const auto position = block * 64 + static_cast<std::size_t>(std::countr_zero(changes));
      if (inside) {
        run(begin, position);
      } else {
        begin = position;
      }
      inside = !inside;
    }
    last = bits >> 63;
  }
  if (inside) {
    run(begin, text.size());
  }
  for (const auto pattern : without_run_) {
    find_without_run(text, patterns_[pattern]);
  }
}

void Matcher::look_up(std::string_view text, std::size_t begin, TokenKey key) {
  table_.visit(key, [&](std::uint32_t pattern) { compare(text, begin, patterns_[pattern]); });
}

// A run with characters beyond ASCII: their folded forms may take more or fewer bytes.
TokenKey Matcher::folded_key_of(std::string_view text, std::size_t begin, std::size_t end) const {
  TokenKey key;
  const auto add = [&key](std::uint64_t bytes, std::uint64_t count) {
    key.head |= key.length < 8 ? bytes << 8 * key.length : 0;
    key.length += count;
  };
  for (auto at = begin; at < end;) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const bool takes_two = lead >= 0xC0 && lead < 0xE0;  // most letters beyond ASCII: no loop
    const auto character =
        takes_two ? (lead & 0x1FU) << 6 | (static_cast<unsigned char>(text[at + 1]) & 0x3FU) : next_character(text, at);
    at += takes_two ? 2 : 0;
    const auto value = character < foldings_.size() ? foldings_[character] : character;
    if (value < 0x80) {
      add(value, 1);
    } else if (value < 0x800) {
      add((0xC0 | value >> 6) | (0x80 | (value & 0x3F)) << 8, 2);
    } else if (value < 0x10000) {
      add((0xE0 | value >> 12) | (0x80 | (value >> 6 & 0x3F)) << 8 | (0x80 | (value & 0x3F)) << 16, 3);
    } else {
      add((0xF0 | value >> 18) | (0x80 | (value >> 12 & 0x3F)) << 8 | (0x80 | (value >> 6 & 0x3F)) << 16 |
              std::uint64_t{0x80 | (value & 0x3F)} << 24,
          4);
    }
  }
  return key;
}

void Matcher::find_without_run(std::string_view text, const Pattern& pattern) {
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    if (normal(next_character(text, at)) == pattern.text.front()) {
      compare(text, begin, pattern);
    }
  }
}

// `begin`: of the run.
void Matcher::compare(std::string_view text, std::size_t begin, const Pattern& pattern) {
  std::size_t end = 0;
  const bool has_run = pattern.prefix < pattern.text.size();
  if ((!has_run || starts_at(text, begin, pattern)) && ends_at(text, begin, pattern, end) &&
      is_bounded(text, begin, end)) {
    hits_.push_back({pattern.word, begin, end});
  }
}

// Moves `begin` back over what the pattern has before its first run.
bool Matcher::starts_at(std::string_view text, std::size_t& begin, const Pattern& pattern) const {
  for (auto i = pattern.prefix; i > 0; --i) {
    const bool spaces = pattern.text[i - 1] == ' ' && boundary_ == Boundary::word;
    do {
      if (begin == 0) {
        return false;
      }
      begin = previous_character(text, begin);
    } while (spaces && begin > 0 && is_space(character_at(text, previous_character(text, begin))));
  }
  return true;
}

bool Matcher::ends_at(std::string_view text, std::size_t begin, const Pattern& pattern, std::size_t& end) const {
  end = begin;
  for (const char32_t wanted : pattern.text) {
    if (end == text.size()) {
      return false;
    }
    const bool spaces = wanted == ' ' && boundary_ == Boundary::word;
    const auto found = next_character(text, end);
    if (spaces ? !is_space(found) : normal(found) != wanted) {
      return false;
    }
    while (spaces && end < text.size() && is_space(character_at(text, end))) {
      next_character(text, end);
    }
  }
  return true;
}

bool Matcher::is_bounded(std::string_view text, std::size_t begin, std::size_t end) const {
  if (boundary_ == Boundary::blanks) {
    return begin > 0 && text[begin - 1] == ' ' && end < text.size() && text[end] == ' ';
  }
  return (begin == 0 || kind_of(character_at(text, previous_character(text, begin))) != Kind::word) &&
         (end == text.size() || kind_of(character_at(text, end)) != Kind::word);
}

char32_t Matcher::normal(char32_t character) const { return case_ == Case::ignore ? fold(character) : character; }

bool Matcher::is_space(char32_t character) const {
  return kind_of(character) == Kind::white_space && (scope_ == Scope::sentence || character != '\n');
}

}  // namespace stereosweep::corpus
