#include "probes/coreference/MarkedSentence.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/Text.hpp"

namespace stereosweep::probes::coreference {
namespace {

using base::Span;

struct Pronoun {
  std::string_view word;
  Gender gender;
  PronounCase pronoun_case;     ///< of "her": possessive until the text says otherwise
  std::string_view genderless;  ///< "her" stands for "him" and "his"
};
constexpr std::array<Pronoun, 8> pronouns = {{{"she", Gender::female, PronounCase::subject, "#s"},
                                              {"he", Gender::male, PronounCase::subject, "#s"},
                                              {"her", Gender::female, PronounCase::possessive, "#o"},
                                              {"him", Gender::male, PronounCase::object, "#o"},
                                              {"his", Gender::male, PronounCase::possessive, "#o"},
                                              {"hers", Gender::female, PronounCase::independent, "#o"},
                                              {"herself", Gender::female, PronounCase::reflexive, "#r"},
                                              {"himself", Gender::male, PronounCase::reflexive, "#r"}}};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

const Pronoun* find_pronoun(std::string_view word) {
  const auto wanted = lower(word);
  const auto* found =
      std::find_if(pronouns.begin(), pronouns.end(), [&](const auto& entry) { return entry.word == wanted; });
  return found == pronouns.end() ? nullptr : found;
}

bool is_article(std::string_view word) {
  const auto wanted = lower(word);
  return wanted == "the" || wanted == "a" || wanted == "an";
}

/// Words are runs of letters and hyphens between them.
std::vector<Span> words_of(std::string_view text) {
  std::vector<Span> words;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside = is_letter(text[i]) || (text[i] == '-' && !words.empty() && words.back().end == i);
    if (!inside) {
      continue;
    }
    if (words.empty() || words.back().end != i) {
      words.push_back({i, i});
    }
    words.back().end = i + 1;
  }
  return words;
}

std::string_view cut(std::string_view text, Span span) { return text.substr(span.begin, span.end - span.begin); }

/// The word that ends one blank before `position`.
std::optional<Span> word_before(std::string_view text, std::size_t position) {
  if (position < 2 || text[position - 1] != ' ' || !is_letter(text[position - 2])) {
    return std::nullopt;
  }
  auto begin = position - 1;
  while (begin > 0 && is_letter(text[begin - 1])) {
    --begin;
  }
  return Span{begin, position - 1};
}

/// Whole words only.
std::vector<Span> mentions_of(std::string_view text, std::string_view noun) {
  std::vector<Span> found;
  for (auto at = text.find(noun); at != std::string_view::npos; at = text.find(noun, at + 1)) {
    const auto end = at + noun.size();
    const bool whole = (at == 0 || (!is_letter(text[at - 1]) && text[at - 1] != '-')) &&
                       (end == text.size() || (!is_letter(text[end]) && text[end] != '-'));
    if (whole) {
      found.push_back({at, end});
    }
  }
  return found;
}

bool overlaps(Span left, Span right) { return left.begin < right.end && right.begin < left.end; }

/// Without blanks that a tokenizer has put before "'s" and punctuation, and without double ones.
std::string close_up(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto rest = line.substr(i + 1);
    const bool before_mark =
        !rest.empty() && (std::string_view(",.;:!? ").find(rest.front()) != std::string_view::npos ||
                          rest.starts_with("'s ") || rest.starts_with("n't "));
    if (line[i] != ' ' || !before_mark) {
      text += line[i];
    }
  }
  return text;
}

}  // namespace

void add_note(std::vector<SentenceNote>& notes, SentenceNote note) {
  const auto at = std::lower_bound(notes.begin(), notes.end(), note);
  if (at == notes.end() || *at != note) {
    notes.insert(at, note);
  }
}

void MarkedSentence::note(SentenceNote note) { add_note(sentence_.notes, note); }

std::optional<MarkedSentence> MarkedSentence::read(std::string_view line, const base::Place& place,
                                                   base::Problems& problems) {
  MarkedSentence result;
  result.place_ = place;
  const auto closed = close_up(base::trim(line));
  if (closed != base::trim(line)) {
    result.note(SentenceNote::spacing);
  }
  if (!result.read_marks(closed, problems) || !result.sort_marks(problems)) {
    return std::nullopt;
  }
  return result;
}

