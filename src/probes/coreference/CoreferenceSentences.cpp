#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"
#include "probes/coreference/Coreference.hpp"

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

const Pronoun* find_pronoun(std::string_view word) {
  const auto wanted = base::lower_ascii(word);
  const auto* found = std::ranges::find(pronouns, wanted, &Pronoun::word);
  return found == pronouns.end() ? nullptr : found;
}

bool is_article(std::string_view word) {
  const auto wanted = base::lower_ascii(word);
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

/// The article that ends one blank before `position`.
std::optional<Span> article_before(std::string_view text, std::size_t position) {
  if (position < 2 || text[position - 1] != ' ') {
    return std::nullopt;
  }
  auto begin = position - 1;
  while (begin > 0 && is_letter(text[begin - 1])) {
    --begin;
  }
  return is_article(text.substr(begin, position - 1 - begin)) ? std::optional(Span{begin, position - 1}) : std::nullopt;
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

/// An entry of a list or a line of a file, before the other occupation is looked for.
struct Draft {
  CoreferenceSentence sentence = {};  ///< with the marks in its text until they are read
  base::Place place = {};
  std::optional<PronounCase> pronoun_case = {};      ///< none: "her" may be object or possessive
  std::optional<std::set<SentenceNote>> notes = {};  ///< given: nothing is added to them
  std::vector<Span> marks = {};
  Mention referent = {};
  std::optional<Mention> other = {};  ///< where braces mark it
};

/// Replaces what matches; a change leaves its note.
void repair(CoreferenceSentence& sentence, const std::regex& wrong, const char* right, SentenceNote note) {
  auto repaired = std::regex_replace(sentence.text, wrong, right);
  if (repaired != sentence.text) {
    sentence.notes.insert(note);
    sentence.text = std::move(repaired);
  }
}

/// Takes out blanks that a tokenizer has put before "'s" and punctuation, double ones and those inside brackets, and a
/// second article beside the one inside a bracket.
void repair(CoreferenceSentence& sentence) {
  constexpr auto any_case = std::regex::ECMAScript | std::regex::icase;
  static const std::regex blank(" (?=[,.;:!? ]|'s |n't )");
  static const std::regex edge("([\\[{]) | ([\\]}])");
  static const std::regex inside("([\\[{](?:the|an?) )(?:the|an?) ", any_case);
  static const std::regex outside("(^|[^a-z\x80-\xFF])(?:the|an?) ([\\[{](?:the|an?) )", any_case);  // not «ça [the»
  sentence.text = std::string(base::trim(sentence.text));
  repair(sentence, blank, "", SentenceNote::spacing);
  repair(sentence, edge, "$1$2", SentenceNote::bracket_edge);
  repair(sentence, inside, "$1", SentenceNote::doubled_article);
  repair(sentence, outside, "$1$2", SentenceNote::doubled_article);
}

std::optional<Mention> mention_at(Draft& draft, Span span, base::Problems& problems) {
  const auto inside = draft.sentence.part(span);
  if (const auto blank = inside.find(' '); blank != inside.npos && is_article(inside.substr(0, blank))) {
    return Mention{{span.begin, span.begin + blank}, {span.begin + blank + 1, span.end}};
  }
  const auto before = article_before(draft.sentence.text, span.begin);
  if (!before || inside.empty()) {
    problems.add(draft.place, "the occupation '" + base::excerpt(inside, 60) + "' has no article",
                 "a marker is put between 'the', 'a' or 'an' and the occupation",
                 "Write [the " + std::string(inside) + "].");
    return std::nullopt;
  }
  draft.sentence.notes.insert(SentenceNote::bracket_edge);
  return Mention{*before, span};
}

/// Takes the marks out of the text. [pronoun or occupation, in braces]: what they name.
std::optional<std::array<std::vector<Span>, 2>> read_marks(Draft& draft, base::Problems& problems) {
  const auto line = std::exchange(draft.sentence.text, "");
  auto& text = draft.sentence.text;
  std::array<std::vector<Span>, 2> marks;
  char open = 0;
  for (const char c : line) {
    if (c == '[' || c == '{') {
      if (open != 0) {
        problems.add(draft.place, "a bracket inside brackets", "marks do not nest");
        return std::nullopt;
      }
      open = c;
      draft.marks.push_back({text.size(), text.size()});
    } else if (c == ']' || c == '}') {
      if (open == 0 || (open == '[') != (c == ']')) {
        problems.add(draft.place, std::string("a '") + c + "' without its opening bracket",
                     "marks are [...] and {...}");
        return std::nullopt;
      }
      draft.marks.back().end = text.size();
      marks[open == '[' ? 0 : 1].push_back(draft.marks.back());
      open = 0;
    } else {
      text += c;
    }
  }
  problems.add_if(open != 0, draft.place, "a bracket does not close", "marks are [...] and {...}");
  return open == 0 ? std::optional(std::move(marks)) : std::nullopt;
}

/// Reads the text with its marks; false after reporting what is wrong with it.
bool read_draft(Draft& draft, base::Problems& problems) {
  auto& sentence = draft.sentence;
  repair(sentence);
  auto marks = read_marks(draft, problems);
  if (!marks) {
    return false;
  }
  auto& [named, braced] = *marks;
  const auto pronoun_at = [&](Span span) { return find_pronoun(sentence.part(span)); };
  const auto first = std::ranges::find_if(named, pronoun_at);
  const Pronoun* pronoun = first == named.end() ? nullptr : pronoun_at(*first);
  sentence.pronoun = pronoun == nullptr ? Span() : *first;
  const auto num_pronouns = std::erase_if(named, pronoun_at);
  if (named.size() != 1 || pronoun == nullptr || braced.size() > 1) {
    problems.add(
        draft.place,
        std::to_string(named.size()) + " occupations and " + (pronoun != nullptr ? "a" : "no") + " pronoun in brackets",
        "exactly one occupation and at least one of he, she, him, her, his, hers, himself, herself are expected",
        "Mark them as in '[The x] saw the y because [she] looked.'");
    return false;
  }
  if (num_pronouns > 1) {
    sentence.notes.insert(SentenceNote::further_pronoun);
  }
  if (std::string_view(".!?\"'").find(sentence.text.back()) == std::string_view::npos) {
    problems.add(draft.place, "the sentence does not end", "a question follows it", "End it with '.', '!' or '?'.");
    return false;
  }
  sentence.gender = pronoun->gender;
  sentence.pronoun_case = pronoun->pronoun_case;
  const auto referent = mention_at(draft, named.front(), problems);
  if (!referent) {
    return false;
  }
  draft.referent = *referent;
  draft.other = braced.empty() ? std::nullopt : mention_at(draft, braced.front(), problems);
  return braced.empty() || draft.other;
}

/// With the other occupation. The type decides what is unusual.
std::optional<CoreferenceSentence> completed(const Draft& draft, const std::vector<std::string>& occupations,
                                             base::Problems& problems) {
  auto result = draft.sentence;
  auto other = draft.other;
  std::vector<Span> found;  // mentions besides the marked one, in the order of the text, the longest at a place
  for (const auto& noun : occupations) {
    for (const auto span : mentions_of(result.text, noun)) {
      found.push_back(span);
    }
  }
  std::sort(found.begin(), found.end(),
            [](Span left, Span right) { return std::pair(left.begin, right.end) < std::pair(right.begin, left.end); });
  std::size_t num_mentions = 1 + (other ? 1 : 0);
  Span last = draft.referent.noun;
  for (const auto span : found) {
    if (overlaps(span, draft.referent.noun) || overlaps(span, last) || (other && overlaps(span, other->noun))) {
      continue;
    }
    last = span;
    ++num_mentions;
    const auto article = article_before(result.text, span.begin);
    if (!other && article && cut(result.text, span) != result.part(draft.referent.noun)) {
      other = Mention{*article, span};
    }
  }
  if (!other) {
    problems.add(draft.place, "no second occupation in '" + base::excerpt(result.text, 80) + "'",
                 "another occupation of the list, with an article, is looked for",
                 "Mark it in braces: '{the designer}'.");
    return std::nullopt;
  }
  const bool first = draft.referent.noun.begin < other->noun.begin;
  result.mentions = first ? std::array{draft.referent, *other} : std::array{*other, draft.referent};
  result.bracketed = first ? 0 : 1;
  if (num_mentions > 2) {
    result.notes.insert(SentenceNote::three_mentions);
  }
  if (result.type == SentenceType::unambiguous && first) {
    result.notes.insert(SentenceNote::first_referent);
  }
  for (const auto word : words_of(result.text)) {
    const auto is_marked = [&](Span mark) { return overlaps(mark, word); };
    if (find_pronoun(cut(result.text, word)) != nullptr && std::ranges::none_of(draft.marks, is_marked)) {
      result.notes.insert(SentenceNote::unmarked_pronoun);
    }
  }
  const auto after = result.text.substr(result.pronoun.end);
  if (result.pronoun_case == PronounCase::possessive && result.gender == Gender::male && !after.starts_with(' ')) {
    result.pronoun_case = PronounCase::independent;
  }
  return result;
}

}  // namespace

std::optional<CoreferenceSentence> read_marked(const CoreferenceSentence& entry, const base::Place& place,
                                               const std::vector<std::string>& occupations, base::Problems& problems) {
  Draft draft{.sentence = entry, .place = place};
  return read_draft(draft, problems) ? completed(draft, occupations, problems) : std::nullopt;
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
  const auto behind = text.substr(span.end);
  const auto words = words_of(behind);
  if (words.empty() || words.front().begin != 1 || behind.front() != ' ') {
    return false;
  }
  const auto next = base::lower_ascii(cut(behind, words.front()));
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
  const std::multimap<std::size_t, char, std::greater<>> brackets = {
      {referent.article.begin, '['}, {referent.noun.end, ']'},      {other.article.begin, '{'},
      {other.noun.end, '}'},         {sentence.pronoun.begin, '['}, {sentence.pronoun.end, ']'}};
  std::string text = sentence.text;
  for (const auto& [at, mark] : brackets) {
    text.insert(at, 1, mark);
  }
  return text;
}

namespace {

constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
constexpr std::size_t max_line_bytes = 2000;

/// What the name of a file says of its sentences; nothing: it says too little.
std::optional<Draft> draft_of_file(const std::filesystem::path& path) {
  const auto name = path.filename().string();
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("pro") == has("anti") || has("type1") == has("type2")) {
    return std::nullopt;
  }
  const auto dot = name.rfind('.');
  Draft draft;
  draft.place.file = path.string();
  draft.sentence.type = has("type1") ? SentenceType::ambiguous : SentenceType::unambiguous;
  draft.sentence.stereotype = has("pro") ? Stereotype::pro : Stereotype::anti;
  draft.sentence.split = dot == std::string::npos ? "" : name.substr(dot + 1);
  return draft;
}
constexpr const char* name_rule = "names say 'pro' or 'anti', and 'type1' or 'type2'";

/// What sentences with the same text but for pronouns say of one another.
void tell_pair(std::vector<Draft>& pair) {
  std::optional<PronounCase> told;  // by "his" or "him" in the same place
  std::set<Stereotype> stereotypes;
  for (const auto& draft : pair) {
    stereotypes.insert(draft.sentence.stereotype);
    told = draft.sentence.gender == Gender::male ? draft.sentence.pronoun_case : told;
  }
  std::set<std::pair<Stereotype, std::string>> texts;
  for (auto& draft : pair) {
    auto& sentence = draft.sentence;
    sentence.pair = pair.front().sentence.label;
    const auto word = sentence.part(sentence.pronoun);
    if (!draft.pronoun_case && (word == "her" || word == "Her")) {
      const bool possessive = is_possessive_her(sentence.text, sentence.pronoun);
      sentence.pronoun_case = told.value_or(possessive ? PronounCase::possessive : PronounCase::object);
    }
    const bool is_new = texts.emplace(sentence.stereotype, sentence.text).second;
    if (!draft.notes && stereotypes.size() < 2) {
      sentence.notes.insert(SentenceNote::no_partner);
    }
    if (!draft.notes && !is_new) {
      sentence.notes.insert(SentenceNote::repeated);
    }
  }
}

class Reader {
 public:
  Reader(config::Pieces& pieces, base::Problems& problems) : pieces_(pieces), problems_(problems), labels_(problems) {}

  void read_entry(const config::Node& node, const std::string& key) {
    config::Fields fields(node, key, problems_,
                          "{text: '[The baker] saw the editor because [he] sang.', type: ambiguous, stereotype: pro}");
    Draft draft;
    draft.place = node.place(key);
    CoreferenceSentence::each_key(draft.sentence, fields);
    if (fields.optional("case") != nullptr) {
      fields.choice("case", draft.pronoun_case.emplace(), case_names);
    }
    if (const config::Node* notes = fields.optional("notes")) {
      draft.notes = read_sentence_notes(*notes, key + ".notes", problems_);
    }
    fields.finish();
    auto& entry = draft.sentence;
    entry.label = entry.label.empty() ? entry.text : entry.label;
    if (!entry.text.empty()) {
      labels_.add(node, key, entry.label);
      add(std::move(draft));
    }
  }

  void read_path(const config::Node& node, const std::string& key, const std::string& given) {
    const std::filesystem::path path = pieces_.resolve_path(given);
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      read_file(node, key, path);
      return;
    }
    auto files = base::entries_of(path, error);
    std::erase_if(files, [&](const std::filesystem::path& file) {
      return !std::filesystem::is_regular_file(file, error) || !draft_of_file(file);
    });
    std::ranges::sort(files);
    problems_.add_if(files.empty(), node.place(key), "no file of sentences in '" + path.string() + "'", name_rule);
    for (const auto& file : files) {
      read_file(node, key, file);
    }
  }

  /// Sentences of one text but for the pronouns stand together, in the order of their first; each learns its pair.
  std::vector<CoreferenceSentence> finish(const std::vector<std::string>& occupations);

 private:
  void read_file(const config::Node& node, const std::string& key, const std::filesystem::path& path) {
    const auto name = path.filename().string();
    auto draft = draft_of_file(path);
    if (!draft) {
      problems_.add(node.place(key), "'" + name + "' does not say what its sentences are", name_rule);
      return;
    }
    std::string content;
    try {
      content = base::read_file(path, max_file_bytes);
    } catch (const base::InputError& error) {
      problems_.add(node.place(key), "a file of sentences cannot be read", error.what());
      return;
    }
    for (const auto& line : base::split(content, '\n')) {
      ++draft->place.line;
      auto& text = draft->sentence.text;
      text = base::trim(line);
      if (!text.empty()) {
        draft->sentence.label = name + ":" + std::to_string(draft->place.line);
        labels_.add(node, key, draft->sentence.label);
        const auto digits = text.find_first_not_of("0123456789");
        const bool numbered = digits != 0 && digits != std::string::npos && text[digits] == ' ';
        text.erase(0, numbered ? digits + 1 : 0);
        add(*draft);
      }
    }
  }

  void add(Draft draft) {
    const auto& text = draft.sentence.text;
    const bool is_clean = std::ranges::none_of(text, [](char c) { return c >= 0 && c < ' '; });
    if (!is_clean || text.size() > max_line_bytes || base::find_invalid_utf8(text)) {
      problems_.add(
          draft.place, "this is no sentence",
          "lines are valid UTF-8 of at most " + std::to_string(max_line_bytes) + " bytes without control characters");
      return;
    }
    if (read_draft(draft, problems_)) {
      drafts_.push_back(std::move(draft));
    }
  }

  config::Pieces& pieces_;
  base::Problems& problems_;
  config::LabelCheck labels_;
  std::vector<Draft> drafts_;
};

