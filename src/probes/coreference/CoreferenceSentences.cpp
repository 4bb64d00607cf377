#include "probes/coreference/CoreferenceSentences.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/File.hpp"
#include "base/Text.hpp"
#include "config/AxisSource.hpp"

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

namespace {

constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
constexpr std::size_t max_line_bytes = 2000;

/// A sentence before the other occupation is looked for.
struct Draft {
  MarkedSentence marked;
  base::Place place;
  std::string label;
  SentenceType type = SentenceType::ambiguous;
  Stereotype stereotype = Stereotype::pro;
  std::string split;
  std::optional<PronounCase> pronoun_case;
  std::optional<std::vector<SentenceNote>> notes;  ///< given: nothing is added to them
};

class Reader {
 public:
  Reader(config::Pieces& pieces, base::Problems& problems) : pieces_(pieces), problems_(problems), labels_(problems) {}

  void read_entry(const config::Node& node, const std::string& key) {
    config::Fields fields(node, key, problems_,
                          "{text: '[The baker] saw the editor because [he] sang.', type: ambiguous, stereotype: pro}");
    std::string text;
    Draft draft{{}, node.place(key), "", {}, {}, "", std::nullopt, {}};
    fields.required_line("text", text);
    if (const config::Node* type = fields.required("type")) {
      draft.type =
          static_cast<SentenceType>(config::read_choice(*type, key + ".type", problems_, type_names).value_or(0));
    }
    if (const config::Node* stereotype = fields.required("stereotype")) {
      draft.stereotype = static_cast<Stereotype>(
          config::read_choice(*stereotype, key + ".stereotype", problems_, stereotype_names).value_or(0));
    }
    fields.line("label", draft.label);
    fields.line("split", draft.split);
    if (const config::Node* pronoun_case = fields.optional("case")) {
      if (const auto index = config::read_choice(*pronoun_case, key + ".case", problems_, case_names)) {
        draft.pronoun_case = static_cast<PronounCase>(*index);
      }
    }
    if (const config::Node* notes = fields.optional("notes")) {
      draft.notes = read_notes(*notes, key + ".notes", problems_);
    }
    fields.finish();
    draft.label = draft.label.empty() ? text : draft.label;
    if (!text.empty()) {
      labels_.add(node, key, draft.label);
      add(text, std::move(draft));
    }
  }

  void read_path(const config::Node& node, const std::string& key, const std::string& given) {
    const std::filesystem::path path = pieces_.resolve_path(given);
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      read_file(node, key, path);
      return;
    }
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (entry.is_regular_file(error) && kind_of(entry.path().filename().string())) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
      problems_.add(node.place(key), "no file of sentences in '" + path.string() + "'", kind_rule);
    }
    for (const auto& file : files) {
      read_file(node, key, file);
    }
  }

  std::vector<CoreferenceSentence> finish(std::vector<std::string> occupations) {
    std::set<std::string> known(occupations.begin(), occupations.end());
    for (const auto& draft : drafts_) {
      known.insert(draft.marked.referent());
    }
    occupations.assign(known.begin(), known.end());
    std::vector<CoreferenceSentence> sentences;
    std::vector<Open> open;
    for (const auto& draft : drafts_) {
      auto sentence = draft.marked.finish(occupations, draft.type, problems_);
      if (!sentence) {
        continue;
      }
      sentence->label = draft.label;
      sentence->stereotype = draft.stereotype;
      sentence->split = draft.split;
      sentence->notes = draft.notes.value_or(sentence->notes);
      const auto word = sentence->part(sentence->pronoun);
      open.push_back({!draft.pronoun_case && (word == "her" || word == "Her"), !draft.notes});
      sentence->pronoun_case = draft.pronoun_case.value_or(sentence->pronoun_case);
      sentences.push_back(std::move(*sentence));
    }
    return in_pairs(std::move(sentences), open);
  }

  static std::vector<SentenceNote> read_notes(const config::Node& node, const std::string& key,
                                              base::Problems& problems);

 private:
  /// What is still to be found out about a sentence.
  struct Open {
    bool pronoun_case = false;  ///< "her" may be object or possessive
    bool notes = false;
  };
  struct Kind {
    SentenceType type;
    Stereotype stereotype;
  };
  static constexpr const char* kind_rule = "names say 'pro' or 'anti', and 'type1' or 'type2'";

  static std::optional<Kind> kind_of(const std::string& name) {
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    if (has("pro") == has("anti") || has("type1") == has("type2")) {
      return std::nullopt;
    }
    return Kind{has("type1") ? SentenceType::ambiguous : SentenceType::unambiguous,
                has("pro") ? Stereotype::pro : Stereotype::anti};
  }

  void read_file(const config::Node& node, const std::string& key, const std::filesystem::path& path) {
    const auto name = path.filename().string();
    const auto kind = kind_of(name);
    if (!kind) {
      problems_.add(node.place(key), "'" + name + "' does not say what its sentences are", kind_rule);
      return;
    }
    std::string content;
    try {
      content = base::read_file(path, max_file_bytes);
    } catch (const base::InputError& error) {
      problems_.add(node.place(key), "a file of sentences cannot be read", error.what());
      return;
    }
    const auto dot = name.rfind('.');
    int number = 0;
    for (auto line : base::split(content, '\n')) {
      ++number;
      line = std::string(base::trim(line));
      if (!line.empty()) {
        Draft draft{{},
                    {path.string(), number, ""},
                    name + ":" + std::to_string(number),
                    kind->type,
                    kind->stereotype,
                    dot == std::string::npos ? "" : name.substr(dot + 1),
                    std::nullopt,
                    {}};
        labels_.add(node, key, draft.label);
        const auto digits = std::min(line.find_first_not_of("0123456789"), line.size());
        const bool numbered = digits > 0 && digits < line.size() && line[digits] == ' ';
        add(numbered ? line.substr(digits + 1) : line, std::move(draft));
      }
    }
  }

  void add(std::string_view text, Draft draft) {
    const bool is_clean = std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; });
    if (!is_clean || text.size() > max_line_bytes || base::find_invalid_utf8(text)) {
      problems_.add(
          draft.place, "this is no sentence",
          "lines are valid UTF-8 of at most " + std::to_string(max_line_bytes) + " bytes without control characters");
      return;
    }
    if (auto marked = MarkedSentence::read(text, draft.place, problems_)) {
      draft.marked = std::move(*marked);
      drafts_.push_back(std::move(draft));
    }
  }

  static std::vector<CoreferenceSentence> in_pairs(std::vector<CoreferenceSentence> sentences,
                                                   const std::vector<Open>& open);

  config::Pieces& pieces_;
  base::Problems& problems_;
  config::LabelCheck labels_;
  std::vector<Draft> drafts_;
};

