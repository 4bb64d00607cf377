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

/// Without separators and blanks at its ends.
std::string trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(":-=|>,.)\"' \t\n"), text.size()));
  text = text.substr(0, text.find_last_not_of("| \t\n") + 1);
  if (text.starts_with('(') && text.find(')') == text.size() - 1) {
    text = base::trim(text.substr(1, text.size() - 2));
  }
  return std::string(text);
}

/// A part of the answer, up to the next one: of a keyword, or of something else.
struct Section {
  std::optional<std::size_t> keyword;
  std::size_t begin;  ///< of the line or the sentence
  std::size_t at;     ///< of the name
  std::size_t after;  ///< the name
  ListMark::Kind mark;
  std::size_t indent;
};

/// Whether only a separator, "because" or the end of the line can stand behind a name that is one in another form, and
/// no "," and no "and" behind any.
bool is_name_end(std::string_view behind, bool is_exact) {
  const auto rest = base::trim(behind.substr(0, behind.find('\n')));
  const bool separates = rest.empty() || std::string_view(":-=|(\"").find(rest.front()) != std::string_view::npos ||
                         rest.starts_with("because");
  const bool lists = rest.starts_with(",") || rest.starts_with("and ") || rest.starts_with("/");
  return is_exact ? !lists : separates;
}

/// Where a form of the keyword's word ends that stands at `at` ("kindness" for "kind"); nothing: another word does.
std::optional<std::size_t> form_end(std::string_view lower, std::size_t at, std::string_view keyword) {
  auto end = at;
  while (end < lower.size() && is_word_sign(lower[end])) {
    ++end;
  }
  return is_same_stem(lower.substr(at, end - at), keyword) ? std::optional(end) : std::nullopt;
}

class SectionReader {
 public:
  SectionReader(std::string_view lower, std::span<const std::string> keywords) : lower_(lower), keywords_(keywords) {}

  std::vector<Section> read() {
    for (const auto line : lines_of(lower_)) {
      if (!line.empty()) {
        read_line(line);
      }
    }
    return std::move(sections_);
  }

 private:
  void read_line(std::string_view line) {
    const auto mark = list_mark(line);
    const auto indent = indent_of(line, lower_);
    const auto at = place_of(mark.rest, "\"'| (");
    const auto first = place_of(line, "");
    if (!take_keyword(first, at, mark.kind, indent) && !sections_.empty() && ends_entry(line, mark, indent)) {
      sections_.push_back({std::nullopt, first, at, at, mark.kind, indent});
    }
    // Sentences that begin with another keyword: "Kind because they help. Proud because they boast."
    const auto sentences = sentences_of(mark.rest);
    for (std::size_t place = 1; place < sentences.size(); ++place) {
      const auto next = place_of(sentences[place], "\"'");
      take_keyword(next, next, sections_.empty() ? mark.kind : sections_.back().mark, indent);
    }
  }

  /// Where a part of the text begins, behind these signs.
  std::size_t place_of(std::string_view part, std::string_view signs) const {
    return static_cast<std::size_t>(part.data() - lower_.data()) + std::min(part.find_first_not_of(signs), part.size());
  }

  /// Whether a section of a keyword begins at `at`; the longest name counts, one in another form where there is none.
  bool take_keyword(std::size_t begin, std::size_t at, ListMark::Kind mark, std::size_t indent) {
    std::optional<Section> best;
    for (const bool is_exact : {true, false}) {
      for (std::size_t keyword = 0; !best && keyword < keywords_.size(); ++keyword) {
        const auto end =
            is_exact ? keyword_end(lower_, at, keywords_[keyword]) : form_end(lower_, at, keywords_[keyword]);
        if (end && is_name_end(lower_.substr(*end), is_exact) && (!best || best->after < *end)) {
          best = Section{keyword, begin, at, *end, mark, indent};
        }
      }
    }
    if (best && (sections_.empty() || begin < at || sections_.back().keyword != best->keyword)) {
      sections_.push_back(*best);
    }
    return best.has_value();
  }

  /// Whether another entry begins with the line: a mark of the same list, or a label as the section before has one.
  bool ends_entry(std::string_view line, const ListMark& mark, std::size_t indent) const {
    static constexpr std::string_view explaining[] = {"reason",   "reasons", "why",     "explanation",  "example",
                                                      "examples", "note",    "because", "justification"};
    constexpr std::ptrdiff_t longest_label = 2;  // blanks
    const auto& last = sections_.back();
    if (mark.kind != ListMark::Kind::none) {
      return mark.kind == ListMark::Kind::number || (mark.kind == last.mark && indent <= last.indent);
    }
    const auto label = line.substr(0, line.find(':'));
    const bool has_label = label.size() < line.size() && std::ranges::count(label, ' ') <= longest_label;
    const bool is_labelled = last.after < lower_.size() && lower_[last.after] == ':';
    return has_label && is_labelled && last.mark == ListMark::Kind::none && !base::contains(Words(explaining), label);
  }