std::vector<CoreferenceSentence> Reader::finish(const std::vector<std::string>& occupations) {
  std::set<std::string> known(occupations.begin(), occupations.end());
  for (const auto& draft : drafts_) {
    known.emplace(draft.sentence.part(draft.referent.noun));
  }
  const std::vector<std::string> nouns(known.begin(), known.end());
  std::vector<std::vector<Draft>> pairs;
  std::unordered_map<std::string, std::size_t> index_of;
  for (auto& draft : drafts_) {
    auto sentence = completed(draft, nouns, problems_);
    if (!sentence) {
      continue;
    }
    sentence->notes = draft.notes.value_or(sentence->notes);
    sentence->pronoun_case = draft.pronoun_case.value_or(sentence->pronoun_case);
    const auto key = without_gender(sentence->text) + '\n' + std::to_string(static_cast<int>(sentence->type)) +
                     std::to_string(sentence->mentions[sentence->bracketed].noun.begin);
    const auto [at, is_new] = index_of.emplace(key, pairs.size());
    if (is_new) {
      pairs.emplace_back();
    }
    draft.sentence = std::move(*sentence);
    pairs[at->second].push_back(std::move(draft));
  }
  std::vector<CoreferenceSentence> sentences;
  for (auto& pair : pairs) {
    tell_pair(pair);
    std::ranges::transform(pair, std::back_inserter(sentences), &Draft::sentence);
  }
  return sentences;
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
  problems.add_if(!source.table.empty(), node.place(key), "sentences stand in no table",
                  "files of the WinoBias schema are plain text", "Write {files: [PATH, ...]}.");
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    reader.read_entry(source.list->children[i], source.key + "[" + std::to_string(i) + "]");
  }
  return config::select(reader.finish(occupations), source, problems);
}

