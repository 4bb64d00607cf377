#include "tokenizer/Definition.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/Model.hpp"
#include "tokenizer/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

constexpr auto config_name = "tokenizer_config.json";

std::string place(const base::FileSet& files, const std::string& name) { return files.directory() + "/" + name; }

// A special token's text: "[MASK]" or {"content": "[MASK]", ...}.
std::optional<std::string> token_text(const Field& file, const std::string& name) {
  const auto field = file.find(name);
  if (!field) {
    return std::nullopt;
  }
  return field->json().is_object() ? field->at("content").text() : field->text();
}

/// Builds documents for directories without tokenizer.json.
class Builder {
 public:
  explicit Builder(const base::FileSet& files)
      : files_(files), config_path_(place(files, config_name)), config_(read_object(files, config_name)) {}

  Json bert() {
    const Field config(config_, config_path_);
    Json vocabulary = read_lines();
    const auto unknown = add_special("unk_token", "[UNK]");
    const auto sep = add_special("sep_token", "[SEP]");
    add_special("pad_token", "[PAD]");
    const auto cls = add_special("cls_token", "[CLS]");
    add_special("mask_token", "[MASK]");
    Json normalizer = {{"type", "BertNormalizer"},
                       {"clean_text", true},
                       {"handle_chinese_chars", config.flag_or("tokenize_chinese_chars", true)},
                       {"lowercase", config.flag_or("do_lower_case", true)},
                       {"strip_accents", nullptr}};
    if (const auto strips = config.find("strip_accents")) {
      normalizer["strip_accents"] = strips->flag();
    }
    Json post = {{"type", "BertProcessing"},
                 {"cls", {cls, id_of(vocabulary, cls, "vocab.txt")}},
                 {"sep", {sep, id_of(vocabulary, sep, "vocab.txt")}}};
    return {{"added_tokens", added()},
            {"normalizer", normalizer},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor", post},
            {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
            {"model",
             {{"type", "WordPiece"},
              {"unk_token", unknown},
              {"continuing_subword_prefix", "##"},
              {"max_input_chars_per_word", 100U},
              {"vocab", std::move(vocabulary)}}}};
  }

  Json byte_level() {
    const Field config(config_, config_path_);
    const bool prefix = config.flag_or("add_prefix_space", false);
    Json vocabulary = read_object(files_, "vocab.json");
    Json post = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", false}};
    if (is_roberta()) {
      const auto cls = add_special("cls_token", "<s>");
      add_special("pad_token", "<pad>");
      const auto sep = add_special("sep_token", "</s>");
      add_special("unk_token", "<unk>");
      // The published RoBERTa files have it so; transformers 5 forgets it when it builds from these files.
      add_special("mask_token", "<mask>", Spaces::take_left);
      post = {{"type", "RobertaProcessing"},
              {"cls", {cls, id_of(vocabulary, cls, "vocab.json")}},
              {"sep", {sep, id_of(vocabulary, sep, "vocab.json")}},
              {"trim_offsets", config.flag_or("trim_offsets", true)},
              {"add_prefix_space", prefix}};
    } else {
      add_special("eos_token", "<|endoftext|>");
    }
    return {{"added_tokens", added()},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", true}}},
            {"post_processor", post},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", read_merges()}}}};
  }

 private:
  std::string name(const std::string& key, const char* otherwise) {
    return token_text(Field(config_, config_path_), key).value_or(otherwise);
  }

  bool is_roberta() const {
    const auto path = place(files_, "config.json");
    const auto document = read_object(files_, "config.json");
    const auto type = Field(document, path).text_or("model_type", "");
    const auto kind = Field(config_, config_path_).text_or("tokenizer_class", "");
    if (type == "roberta" || kind.starts_with("Roberta")) {
      return true;
    }
    if (type == "gpt2" || kind.starts_with("GPT2")) {
      return false;
    }
    throw base::InputError(base::Place{path, 0, "model_type"}.text() + ": " +
                           base::describe(base::json_quote(type) + " has no tokenizer.json",
                                          "vocab.json and merges.txt alone are enough for roberta and gpt2 only"));
  }

  // One token a line, its number from 0 is its id; of equal lines the last counts.
  Json read_lines() const {
    TextMap<std::size_t> ids;
    std::size_t id = 0;
    for (auto line : lines_of("vocab.txt")) {
      while (!line.empty()) {
        const auto last = previous_character(line, line.size());
        auto i = last;
        if (!is(next_character(line, i), classes::white_space)) {
          break;
        }
        line.resize(last);
      }
      ids[line] = id++;
    }
    Json vocabulary = Json::object();
    auto& members = vocabulary.get_ref<Json::object_t&>();  // operator[] looks through all of them
    for (const auto& [token, number] : ids) {
      members.emplace_back(token, number);
    }
    return vocabulary;
  }

  Json read_merges() const {
    Json merges = Json::array();
    for (const auto& line : lines_of("merges.txt")) {
      if (!line.starts_with("#version") && !line.empty()) {
        merges.push_back(line);
      }
    }
    return merges;
  }

  std::vector<std::string> lines_of(const std::string& file) const {
    const auto text = files_.at(file).text();
    if (const auto bad = base::find_invalid_utf8(text)) {
      throw base::InputError(place(files_, file) + ": " +
                             base::describe("no valid UTF-8 at byte " + std::to_string(*bad), "tokens are text"));
    }
    auto lines = base::split(text, '\n');
    if (lines.back().empty()) {
      lines.pop_back();
    }
    for (auto& line : lines) {
      if (line.ends_with('\r')) {
        line.pop_back();
      }
    }
    return lines;
  }

  Json id_of(const Json& vocabulary, const std::string& token, const char* file) const {
    const auto it = vocabulary.find(token);
    if (it == vocabulary.end()) {
      throw base::InputError(place(files_, file) + ": " +
                             base::describe(base::json_quote(token) + " is missing", "every text needs this token"));
    }
    return *it;
  }

  enum class Spaces { keep, take_left };
  // `key`: where tokenizer_config.json may spell out the token's flags.
  std::string add_special(const std::string& key, const char* otherwise, Spaces spaces = Spaces::keep) {
    const auto content = name(key, otherwise);
    if (!seen_.insert(content).second) {
      return content;
    }
    Json token = {{"content", content}, {"single_word", false}, {"lstrip", spaces == Spaces::take_left},
                  {"rstrip", false},    {"normalized", false},  {"special", true}};
    if (const auto field = Field(config_, config_path_).find(key); field && field->json().is_object()) {
      for (const auto* flag : {"single_word", "lstrip", "rstrip", "normalized"}) {
        token[flag] = field->flag_or(flag, token[flag].get<bool>());
      }
    }
    specials_.push_back(std::move(token));
    return content;
  }

  // What tokenizer_config.json lists under "added_tokens_decoder" (by id), then the family's own.
  Json added() {
    Json all = Json::array();
    std::set<std::string> listed;
    const Field config(config_, config_path_);
    if (const auto list = config.find("added_tokens_decoder")) {
      std::vector<std::pair<std::int64_t, Json>> entries;
      for (const auto& [key, value] : list->object().items()) {
        const auto id = base::parse_integer(key);
        if (!id || !value.is_object()) {
          list->refuse(base::json_quote(key), "an id and its token are needed");
        }
        entries.emplace_back(*id, value);
      }
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (auto& [id, token] : entries) {
        listed.insert(Field(token, config_path_, "added_tokens_decoder").at("content").text());
        all.push_back(std::move(token));
      }
    }
    for (auto& special : specials_) {
      if (!listed.contains(special["content"].get<std::string>())) {
        all.push_back(special);
      }
    }
    return all;
  }

  const base::FileSet& files_;
  std::string config_path_;
  Json config_;
  std::vector<Json> specials_;
  std::set<std::string> seen_;
};

}  // namespace

base::Json read_object(const base::FileSet& files, const std::string& name) {
  const auto* file = files.find(name);
  if (file == nullptr) {
    return Json::object();
  }
  const auto where = place(files, name);
  auto document = base::parse_json(file->text(), where);
  if (!document.is_object()) {
    throw base::InputError(where + ": " + base::describe("no JSON object", "its settings are needed"));
  }
  return document;
}

Definition read_definition(const base::FileSet& files) {
  if (const auto* file = files.find("tokenizer.json")) {
    const auto path = place(files, "tokenizer.json");
    return {path, base::parse_json(file->text(), path)};
  }
  if (files.find("vocab.txt") != nullptr) {
    return {place(files, "vocab.txt"), Builder(files).bert()};
  }
  if (files.find("vocab.json") != nullptr && files.find("merges.txt") != nullptr) {
    return {place(files, "vocab.json"), Builder(files).byte_level()};
  }
  throw base::InputError(
      base::describe(place(files, "tokenizer.json") + " is missing",
                     files.find("tokenizer.model") != nullptr
                         ? "tokenizer.model alone is not supported: write a tokenizer.json with transformers"
                         : "nor is there a vocab.txt, or a vocab.json with merges.txt"));
}

std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name) {
  for (const auto* file : {config_name, "special_tokens_map.json"}) {
    const auto path = place(files, file);
    const auto document = read_object(files, file);
    if (auto found = token_text(Field(document, path), name)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace stereosweep::tokenizer
