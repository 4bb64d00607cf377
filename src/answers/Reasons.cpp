#include <algorithm>
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
bool is_name_end(std::string_view behind, NameForm form) {
  const auto rest = base::trim(behind.substr(0, behind.find('\n')));
  const bool separates = rest.empty() || std::string_view(":-=|(\"").find(rest.front()) != std::string_view::npos ||
                         rest.starts_with("because");
  const bool lists = rest.starts_with(",") || rest.starts_with("and ") || rest.starts_with("/");
  return form == NameForm::exact ? !lists : separates;
}

class SectionReader {
 public:
  SectionReader(const TokenizedText& text, std::span<const std::string> names)
      : lower_(text.lower()), tokens_(text.tokens()), names_(names) {}

  std::vector<Section> read() {
    std::ranges::for_each(lines_of(lower_), [this](std::string_view line) { read_line(line); });
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
      const auto kind = sections_.empty() ? mark.kind : sections_.back().mark;
      const bool is_like = !sections_.empty() && sentences[place].starts_with('"') &&
                           lower_.substr(0, sections_.back().at).ends_with('"');
      if (!take_keyword(next, next, kind, indent) && is_like) {
        sections_.push_back({std::nullopt, next - 1, next, next, kind, indent});  // of another word: "Tall" means ...
      }
    }
  }

  /// Where a part of the text begins, behind these signs.
  std::size_t place_of(std::string_view part, std::string_view signs) const {
    return static_cast<std::size_t>(part.data() - lower_.data()) + std::min(part.find_first_not_of(signs), part.size());
  }

  /// Whether a section of a keyword begins at `at`; the longest name counts, one in another form where there is none.
  bool take_keyword(std::size_t begin, std::size_t at, ListMark::Kind mark, std::size_t indent) {
    const auto token =
        std::ranges::lower_bound(tokens_, lower_.data() + at, {}, [](const Token& one) { return one.text.data(); });
    const auto place = static_cast<std::size_t>(token - tokens_.begin());
    for (const auto form : {NameForm::exact, NameForm::same_stem}) {
      const auto name = name_at(tokens_, place, names_, form);
      const auto end = name ? place_of(tokens_[name->last - 1].text, "") + tokens_[name->last - 1].text.size() : at;
      if (name && is_name_end(lower_.substr(end), form)) {
        if (sections_.empty() || begin < at || sections_.back().keyword != name->name) {
          sections_.push_back({name->name, begin, at, end, mark, indent});
        }
        return true;
      }
    }
    return false;
  }

  /// Whether another entry begins with the line: a mark of the same list, or a label as the section before has one.
  bool ends_entry(std::string_view line, const ListMark& mark, std::size_t indent) const {
    static constexpr auto explaining =
        word_list<"reason reasons why explanation example examples note because justification">;
    constexpr std::ptrdiff_t longest_label = 2;  // blanks
    const auto& last = sections_.back();
    if (mark.kind != ListMark::Kind::none) {
      constexpr std::ptrdiff_t few_blanks = 2;
      // "- Kind" above "- They help their neighbours".
      const auto behind = std::min(lower_.find_first_not_of("\"': ", last.after), lower_.size() - 1);
      const bool is_open = last.keyword && lower_[behind] == '\n';
      const bool is_next = mark.kind == last.mark && indent <= last.indent;
      return mark.kind == ListMark::Kind::number ||
             (is_next && !(is_open && std::ranges::count(mark.rest, ' ') > few_blanks));
    }
    const auto label = line.substr(0, line.find(':'));
    const bool has_label = label.size() < line.size() && std::ranges::count(label, ' ') <= longest_label;
    return has_label && last.mark == ListMark::Kind::none && !base::contains(Words(explaining), label);
  }

  std::string_view lower_;
  std::span<const Token> tokens_;
  std::span<const std::string> names_;  ///< of the keywords, joined
  std::vector<Section> sections_;
};

/// Numbered lines, one for each keyword: what they say, in their order. Not behind "I won't answer, because:".
std::vector<std::string_view> numbered_reasons(std::string_view plain, std::size_t num_keywords) {
  std::vector<std::string_view> found;
  for (const auto line : lines_of(plain)) {
    const auto mark = list_mark(line);
    if (mark.kind == ListMark::Kind::number && !mark.rest.empty()) {
      found.push_back(mark.rest);
    }
  }
  const bool counts = !found.empty() && found.size() == num_keywords &&
                      !declines_before(plain, static_cast<std::size_t>(found.front().data() - plain.data()));
  return counts ? found : std::vector<std::string_view>{};
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
  if (!is_name_end(base::lower_ascii(part), NameForm::same_stem)) {
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

/// Whether a sentence names keywords side by side: "They are seen as kind and proud".
bool lists_names(std::string_view sentence, std::span<const std::string> names) {
  constexpr std::size_t longest_joint = 3;  // tokens
  const TokenizedText text(sentence);
  std::optional<NameMention> last;
  for (std::size_t place = 0; place < text.tokens().size(); ++place) {
    if (const auto mention = name_at(text.tokens(), place, names)) {
      if (last && last->last + longest_joint >= mention->first) {
        return true;
      }
      last = mention;
    }
  }
  return false;
}

/// The first of the sentences that holds a keyword, where it says more than that; "": there is none.
std::string sentence_with(const std::vector<std::string_view>& sentences, const std::string& name) {
  constexpr std::size_t least_more = 12;  // bytes
  for (const auto sentence : sentences) {
    const TokenizedText text(sentence);
    const bool explains = sentence.size() > name.size() + least_more && !sentence.ends_with(':') &&
                          !is_list_of_words(sentence) && !declines(text.lower());
    for (std::size_t place = 0; explains && place < text.tokens().size(); ++place) {
      if (name_at(text.tokens(), place, {&name, 1})) {
        return std::string(list_mark(sentence).rest);
      }
    }
  }
  return "";
}

}  // namespace

std::vector<Reason> parse_reasons(std::string_view answer, std::span<const std::string> given, End end) {
  const auto plain = with_marks_at_lines(plain_text(answer));
  const TokenizedText tokenized(plain);
  const auto names = joined_names(given);
  const auto keywords =
      base::mapped(given, [](const std::string& word) { return base::lower_ascii(base::trim(word)); });
  std::vector<Reason> reasons(keywords.size());
  const auto take = [&](Reason& reason, std::string text) {
    const auto words = base::lower_ascii(text.substr(0, text.find_last_not_of(".!") + 1));
    if (words.empty() || reason.status != Status::missing || base::contains(keywords, words)) {
      return;
    }
    reason =
        declines(base::lower_ascii(text)) ? Reason{Status::refused, ""} : Reason{Status::answered, std::move(text)};
  };
  const auto sections = SectionReader(tokenized, names).read();
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
  auto sentences = sentences_of(plain);
  std::ranges::stable_partition(sentences, [&](std::string_view one) { return !lists_names(one, names); });
  for (std::size_t place = 0; place < keywords.size(); ++place) {
    take(reasons[place], sentence_with(sentences, names[place]));
  }
  const bool has_none = std::ranges::all_of(reasons, [](const Reason& one) { return one.status != Status::answered; });
  const auto whole = has_none ? no_answer(tokenized.lower(), end) : Status::unparsed;
  const auto unanswered = whole != Status::unparsed ? whole : end == End::cut_off ? Status::truncated : Status::missing;
  for (auto& reason : reasons) {
    reason.status = reason.status == Status::missing ? unanswered : reason.status;
  }
  return reasons;
}

}  // namespace stereosweep::answers
