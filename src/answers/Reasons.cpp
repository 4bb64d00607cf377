#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/Keywords.hpp"
#include "answers/RatingParser.hpp"
#include "answers/refusal/Refusal.hpp"
#include "answers/text/PlainText.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::answers {
namespace {

bool is_word_sign(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

/// Where the keyword ends that begins at `at` as whole words; nothing: another text stands there. Blanks and hyphens in
/// words do not count: "hard-working", "hard working", "hardworking".
std::optional<std::size_t> keyword_end(std::string_view text, std::size_t at, std::string_view keyword) {
  const auto is_joint = [](char c) { return c == '-' || c == ' '; };
  for (std::size_t place = 0; place < keyword.size(); ++place) {
    if (is_joint(keyword[place])) {
      continue;
    }
    while (place > 0 && at < text.size() && is_joint(text[at])) {
      ++at;
    }
    if (at >= text.size() || text[at] != keyword[place]) {
      return std::nullopt;
    }
    ++at;
  }
  return keyword.empty() || (at < text.size() && is_word_sign(text[at])) ? std::nullopt : std::optional(at);
}

/// The first place where the keyword stands as whole words.
std::size_t find_word(std::string_view text, std::string_view keyword) {
  const auto first = keyword.substr(0, 1);
  for (auto at = text.find(first); !first.empty() && at != std::string_view::npos; at = text.find(first, at + 1)) {
    if ((at == 0 || !is_word_sign(text[at - 1])) && keyword_end(text, at, keyword)) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// Keyword, and where in the text its part begins and its explanation.
struct Opener {
  std::size_t keyword;
  std::size_t begin;  ///< of the line
  std::size_t at;     ///< of the keyword
  std::size_t after;
};

/// Without separators and blanks at its ends.
std::string trimmed(std::string_view text) {
  text = base::trim(text);
  while (!text.empty() && std::string_view(":-=|>,.)\"'").find(text.front()) != std::string_view::npos) {
    text = base::trim(text.substr(1));
  }
  while (!text.empty() && text.back() == '|') {
    text = base::trim(text.substr(0, text.size() - 1));
  }
  if (text.starts_with('(') && text.find(')') == text.size() - 1) {
    text = base::trim(text.substr(1, text.size() - 2));
  }
  return std::string(text);
}

/// Lines that begin with a keyword, behind a list mark or a quotation mark.
std::vector<Opener> openers_of(std::string_view plain, std::string_view lower, std::span<const std::string> keywords) {
  std::vector<Opener> openers;
  for (const auto line : lines_of(plain)) {
    if (line.empty()) {
      continue;
    }
    auto rest = list_mark(line).rest;
    while (!rest.empty() && (rest.front() == '"' || rest.front() == '\'' || rest.front() == '|' ||
                             rest.front() == ' ' || rest.front() == '(')) {
      rest.remove_prefix(1);
    }
    const auto begin = static_cast<std::size_t>(line.data() - plain.data());
    const auto at = static_cast<std::size_t>(rest.data() - plain.data());
    std::optional<Opener> best;
    for (std::size_t keyword = 0; keyword < keywords.size(); ++keyword) {
      const auto end = keyword_end(lower, at, keywords[keyword]);
      if (end && (!best || best->after < *end)) {
        best = Opener{keyword, begin, at, *end};
      }
    }
    if (best) {
      openers.push_back(*best);
    }
  }
  return openers;
}

/// Numbered lines, one for each keyword: what they say, in their order.
std::vector<std::string_view> numbered_reasons(std::string_view plain, std::size_t num_keywords) {
  std::vector<std::string_view> found;
  for (const auto line : lines_of(plain)) {
    const auto mark = list_mark(line);
    if (mark.kind == ListMark::Kind::number && !mark.rest.empty()) {
      found.push_back(mark.rest);
    }
  }
  return found.size() == num_keywords ? found : std::vector<std::string_view>{};
}

/// Without the beginning of another line where the text was cut.
std::string_view without_cut_line(std::string_view part) {
  const auto last = part.rfind('\n');
  const bool is_cut =
      last != std::string_view::npos && std::string_view(".!?)\"").find(part.back()) == std::string_view::npos;
  return is_cut ? part.substr(0, last) : part;
}

/// The sentence that holds the place.
std::string_view sentence_of(std::string_view text, std::size_t place) {
  const auto is_end = [&](std::size_t at) {
    return text[at] == '\n' || ((text[at] == '.' || text[at] == '!' || text[at] == '?') &&
                                (at + 1 == text.size() || text[at + 1] == ' ' || text[at + 1] == '\n'));
  };
  auto first = place;
  while (first > 0 && !is_end(first - 1)) {
    --first;
  }
  auto last = place;
  while (last < text.size() && !is_end(last)) {
    ++last;
  }
  return text.substr(first, std::min(text.size(), last + 1) - first);
}

/// Declines in the first person: "I cannot say why they are called warm".
bool declines(std::string_view sentence) {
  const TokenizedText text(sentence);
  return std::ranges::any_of(find_declining(text.tokens()), [&](const Refusal& one) {
    const auto& first = text.tokens()[one.first];
    return first.is("i") || first.text.starts_with("i'");
  });
}

/// What stands behind an opener, up to `last`.
std::string reason_behind(const Opener& opener, std::string_view plain, std::size_t last, End end) {
  auto part = plain.substr(opener.after, last - opener.after);
  const auto head = base::trim(part);
  // "Warm people help others" is the sentence itself, "Warm: they help" what stands behind the colon.
  const bool is_separated = head.empty() || std::string_view(":-=|(,\"").find(head.front()) != std::string_view::npos ||
                            part.front() == '\n' || base::lower_ascii(head.substr(0, 7)) == "because";
  if (!is_separated) {
    part = plain.substr(opener.at, last - opener.at);
  }
  if (end == End::cut_off && last == plain.size()) {
    part = without_cut_line(part);
  }
  // A paragraph that no keyword opens belongs to none, nor does the rule of a table.
  part = base::trim(part.substr(0, std::min(part.find("\n|-"), part.find("\n| -"))));
  return base::replace_all(trimmed(part.substr(0, part.find("\n\n"))), "\n", " ");
}

/// The sentence that holds a keyword, where it says more than that; "": there is none.
std::string sentence_with(std::string_view plain, std::string_view lower, std::string_view keyword) {
  constexpr std::size_t least_more = 12;  // bytes
  const auto at = find_word(lower, keyword);
  if (at == std::string_view::npos) {
    return "";
  }
  const auto sentence = base::trim(sentence_of(plain, at));
  const bool explains = sentence.size() > keyword.size() + least_more && !sentence.ends_with(':') &&
                        !declines(base::lower_ascii(sentence));
  return explains ? std::string(sentence) : "";
}

}  // namespace

std::vector<Reason> parse_reasons(std::string_view answer, std::span<const std::string> given, End end) {
  const auto plain = plain_text(answer);
  const auto lower = base::lower_ascii(plain);
  const auto keywords =
      base::mapped(given, [](const std::string& word) { return base::lower_ascii(base::trim(word)); });
  std::vector<Reason> reasons(keywords.size());
  const auto take = [](Reason& reason, std::string text) {
    if (!text.empty() && reason.status != Status::answered) {
      reason = {Status::answered, std::move(text)};
    }
  };
  const auto openers = openers_of(plain, lower, keywords);
  for (std::size_t place = 0; place < openers.size(); ++place) {
    const auto last = place + 1 < openers.size() ? openers[place + 1].begin : plain.size();
    take(reasons[openers[place].keyword], reason_behind(openers[place], plain, last, end));
  }
  const auto numbered = openers.empty() ? numbered_reasons(plain, keywords.size()) : std::vector<std::string_view>{};
  for (std::size_t place = 0; place < numbered.size(); ++place) {
    take(reasons[place], std::string(numbered[place]));
  }
  for (std::size_t place = 0; place < keywords.size(); ++place) {
    if (reasons[place].status != Status::answered) {
      take(reasons[place], sentence_with(plain, lower, keywords[place]));
    }
  }
  const bool has_none = std::ranges::all_of(reasons, [](const Reason& one) { return one.status != Status::answered; });
  const auto whole = has_none ? no_answer(lower, end) : Status::unparsed;
  const auto unanswered = whole != Status::unparsed ? whole : end == End::cut_off ? Status::truncated : Status::missing;
  for (auto& reason : reasons) {
    reason.status = reason.status == Status::answered ? Status::answered : unanswered;
  }
  return reasons;
}

}  // namespace stereosweep::answers
