#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/Keywords.hpp"
#include "answers/PlainText.hpp"
#include "base/Text.hpp"

namespace stereosweep::answers {
namespace {

bool is_word_sign(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

/// The first place from `at` where `keyword` stands as whole words.
std::size_t find_word(std::string_view text, std::string_view keyword, std::size_t at = 0) {
  for (at = text.find(keyword, at); at != std::string_view::npos; at = text.find(keyword, at + 1)) {
    const auto end = at + keyword.size();
    if ((at == 0 || !is_word_sign(text[at - 1])) && (end == text.size() || !is_word_sign(text[end]))) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// Keyword, and where in the text its part begins and its explanation.
struct Opener {
  std::size_t keyword;
  std::size_t begin;
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
      const auto& word = keywords[keyword];
      const auto end = at + word.size();
      const bool is_here =
          !word.empty() && lower.substr(at).starts_with(word) && (end >= lower.size() || !is_word_sign(lower[end]));
      if (is_here && (!best || keywords[best->keyword].size() < word.size())) {
        best = Opener{keyword, begin, end};
      }
    }
    if (best) {
      openers.push_back(*best);
    }
  }
  return openers;
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

}  // namespace

std::vector<Reason> parse_reasons(std::string_view answer, std::span<const std::string> given, End end) {
  const auto plain = plain_text(answer);
  const auto lower = base::lower_ascii(plain);
  std::vector<std::string> keywords;
  std::ranges::transform(given, std::back_inserter(keywords),
                         [](const std::string& word) { return base::lower_ascii(base::trim(word)); });
  std::vector<Reason> reasons(keywords.size());
  const auto openers = openers_of(plain, lower, keywords);
  for (std::size_t place = 0; place < openers.size(); ++place) {
    const auto& opener = openers[place];
    const auto last = place + 1 < openers.size() ? openers[place + 1].begin : plain.size();
    auto part = std::string_view(plain).substr(opener.after, last - opener.after);
    const auto head = base::trim(part);
    // "Warm people help others" is the sentence itself, "Warm: they help" what stands behind the colon.
    const bool is_separated = head.empty() ||
                              std::string_view(":-=|(,\"").find(head.front()) != std::string_view::npos ||
                              part.front() == '\n' || base::lower_ascii(head).starts_with("because");
    if (!is_separated) {
      part = std::string_view(plain).substr(opener.after - keywords[opener.keyword].size(),
                                            last - opener.after + keywords[opener.keyword].size());
    }
    // A paragraph that no keyword opens belongs to none.
    const auto blank = base::trim(part).find("\n\n");
    auto text = trimmed(blank == std::string_view::npos ? part : base::trim(part).substr(0, blank));
    auto& reason = reasons[opener.keyword];
    if (!text.empty() && reason.text.empty()) {
      reason = {Status::answered, base::replace_all(std::move(text), "\n", " ")};
    }
  }
  for (std::size_t keyword = 0; keyword < keywords.size(); ++keyword) {
    auto& reason = reasons[keyword];
    const auto at = reason.status == Status::answered || keywords[keyword].empty()
                        ? std::string::npos
                        : find_word(lower, keywords[keyword]);
    if (at != std::string::npos) {
      const auto sentence = base::trim(sentence_of(plain, at));
      const bool explains = sentence.size() > keywords[keyword].size() + 12 && !sentence.ends_with(':');
      reason = explains ? Reason{Status::answered, std::string(sentence)} : reason;
    }
  }
  const bool has_none = std::ranges::all_of(reasons, [](const Reason& one) { return one.status != Status::answered; });
  for (auto& reason : reasons) {
    if (reason.status != Status::answered) {
      reason.status = has_none && has_refusal(lower) ? Status::refused
                      : end == End::cut_off          ? Status::truncated
                                                     : Status::missing;
    }
  }
  return reasons;
}

}  // namespace stereosweep::answers