config::Node dump_sentence(const CoreferenceSentence& sentence) {
  auto entry = sentence;
  entry.text = marked_text(sentence);
  config::ShownKeys fields;
  CoreferenceSentence::each_key(entry, fields);
  fields.choice("case", sentence.pronoun_case, case_names);
  auto map = fields.take();
  map.add("notes", config::choice_list(std::vector(sentence.notes.begin(), sentence.notes.end()), sentence_note_names));
  return map;
}

base::Json notes_schema() {
  return config::list_schema(config::choice_schema(sentence_note_names), config::Emptiness::allowed);
}

base::Json sentences_schema() {
  auto entry = config::ShownKeys::of_schema();
  const CoreferenceSentence usual;
  CoreferenceSentence::each_key(usual, entry);
  entry.choice("case", PronounCase::subject, case_names, "of the pronoun");
  entry.describe("notes", notes_schema());
  auto files = config::ShownKeys::of_schema();
  files.required_lines("files", {});
  return config::either_schema({config::source_schema(entry.take_schema()), files.take_schema()});
}

std::set<SentenceNote> read_sentence_notes(const config::Node& node, const std::string& key, base::Problems& problems) {
  std::set<SentenceNote> notes;
  config::each_entry(node, key, problems, [&](const config::Node& entry, const std::string& place) {
    if (const auto index = config::read_choice(entry, place, problems, sentence_note_names)) {
      notes.insert(static_cast<SentenceNote>(*index));
    }
  });
  return notes;
}

}  // namespace stereosweep::probes::coreference
