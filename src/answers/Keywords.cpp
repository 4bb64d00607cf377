#include "answers/Keywords.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "answers/PlainText.hpp"
#include "answers/RatingParser.hpp"
#include "base/Text.hpp"

namespace stereosweep::answers {
namespace {

constexpr std::size_t most_words = 4;  // of a keyword; more are a sentence

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  bool is_inside = false;
  for (const char c : text) {
    const bool is_part = c != ' ' && c != '\t';
    count += is_part && !is_inside ? 1 : 0;
    is_inside = is_part;
  }
  return count;
}

/// Where an explanation begins: ":", "(", "=", "->" or a dash with blanks around it.
std::size_t explanation(std::string_view text) {
  auto first = text.find_first_of(":(=");
  for (const std::string_view dash : {" - ", " -- ", " -> ", "- ", " because ", " as in "}) {
    first = std::min(first, text.find(dash));
  }
  return std::min(first, text.size());
}

/// A keyword without what does not belong to it; "" where nothing is left, or too much.
std::string clean(std::string_view text) {
  text = base::trim(text.substr(0, explanation(text)));
  while (!text.empty() && !is_letter(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && !is_letter(text.back())) {
    text.remove_suffix(1);
  }
  auto word = base::lower_ascii(text);
  for (const std::string_view lead : {"and ", "or ", "also "}) {
    word = word.starts_with(lead) ? word.substr(lead.size()) : word;
  }
  const bool is_sentence = word.find(". ") != std::string::npos || count_words(word) > most_words;
  return is_sentence ? "" : word;
}

/// Introductions and headings, which are no keywords.
bool is_heading(std::string_view word) {
  static constexpr std::string_view headings[] = {"keywords",
                                                  "keyword",
                                                  "answer",
                                                  "here are",
                                                  "traits",
                                                  "characteristics",
                                                  "list",
                                                  "note",
                                                  "sure",
                                                  "certainly",
                                                  "of course",
                                                  "keywords are",
                                                  "the keywords are",
                                                  "adjectives",
                                                  "words",
                                                  "feelings",
                                                  "verbs",
                                                  "emotions",
                                                  "okay",
                                                  "ok",
                                                  "yes"};
  return std::ranges::find(headings, word) != std::end(headings) || word.starts_with("here are") ||
         word.starts_with("here is") || word.starts_with("these are") || word.starts_with("i hope") ||
         word.starts_with("i'm ") || word.starts_with("let me");
}

class KeywordList {
 public:
  explicit KeywordList(std::size_t most) : most_(most) {}
  void add(std::string_view text) {
    auto word = clean(text);
    if (!word.empty() && !is_heading(word) && words_.size() < most_ && known_.insert(word).second) {
      words_.push_back(std::move(word));
    }
  }
  std::size_t size() const { return words_.size(); }
  std::vector<std::string> take() { return std::move(words_); }

 private:
  std::size_t most_;
  std::set<std::string> known_;
  std::vector<std::string> words_;
};

/// Parts between commas, semicolons and, at the end of a list, "and".
std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  std::size_t first = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at == list.size() || list[at] == ',' || list[at] == ';' || list[at] == '|' || list[at] == '[' ||
        list[at] == ']') {
      const auto part = base::trim(list.substr(first, at - first));
      if (!part.empty()) {
        parts.push_back(part);
      }
      first = at + 1;
    }
  }
  if (parts.empty()) {
    return parts;
  }
  const auto last = parts.back();
  const auto joint = parts.size() > 1 || count_words(last) == 3 ? last.find(" and ") : std::string_view::npos;
  if (joint != std::string_view::npos && !last.starts_with("and ")) {
    parts.back() = last.substr(0, joint);
    parts.push_back(last.substr(joint + 5));
  }
  return parts;
}

/// One line as a list; its first sentence alone, behind an introduction that ends in a colon.
std::vector<std::string_view> listed_in(std::string_view line) {
  const auto colon = line.find(':');
  if (colon != std::string_view::npos && line.substr(colon).find(',') != std::string_view::npos &&
      line.substr(0, colon).find(',') == std::string_view::npos) {
    line = base::trim(line.substr(colon + 1));
  }
  for (const std::string_view verb : {" are ", " include ", " be "}) {
    const auto at = line.find(verb);
    if (at != std::string_view::npos && at < line.find(',')) {
      line = line.substr(at + verb.size());
      break;
    }
  }
  const auto end = line.find(". ");
  return parts_of(line.substr(0, end));
}

/// "1. warm 2. kind 3. fair" in one line, as lines.
std::string with_numbered_lines(const std::string& plain) {
  std::string text;
  for (std::size_t at = 0; at < plain.size(); ++at) {
    const bool begins = (plain[at] >= '1' && plain[at] <= '9') && at > 0 && plain[at - 1] == ' ';
    if (begins) {
      auto end = at;
      while (end < plain.size() && std::isdigit(static_cast<unsigned char>(plain[end])) != 0) {
        ++end;
      }
      const bool marks =
          end - at <= 2 && end + 1 < plain.size() && (plain[end] == '.' || plain[end] == ')') && plain[end + 1] == ' ';
      text += marks ? "\n" : "";
    }
    text += plain[at];
  }
  return text;
}

}  // namespace

Keywords parse_keywords(std::string_view answer, std::size_t most, End end) {
  const auto plain = with_numbered_lines(plain_text(answer));
  const auto lines = lines_of(plain);
  std::vector<std::string_view> marked;
  std::vector<std::string_view> short_lines;
  for (const auto line : lines) {
    const auto mark = list_mark(line);
    if (mark.kind != ListMark::Kind::none) {
      marked.push_back(mark.rest);
    } else if (!line.empty() && !line.ends_with(':') && count_words(line.substr(0, explanation(line))) <= 3 &&
               line.find(',') == std::string_view::npos && !has_refusal(base::lower_ascii(line))) {
      short_lines.push_back(line);
    }
  }
  KeywordList list(most);
  if (marked.size() >= 2) {
    for (const auto item : marked) {
      const auto own = item.substr(0, explanation(item));
      for (const auto part : parts_of(own)) {
        list.add(part);
      }
    }
  }
  if (list.size() == 0 && short_lines.size() >= 2) {
    for (const auto line : short_lines) {
      list.add(line);
    }
  }
  if (list.size() < 2) {
    KeywordList best(most);
    for (const auto line : lines) {
      KeywordList here(most);
      const auto mark = list_mark(line);
      const auto parts = listed_in(mark.rest);
      const auto keywords = std::ranges::count_if(parts, [](std::string_view part) { return !clean(part).empty(); });
      const bool is_list = parts.size() > 1 && 10 * keywords >= 7 * std::ssize(parts);
      const bool is_one = parts.size() == 1 && lines.size() == 1 && count_words(mark.rest) <= 2;
      for (const auto part : is_list || is_one ? parts : std::vector<std::string_view>{}) {
        here.add(part);
      }
      if (here.size() > best.size()) {
        best = std::move(here);
      }
    }
    if (best.size() > list.size()) {
      list = std::move(best);
    }
  }
  Keywords keywords{list.size() > 0 ? Status::answered : no_answer(base::lower_ascii(plain), end), list.take()};
  // The last word of a text that was cut may be half a word.
  const bool is_half = end == End::cut_off && keywords.words.size() > 1 && keywords.words.size() < most &&
                       !plain.empty() && is_letter(plain.back()) &&
                       base::lower_ascii(plain).ends_with(keywords.words.back());
  if (is_half) {
    keywords.words.pop_back();
  }
  return keywords;
}

}  // namespace stereosweep::answers
