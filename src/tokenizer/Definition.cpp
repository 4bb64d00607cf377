#include "tokenizer/Definition.hpp"

#include <array>
#include <string_view>
#include <tuple>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/Model.hpp"
#include "tokenizer/TokenizerConfig.hpp"
#include "tokenizer/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

constexpr auto qwen2_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string place(const base::FileSet& files, const std::string& name) { return files.directory() + "/" + name; }

/// What a document was built from: a message about it names all files that its fault may be in.
std::string place_of_all(const base::FileSet& files, std::vector<std::string> names) {
  if (files.find("tokenizer_config.json") != nullptr) {
    names.emplace_back("tokenizer_config.json");
  }
  return place(files, base::join(names, " with "));
}

/// Builds documents for directories without tokenizer.json.
class Builder {
 public:
  explicit Builder(const base::FileSet& files) : files_(files), config_(files) {}

  Json bert() {
    const auto settings = config_.field();
    Json vocabulary = read_lines();
    const auto unknown = config_.add_special("unk_token", "[UNK]");
    const auto sep = config_.add_special("sep_token", "[SEP]");
    config_.add_special("pad_token", "[PAD]");
    const auto cls = config_.add_special("cls_token", "[CLS]");
    config_.add_special("mask_token", "[MASK]");
    Json normalizer = {{"type", "BertNormalizer"},
                       {"clean_text", true},
                       {"handle_chinese_chars", settings.flag_or("tokenize_chinese_chars", true)},
                       {"lowercase", settings.flag_or("do_lower_case", true)},
                       {"strip_accents", nullptr}};
    if (const auto strips = settings.find("strip_accents")) {
      normalizer["strip_accents"] = strips->flag();
    }
    Json post = {{"type", "BertProcessing"},
                 {"cls", {cls, id_of(vocabulary, cls, "vocab.txt")}},
                 {"sep", {sep, id_of(vocabulary, sep, "vocab.txt")}}};
    return {{"added_tokens", added(vocabulary, "vocab.txt")},
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

  Json pairs() {
    const auto family = find_family();
    if (family == Family::openai_gpt) {
      return openai_gpt();
    }
    const bool prefix = config_.field().flag_or("add_prefix_space", false);
    Json vocabulary = read_object(files_, "vocab.json");
    Json words = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"trim_offsets", true}};
    if (family == Family::qwen2) {
      words["use_regex"] = false;
      const Json split = {{"type", "Split"}, {"pattern", {{"Regex", qwen2_expression}}}, {"behavior", "Isolated"}};
      words = {{"type", "Sequence"}, {"pretokenizers", {split, words}}};
    }
    const auto post = family == Family::roberta ? around_roberta(vocabulary) : around(vocabulary, family);
    Json normalizer;
    if (family == Family::gpt_neox || family == Family::qwen2) {
      normalizer = {{"type", "NFC"}};
    }
    return {{"added_tokens", added(vocabulary, "vocab.json")},
            {"normalizer", normalizer},
            {"pre_tokenizer", words},
            {"post_processor", post},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", read_merges()}}}};
  }

 private:
  enum class Family : std::uint8_t { roberta, gpt2, opt, gpt_neox, qwen2, openai_gpt };

  Family find_family() const {
    const auto type = config_.model_type();
    const auto kind = config_.field().text_or("tokenizer_class", "");
    // Several types share a class, so that the type comes first.
    constexpr std::array<std::tuple<const char*, const char*, Family>, 10> known = {
        {{"roberta", "Roberta", Family::roberta},
         {"opt", "", Family::opt},
         {"gpt2", "GPT2", Family::gpt2},
         {"gptj", "", Family::gpt2},
         {"gpt_neo", "", Family::gpt2},
         {"phi", "", Family::gpt2},
         {"codegen", "CodeGen", Family::gpt2},
         {"gpt_neox", "GPTNeoX", Family::gpt_neox},
         {"qwen2", "Qwen2", Family::qwen2},
         {"openai-gpt", "OpenAIGPT", Family::openai_gpt}}};
    for (const auto& [name, prefix, family] : known) {
      if (type == name) {
        return family;
      }
    }
    std::vector<std::string> names;
    for (const auto& [name, prefix, family] : known) {
      if (*prefix != '\0' && kind.starts_with(prefix)) {
        return family;
      }
      names.emplace_back(name);
    }
    throw base::InputError(
        base::Place{place(files_, "config.json"), 0, "model_type"}.text() + ": " +
        base::describe(base::json_quote(type) + " has no tokenizer.json",
                       "vocab.json and merges.txt alone are enough for these only: " + base::join(names, ", ")));
  }

  Json around_roberta(const Json& vocabulary) {
    const auto cls = config_.add_special("cls_token", "<s>");
    config_.add_special("pad_token", "<pad>");
    const auto sep = config_.add_special("sep_token", "</s>");
    config_.add_special("unk_token", "<unk>");
    // The published RoBERTa files have it so; transformers 5 forgets it when it builds from these files.
    config_.add_special("mask_token", "<mask>", TokenizerConfig::Spaces::take_left);
    return {{"type", "RobertaProcessing"},
            {"cls", {cls, id_of(vocabulary, cls, "vocab.json")}},
            {"sep", {sep, id_of(vocabulary, sep, "vocab.json")}},
            {"trim_offsets", config_.field().flag_or("trim_offsets", true)},
            {"add_prefix_space", config_.field().flag_or("add_prefix_space", false)}};
  }

  // Causal families: an end token, and what tokenizer_config.json wants around a text.
  Json around(const Json& vocabulary, Family family) {
    const auto settings = config_.field();
    const auto* otherwise = family == Family::opt ? "</s>" : "<|endoftext|>";
    const auto end = config_.add_special("eos_token", otherwise);
    const auto begin = config_.token("bos_token", otherwise);
    if (settings.find("bos_token")) {
      config_.add_special("bos_token", otherwise);
    }
    if (settings.find("unk_token")) {
      config_.add_special("unk_token", otherwise);
    }
    if (settings.find("pad_token")) {
      config_.add_special("pad_token", otherwise);
    }
    Json single = Json::array();
    Json tokens = Json::object();
    const auto put = [&](const std::string& token) {
      single.push_back({{"SpecialToken", {{"id", token}, {"type_id", 0U}}}});
      tokens[token] = {{"id", token}, {"ids", Json::array({id_of(vocabulary, token, "vocab.json")})}};
    };
    if (settings.flag_or("add_bos_token", family == Family::opt)) {
      put(begin);
    }
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
    if (settings.flag_or("add_eos_token", false)) {
      put(end);
    }
    return {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", tokens}};
  }

  Json openai_gpt() {
    Json vocabulary = read_object(files_, "vocab.json");
    const auto unknown = config_.add_special("unk_token", "<unk>");
    return {{"added_tokens", added(vocabulary, "vocab.json")},
            {"normalizer",
             {{"type", "BertNormalizer"},
              {"clean_text", true},
              {"handle_chinese_chars", true},
              {"lowercase", config_.field().flag_or("do_lower_case", true)},
              {"strip_accents", nullptr}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"decoder", {{"type", "BPEDecoder"}, {"suffix", "</w>"}}},
            {"model",
             {{"type", "BPE"},
              {"unk_token", unknown},
              {"end_of_word_suffix", "</w>"},
              {"vocab", std::move(vocabulary)},
              {"merges", read_merges()}}}};
  }

  Json added(const Json& vocabulary, const char* file) const {
    const auto path = place(files_, file);
    return config_.added_tokens(Vocabulary(Field(vocabulary, path)));
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

  const base::FileSet& files_;
  TokenizerConfig config_;
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
    return {path, base::parse_json(file->text(), path), std::nullopt};
  }
  if (files.find("vocab.txt") != nullptr) {
    return {place_of_all(files, {"vocab.txt"}), Builder(files).bert(), std::nullopt};
  }
  if (files.find("vocab.json") != nullptr && files.find("merges.txt") != nullptr) {
    return {place_of_all(files, {"vocab.json", "merges.txt"}), Builder(files).pairs(), std::nullopt};
  }
  if (files.find("tokenizer.model") != nullptr) {
    return read_piece_definition(files);
  }
  throw base::InputError(
      base::describe(place(files, "tokenizer.json") + " is missing",
                     "nor is there a vocab.txt, a vocab.json with merges.txt, or a tokenizer.model"));
}

}  // namespace stereosweep::tokenizer
