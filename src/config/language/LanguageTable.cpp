#include "config/language/LanguageTable.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "base/Lists.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Wording.hpp"

namespace stereosweep::config {

namespace {

const std::vector<std::string> kinds = {"gender", "vowel"};

/// The file that the job names; null after reporting that there is none.
const Node* find_table(const Node& node, const std::string& name, Pieces& pieces, base::Problems& problems) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml");
  return is_path ? pieces.find_file(pieces.resolve_path(name), node, "language", problems)
                 : pieces.find("languages", name, node, "language", problems);
}

using Words = std::unordered_set<std::string_view>;

// Of either list words that are common in the other one's languages are left out ("is", "in", "was", "die", "no").
const Words english = {"the",  "are",   "of",     "and",     "to",    "that",   "than",   "be",   "been",  "being",
                       "were", "they",  "their",  "them",    "this",  "these",  "those",  "with", "have",  "has",
                       "had",  "would", "will",   "can",     "could", "should", "people", "most", "many",  "very",
                       "more", "often", "always", "who",     "what",  "which",  "how",    "when", "think", "say",
                       "said", "known", "for",    "because", "you",   "your",   "our",    "she",  "his",   "her",
                       "it",   "its",   "from",   "by",      "not"};
const Words others = {
    "der",    "das",    "und",  "ist",   "sind", "ein",    "eine", "sehr",   "nicht",  "wie",   "viele", "dass",
    "werden", "les",    "sont", "une",   "est",  "des",    "et",   "tres",   "pas",    "que",   "qui",   "dans",
    "pour",   "du",     "los",  "las",   "el",   "una",    "unos", "muy",    "es",     "del",   "con",   "como",
    "todos",  "suelen", "gli",  "sono",  "il",   "lo",     "di",   "che",    "molto",  "della", "ogni",  "os",
    "sao",    "uma",    "um",   "muito", "dos",  "het",    "een",  "zijn",   "heel",   "niet",  "erg",   "och",
    "ett",    "mycket", "som",  "og",    "er",   "meget",  "jest", "nie",    "bardzo", "sie",   "bir",   "ve",
    "cok",    "olarak", "ovat", "hyvin", "egy",  "nagyon", "sunt", "foarte", "je",     "su",    "jsou",  "velmi"};

}  // namespace

LanguageTable LanguageTable::read(const Node& node, Pieces& pieces, base::Problems& problems) {
  LanguageTable table;
  const auto name = read_line(node, "language", problems, 4000).value_or("en");
  if (name == "en") {
    return table;
  }
  if (pieces.holds_language()) {
    table.name_ = name;
    return table;
  }
  const Node* file = find_table(node, name, pieces, problems);
  if (file == nullptr) {
    return table;
  }
  Fields fields(*file, "", problems, "{language: de, articles: {...}, generic: {...}}");
  fields.piece_head();
  fields.required_line("language", table.name_);
  problems.add_if(table.name_ == "en" && fields.usable(), file->place("language"), "the language is 'en'",
                  "English needs no table: its rules are the program's", "Give the table the language that it is for.");
  if (const Node* articles = fields.optional("articles")) {
    table.read_articles(*articles, problems);
  } else {
    table.articles_.by = sweep::ArticleRule::By::noun;  // none to write
  }
  if (const Node* generic = fields.required("generic")) {
    Fields words(*generic, "generic", problems, "{singular: Mensch, plural: Menschen, gender: masculine}");
    auto& word = table.generic_.emplace();
    words.required_line("singular", word.singular);
    words.required_line("plural", word.plural);
    words.line("gender", word.gender);
    words.finish();
    if (table.has_genders()) {
      problems.add_if(words.usable() && word.gender.empty(), generic->place("generic"), "no gender",
                      "it says which article stands before the generic word");
      table.article_of(*generic, "generic", "", word.gender, problems);
    }
  }
  fields.lines("people", table.people_);
  fields.line("between", table.between_);
  fields.lines("function_words", table.function_words_);
  fields.finish();
  return table;
}

