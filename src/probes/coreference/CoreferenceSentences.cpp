// Sentences of a coreference job, from lists and from files.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/File.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceReader.hpp"
#include "probes/coreference/MarkedSentence.hpp"

namespace stereosweep::probes::coreference {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
constexpr std::size_t max_line_bytes = 2000;
const std::vector<std::string> type_names = {"ambiguous", "unambiguous"};
const std::vector<std::string> stereotype_names = {"pro", "anti"};
const std::vector<std::string> case_names = {"subject", "object", "possessive", "independent", "reflexive"};

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