std::vector<SentenceNote> Reader::read_notes(const config::Node& node, const std::string& key,
                                             base::Problems& problems) {
  const std::vector<std::string> names(sentence_note_names.begin(), sentence_note_names.end());
  std::vector<SentenceNote> notes;
  for (std::size_t i = 0;
       config::expect_kind(node, config::Node::Kind::list, key, problems) && i < node.children.size(); ++i) {
    const auto item_key = key + "[" + std::to_string(i) + "]";
    if (const auto index = config::read_choice(node.children[i], item_key, problems, names)) {
      add_note(notes, static_cast<SentenceNote>(*index));
    }
  }
  return notes;
}

/// Sentences of one text but for the pronouns stand together, in the order of their first; each learns its pair.
std::vector<CoreferenceSentence> Reader::in_pairs(std::vector<CoreferenceSentence> sentences,
                                                  const std::vector<Open>& open) {
  std::unordered_map<std::string, std::vector<std::size_t>> groups;
  std::vector<const std::vector<std::size_t>*> order;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto& sentence = sentences[i];
    const auto key = without_gender(sentence.text) + '\n' + std::to_string(static_cast<int>(sentence.type)) +
                     std::to_string(sentence.mentions[sentence.bracketed].noun.begin);
    auto& group = groups[key];
    if (group.empty()) {
      order.push_back(&group);
    }
    group.push_back(i);
  }
  std::vector<CoreferenceSentence> result;
  for (const auto* group : order) {
    std::optional<PronounCase> told;  // by "his" or "him" in the same place
    std::set<Stereotype> stereotypes;
    for (const auto i : *group) {
      stereotypes.insert(sentences[i].stereotype);
      if (sentences[i].gender == Gender::male) {
        told = sentences[i].pronoun_case;
      }
    }
    std::set<std::pair<Stereotype, std::string>> texts;
    for (const auto i : *group) {
      auto& sentence = sentences[i];
      sentence.pair = sentences[group->front()].label;
      if (open[i].pronoun_case) {
        const bool possessive = is_possessive_her(sentence.text, sentence.pronoun);
        sentence.pronoun_case = told.value_or(possessive ? PronounCase::possessive : PronounCase::object);
      }
      if (open[i].notes && stereotypes.size() < 2) {
        add_note(sentence.notes, SentenceNote::no_partner);
      }
      if (!texts.emplace(sentence.stereotype, sentence.text).second && open[i].notes) {
        add_note(sentence.notes, SentenceNote::repeated);
      }
    }
    for (const auto i : *group) {
      result.push_back(std::move(sentences[i]));
    }
  }
  return result;
}

}  // namespace

std::vector<CoreferenceSentence> read_sentences(const config::Node& node, const std::string& key,
                                                const std::vector<std::string>& occupations, config::Pieces& pieces,
                                                base::Problems& problems) {
  Reader reader(pieces, problems);
  if (node.kind == config::Node::Kind::map && node.find("files") != nullptr && !pieces.inline_only()) {
    config::Fields fields(node, key, problems);
    const config::Node* files = fields.required("files");
    fields.finish();
    if (const auto paths = config::read_lines(*files, key + ".files", problems)) {
      for (std::size_t i = 0; i < paths->size(); ++i) {
        reader.read_path(files->children[i], key + ".files[" + std::to_string(i) + "]", (*paths)[i]);
      }
    }
    return reader.finish(occupations);
  }
  const auto source = config::find_source(node, "sentences", key, pieces, problems);
  if (!source.table.empty()) {
    problems.add(node.place(key), "sentences stand in no table", "files of the WinoBias schema are plain text",
                 "Write {files: [PATH, ...]}.");
  }
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    reader.read_entry(source.list->children[i], source.key + "[" + std::to_string(i) + "]");
  }
  return config::select(reader.finish(occupations), source, problems);
}

std::vector<SentenceNote> read_sentence_notes(const config::Node& node, const std::string& key,
                                              base::Problems& problems) {
  return Reader::read_notes(node, key, problems);
}

}  // namespace stereosweep::probes::coreference