void LanguageTable::read_articles(const Node& node, base::Problems& problems) {
  Fields fields(node, "articles", problems, "{by: gender, masculine: ein, feminine: eine, neuter: ein}");
  std::size_t kind = 0;
  fields.required("by");
  fields.choice("by", kind, kinds);
  if (kinds[kind] == "vowel") {
    articles_.by = sweep::ArticleRule::By::vowel;
    fields.required_line("before_vowel", articles_.before_vowel);
    fields.required_line("otherwise", articles_.otherwise);
    fields.finish();
    return;
  }
  articles_.by = sweep::ArticleRule::By::noun;
  for (const auto& gender : node.keys) {  // the names of the genders are the table's own
    if (gender != "by") {
      auto& entry = by_gender_.emplace_back(gender, "");
      fields.required_line(gender, entry.second);
    }
  }
  problems.add_if(fields.usable() && by_gender_.empty(), node.place("articles"), "no gender has an article", "",
                  "Write one key for each: {by: gender, masculine: ein, feminine: eine}.");
  fields.finish();
}

std::vector<std::string> LanguageTable::all_articles() const {
  if (is_english()) {
    return {"a", "an"};
  }
  std::vector<std::string> all;
  if (articles_.by == sweep::ArticleRule::By::vowel) {
    all = {articles_.before_vowel, articles_.otherwise};
  }
  for (const auto& [gender, article] : by_gender_) {
    base::add_once(all, article);
  }
  return all;
}

std::string LanguageTable::article_of(const Node& node, const std::string& key, const std::string& article,
                                      const std::string& gender, base::Problems& problems) const {
  if (!article.empty()) {
    if (const auto all = all_articles(); !base::contains(all, article)) {
      problems.add(node.place(key), "'" + article + "' is no article",
                   "articles of the language '" + name_ + "': " + (all.empty() ? "none" : one_of(all)));
    }
    return article;
  }
  if (gender.empty()) {
    return "";
  }
  const auto found =
      std::ranges::find(by_gender_, gender, [](const auto& entry) -> const std::string& { return entry.first; });
  if (found != by_gender_.end()) {
    return found->second;
  }
  const auto genders = base::mapped(by_gender_, [](const auto& entry) { return entry.first; });
  problems.add(node.place(key), "the language '" + name_ + "' has no gender '" + gender + "'",
               genders.empty() ? "its articles do not depend on one" : "known: " + one_of(genders),
               suggest(gender, genders, problems));
  return "";
}

std::string LanguageTable::inside(const std::string& text) const {
  if (is_english()) {
    return "";
  }
  const auto end = std::min(text.find_first_of(" ,"), text.size());
  const auto first = text.substr(0, end);
  const auto found =
      std::ranges::find_if(function_words_, [&](const auto& word) { return sweep::capitalise(word) == first; });
  return found == function_words_.end() ? text : *found + text.substr(end);
}

bool seems_english(std::span<const std::string> texts) {
  std::size_t num_words = 0;
  std::size_t num_english = 0;
  std::size_t num_others = 0;
  for (const auto& text : texts) {
    std::string word;
    bool has_other_letter = false;
    int depth = 0;
    for (const char c : text + " ") {
      const auto byte = static_cast<unsigned char>(c);
      const bool is_capital = c >= 'A' && c <= 'Z';
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth == 0 && (is_capital || (c >= 'a' && c <= 'z') || byte >= 0x80)) {
        word += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
        has_other_letter = has_other_letter || (byte >= 0xC3 && byte != 0xE2);  // E2: dashes and quotes
        continue;
      }
      if (!word.empty()) {
        ++num_words;
        num_english += english.contains(word) ? 1 : 0;
        num_others += has_other_letter || others.contains(word) ? 1 : 0;
      }
      word.clear();
      has_other_letter = false;
    }
  }
  constexpr std::size_t enough_words = 6;
  return num_others == 0 ? num_english > 0 || num_words < enough_words : num_english >= num_others;
}

}  // namespace stereosweep::config