bool MarkedSentence::read_marks(std::string_view line, base::Problems& problems) {
  std::string& text = sentence_.text;
  char open = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '[' || c == '{') {
      if (open != 0) {
        problems.add(place_, "a bracket inside brackets", "marks do not nest");
        return false;
      }
      open = c;
      marks_.push_back({c, {text.size(), text.size()}});
      if (i + 1 < line.size() && line[i + 1] == ' ') {
        note(SentenceNote::bracket_edge);
        ++i;
      }
    } else if (c == ']' || c == '}') {
      if (open == 0 || (open == '[') != (c == ']')) {
        problems.add(place_, std::string("a '") + c + "' without its opening bracket", "marks are [...] and {...}");
        return false;
      }
      open = 0;
      if (text.ends_with(' ')) {
        note(SentenceNote::bracket_edge);
        text.pop_back();
      }
      marks_.back().span.end = text.size();
    } else {
      text += c;
    }
  }
  if (open != 0) {
    problems.add(place_, "a bracket does not close", "marks are [...] and {...}");
  }
  return open == 0;
}

bool MarkedSentence::sort_marks(base::Problems& problems) {
  std::vector<Span> named;
  std::vector<Span> braced;
  std::optional<Span> pronoun;
  for (const auto& mark : marks_) {
    if (mark.kind == '{') {
      braced.push_back(mark.span);
    } else if (find_pronoun(sentence_.part(mark.span)) == nullptr) {
      named.push_back(mark.span);
    } else if (pronoun) {
      note(SentenceNote::further_pronoun);
    } else {
      pronoun = mark.span;
    }
  }
  if (named.size() != 1 || !pronoun || braced.size() > 1) {
    problems.add(
        place_, std::to_string(named.size()) + " occupations and " + (pronoun ? "a" : "no") + " pronoun in brackets",
        "exactly one occupation and at least one of he, she, him, her, his, hers, himself, herself are expected",
        "Mark them as in '[The x] saw the y because [she] looked.'");
    return false;
  }
  if (std::string_view(".!?\"'").find(sentence_.text.back()) == std::string_view::npos) {
    problems.add(place_, "the sentence does not end", "a question follows it", "End it with '.', '!' or '?'.");
    return false;
  }
  sentence_.pronoun = *pronoun;
  const auto* entry = find_pronoun(sentence_.part(*pronoun));
  sentence_.gender = entry->gender;
  sentence_.pronoun_case = entry->pronoun_case;
  const auto referent = mention_at(named.front(), problems);
  if (!referent) {
    return false;
  }
  referent_ = *referent;
  if (!braced.empty()) {
    const auto brace = std::find_if(marks_.begin(), marks_.end(), [](const Mark& mark) { return mark.kind == '{'; });
    other_ = mention_at(brace->span, problems);  // the referent's article may have moved it
  }
  return braced.empty() || other_;
}

/// Takes a range out of the text; everything that was read so far moves with it.
void MarkedSentence::remove(Span span) {
  const auto length = span.end - span.begin;
  sentence_.text.erase(span.begin, length);
  const auto move = [&](Span& other) {
    if (other.begin >= span.end) {
      other.begin -= length;
      other.end -= length;
    }
  };
  for (auto& mark : marks_) {
    move(mark.span);
  }
  for (auto* other : {&sentence_.pronoun, &referent_.article, &referent_.noun}) {
    move(*other);
  }
}

std::optional<Mention> MarkedSentence::mention_at(Span span, base::Problems& problems) {
  const auto inside = sentence_.part(span);
  const auto blank = inside.find(' ');
  auto before = word_before(sentence_.text, span.begin);
  const bool article_before = before && is_article(cut(sentence_.text, *before));
  if (blank != std::string_view::npos && is_article(inside.substr(0, blank))) {
    if (article_before) {
      note(SentenceNote::doubled_article);
      remove({before->begin, span.begin});
      const auto length = span.begin - before->begin;
      span = {span.begin - length, span.end - length};
    }
    const auto second = sentence_.part({span.begin + blank + 1, span.end});
    const auto end = second.find(' ');
    if (end != std::string_view::npos && is_article(second.substr(0, end))) {
      note(SentenceNote::doubled_article);
      const auto length = end + 1;
      remove({span.begin + blank + 1, span.begin + blank + 1 + length});
      span.end -= length;
    }
    return Mention{{span.begin, span.begin + blank}, {span.begin + blank + 1, span.end}};
  }
  if (!article_before || inside.empty()) {
    problems.add(place_, "the occupation '" + std::string(inside.substr(0, 60)) + "' has no article",
                 "a marker is put between 'the', 'a' or 'an' and the occupation",
                 "Write [the " + std::string(inside) + "].");
    return std::nullopt;
  }
  note(SentenceNote::bracket_edge);
  return Mention{*before, span};
}

std::string MarkedSentence::referent() const { return std::string(sentence_.part(referent_.noun)); }