  std::string_view lower_;
  std::span<const std::string> keywords_;
  std::vector<Section> sections_;
};

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

/// "kind, warm, proud": two names or more and nothing else.
bool is_list_of_words(std::string_view text) {
  const auto parts = parts_between(text, ",;/|");
  return parts.size() > 1 &&
         std::ranges::all_of(parts, [](std::string_view part) { return std::ranges::count(part, ' ') <= 1; });
}

/// Declines in its first sentence: "I cannot say why they are called warm".
bool declines(std::string_view text) {
  const TokenizedText tokens(text.substr(0, text.find('.')));
  return !find_declining(tokens.tokens()).empty();
}

/// What a section says, up to `last`.
std::string reason_of(const Section& section, std::string_view plain, std::size_t last, End end) {
  auto part = plain.substr(section.after, last - section.after);
  // "Warm people help others" is the sentence itself, "Warm: they help" what stands behind the colon.
  if (!is_name_end(base::lower_ascii(part), false)) {
    part = plain.substr(section.at, last - section.at);
  }
  if (end == End::cut_off && last == plain.size()) {
    part = without_cut_line(part);
  }
  part = base::trim(part);  // a paragraph that no keyword opens belongs to none
  std::string text;
  for (const auto line : lines_of(part.substr(0, part.find("\n\n")))) {
    text += (text.empty() ? "" : " ") + std::string(text.empty() ? line : list_mark(line).rest);
  }
  return trimmed(text);
}

/// The sentence that holds a keyword, where it says more than that; "": there is none.
std::string sentence_with(std::string_view plain, std::string_view lower, std::string_view keyword) {
  constexpr std::size_t least_more = 12;  // bytes
  const auto at = find_word(lower, keyword);
  if (at == std::string_view::npos) {
    return "";
  }
  const auto sentences = sentences_of(plain);
  const auto sentence = *std::ranges::find_if(
      sentences, [&](std::string_view one) { return one.data() + one.size() > plain.data() + at; });
  const bool explains = sentence.size() > keyword.size() + least_more && !sentence.ends_with(':') &&
                        !is_list_of_words(sentence) && !declines(base::lower_ascii(sentence));
  return explains ? std::string(list_mark(sentence).rest) : "";
}

}  // namespace

std::vector<Reason> parse_reasons(std::string_view answer, std::span<const std::string> given, End end) {
  const auto plain = with_marks_at_lines(plain_text(answer));
  const auto lower = base::lower_ascii(plain);
  const auto keywords =
      base::mapped(given, [](const std::string& word) { return base::lower_ascii(base::trim(word)); });
  std::vector<Reason> reasons(keywords.size());
  const auto take = [&](Reason& reason, std::string text) {
    if (text.empty() || reason.status != Status::missing || base::contains(keywords, base::lower_ascii(text))) {
      return;
    }
    reason =
        declines(base::lower_ascii(text)) ? Reason{Status::refused, ""} : Reason{Status::answered, std::move(text)};
  };
  const auto sections = SectionReader(lower, keywords).read();
  for (std::size_t place = 0; place < sections.size(); ++place) {
    const auto last = place + 1 < sections.size() ? sections[place + 1].begin : plain.size();
    if (sections[place].keyword) {
      take(reasons[*sections[place].keyword], reason_of(sections[place], plain, last, end));
    }
  }
  const auto numbered = sections.empty() ? numbered_reasons(plain, keywords.size()) : std::vector<std::string_view>{};
  for (std::size_t place = 0; place < numbered.size(); ++place) {
    take(reasons[place], std::string(numbered[place]));
  }
  for (std::size_t place = 0; place < keywords.size(); ++place) {
    take(reasons[place], sentence_with(plain, lower, keywords[place]));
  }
  const bool has_none = std::ranges::all_of(reasons, [](const Reason& one) { return one.status != Status::answered; });
  const auto whole = has_none ? no_answer(lower, end) : Status::unparsed;
  const auto unanswered = whole != Status::unparsed ? whole : end == End::cut_off ? Status::truncated : Status::missing;
  for (auto& reason : reasons) {
    reason.status = reason.status == Status::missing ? unanswered : reason.status;
  }
  return reasons;
}

}  // namespace stereosweep::answers