std::optional<CoreferenceSentence> MarkedSentence::finish(const std::vector<std::string>& occupations,
                                                          SentenceType type, base::Problems& problems) const {
  auto result = sentence_;
  result.type = type;
  auto other = other_;
  std::vector<Span> found;  // mentions besides the marked one, in the order of the text, the longest at a place
  for (const auto& noun : occupations) {
    for (const auto span : mentions_of(result.text, noun)) {
      found.push_back(span);
    }
  }
  std::sort(found.begin(), found.end(),
            [](Span left, Span right) { return std::pair(left.begin, right.end) < std::pair(right.begin, left.end); });
  std::size_t num_mentions = 1 + (other ? 1 : 0);
  Span last = referent_.noun;
  for (const auto span : found) {
    if (overlaps(span, referent_.noun) || overlaps(span, last) || (other && overlaps(span, other->noun))) {
      continue;
    }
    last = span;
    ++num_mentions;
    const auto article = word_before(result.text, span.begin);
    const bool is_other = cut(result.text, span) != result.part(referent_.noun);
    if (!other && is_other && article && is_article(cut(result.text, *article))) {
      other = Mention{*article, span};
    }
  }
  if (!other) {
    problems.add(place_, "no second occupation in '" + result.text.substr(0, 80) + "'",
                 "another occupation of the list, with an article, is looked for",
                 "Mark it in braces: '{the designer}'.");
    return std::nullopt;
  }
  const bool first = referent_.noun.begin < other->noun.begin;
  result.mentions = first ? std::array{referent_, *other} : std::array{*other, referent_};
  result.bracketed = first ? 0 : 1;
  if (num_mentions > 2) {
    add_note(result.notes, SentenceNote::three_mentions);
  }
  if (type == SentenceType::unambiguous && first) {
    add_note(result.notes, SentenceNote::first_referent);
  }
  for (const auto word : words_of(result.text)) {
    const auto is_marked = [&](const Mark& mark) { return overlaps(mark.span, word); };
    if (find_pronoun(cut(result.text, word)) != nullptr && std::none_of(marks_.begin(), marks_.end(), is_marked)) {
      add_note(result.notes, SentenceNote::unmarked_pronoun);
    }
  }
  const auto after = result.text.substr(result.pronoun.end);
  if (result.pronoun_case == PronounCase::possessive && result.gender == Gender::male && !after.starts_with(' ')) {
    result.pronoun_case = PronounCase::independent;
  }
  return result;
}

bool is_possessive_her(std::string_view text, Span span) {
  static const std::set<std::string_view> after_objects = {
      "a",        "about",     "after", "again",    "all",   "alone", "also",  "an",      "and",      "any",  "anyone",
      "anything", "anywhere",  "as",    "at",       "away",  "back",  "be",    "because", "before",   "but",  "by",
      "down",     "during",    "every", "for",      "from",  "had",   "has",   "he",      "how",      "if",   "in",
      "instead",  "into",      "is",    "it",       "less",  "lots",  "many",  "more",    "never",    "not",  "nothing",
      "of",       "off",       "often", "on",       "one",   "out",   "over",  "she",     "since",    "so",   "some",
      "someone",  "something", "stop",  "than",     "that",  "the",   "them",  "then",    "there",    "they", "this",
      "through",  "to",        "today", "tomorrow", "too",   "under", "until", "up",      "very",     "was",  "well",
      "what",     "when",      "where", "whether",  "which", "while", "with",  "without", "yesterday"};
  if (span.end + 1 >= text.size() || text[span.end] != ' ') {
    return false;
  }
  const auto words = words_of(text.substr(span.end + 1));
  if (words.empty() || words.front().begin != 0) {
    return false;
  }
  const auto behind = text.substr(span.end + 1);
  const auto next = lower(cut(behind, words.front()));
  const bool ends_clause = words.front().end >= behind.size() || behind[words.front().end] != ' ';
  const bool is_adverb = ends_clause && next.ends_with("ly");
  return !is_adverb && !after_objects.contains(next);
}

std::string without_gender(std::string_view text) {
  std::string result;
  std::size_t done = 0;
  for (const auto word : words_of(text)) {
    if (const auto* entry = find_pronoun(cut(text, word))) {
      result.append(text.substr(done, word.begin - done)).append(entry->genderless);
      done = word.end;
    }
  }
  return result.append(text.substr(done));
}

std::string marked_text(const CoreferenceSentence& sentence) {
  const auto& referent = sentence.mentions[sentence.bracketed];
  const auto& other = sentence.mentions[1 - sentence.bracketed];
  struct Bracket {
    std::size_t at;
    char mark;
  };
  std::vector<Bracket> brackets = {{referent.article.begin, '['}, {referent.noun.end, ']'},
                                   {other.article.begin, '{'},    {other.noun.end, '}'},
                                   {sentence.pronoun.begin, '['}, {sentence.pronoun.end, ']'}};
  std::sort(brackets.begin(), brackets.end(), [](const auto& left, const auto& right) { return left.at > right.at; });
  std::string text = sentence.text;
  for (const auto& bracket : brackets) {
    text.insert(bracket.at, 1, bracket.mark);
  }
  return text;
}

}  // namespace stereosweep::probes::coreference
