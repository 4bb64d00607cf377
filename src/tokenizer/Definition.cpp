#include "tokenizer/Definition.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

constexpr auto qwen2_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::string place(const base::FileSet& files, const std::string& name) { return files.directory() + "/" + name; }

constexpr auto config_name = "tokenizer_config.json";
constexpr std::array<const char*, 4> added_flags = {"single_word", "lstrip", "rstrip", "normalized"};

// A JSON object of the directory; an empty one where the file is missing. Throws InputError if it is something else.
struct Document {
  std::string path;
  Json content = Json::object();

  Document(const base::FileSet& files, const std::string& name) : path(place(files, name)) {
    const auto* file = files.find(name);
    content = file == nullptr ? Json::object() : base::parse_json(file->text(), path);
    if (!content.is_object()) {
      throw base::InputError(path + ": " + base::describe("no JSON object", "its settings are needed"));
    }
  }
  // A view: the document outlives it.
  Field field() const { return Field(content, path); }
};

enum class AddedKind { plain, special };

// An entry of "added_tokens" without further flags.
Json make_added_token(const std::string& content, AddedKind kind) {
  Json token = {{"content", content}};
  for (const auto* flag : added_flags) {
    token[flag] = false;
  }
  token["special"] = kind == AddedKind::special;
  return token;
}

// A special token's text: "[MASK]" or {"content": "[MASK]", ...}.
std::string text_of_token(const Field& token) {
  return token.json().is_object() ? token.at("content").text() : token.text();
}

std::optional<std::string> token_text(const Field& file, const std::string& name) {
  const auto field = file.find(name);
  return field ? std::optional(text_of_token(*field)) : std::nullopt;
}

// tokenizer_config.json and the files beside it, for directories without tokenizer.json: which tokens are special, what
// is put around a text.
class TokenizerConfig {
 public:
  /// A view: `files` outlives it. Throws InputError for malformed files.
  explicit TokenizerConfig(const base::FileSet& files) : files_(files), settings_(files, config_name) {}

  Field field() const { return settings_.field(); }
  /// "model_type" of config.json; "" where there is none.
  std::string model_type() const { return Document(files_, "config.json").field().text_or("model_type", ""); }
  /// The text that the file names `key` ("bos_token"), or the family's.
  std::string token(const std::string& key, const std::string& otherwise) const {
    return token_text(field(), key).value_or(otherwise);
  }

  enum class Spaces { keep, take_left };
  /// As `token`; it becomes an added special token, with the flags that the file gives.
  std::string add_special(const std::string& key, const std::string& otherwise, Spaces spaces = Spaces::keep) {
    const auto content = token(key, otherwise);
    auto made = make_added_token(content, AddedKind::special);
    made["lstrip"] = spaces == Spaces::take_left;
    if (const auto named = field().find(key); named && named->json().is_object()) {
      for (const auto* flag : added_flags) {
        made[flag] = named->flag_or(flag, made[flag].get<bool>());
      }
    }
    add_token(std::move(made));
    return content;
  }
  void add_token(Json token) {
    if (seen_.insert(token["content"].get<std::string>()).second) {
      tokens_.push_back(std::move(token));
    }
  }
  /// The list "added_tokens": what the file lists under "added_tokens_decoder" (by id) and added_tokens.json (by id),
  /// then what was added here. Throws InputError where a token's id in the file is not the one that it will have:
  /// that in `vocabulary`, else the next free one.
  Json added_tokens(const Vocabulary& vocabulary) const {
    Json all = Json::array();
    std::set<std::string> listed;
    auto next = vocabulary.num_tokens();
    for (auto& [id, token] : listed_tokens()) {
      const auto content = token["content"].get<std::string>();
      const auto known = vocabulary.find(content);
      if (!content.empty() && id != (known ? static_cast<std::size_t>(*known) : next)) {
        const auto list = field().find("added_tokens_decoder");
        const bool is_listed = list && list->json().contains(std::to_string(id));
        const auto other = place(files_, "added_tokens.json");
        Field(settings_.content, is_listed ? settings_.path : other, is_listed ? "added_tokens_decoder" : content)
            .refuse(base::json_quote(content) + " has id " + std::to_string(id),
                    known ? "the vocabulary has it as " + std::to_string(*known)
                          : "the next free id is " + std::to_string(next));
      }
      if (!known && !content.empty()) {
        ++next;
      }
      listed.insert(content);
      all.push_back(token);
    }
    for (const auto& token : tokens_) {
      if (!listed.contains(token["content"].get<std::string>())) {
        all.push_back(token);
      }
    }
    return all;
  }

 private:
  std::vector<std::pair<std::size_t, Json>> listed_tokens() const {
    std::vector<std::pair<std::size_t, Json>> entries;
    std::set<std::string> listed;
    if (const auto list = field().find("added_tokens_decoder")) {
      for (const auto& [key, value] : list->object().items()) {
        const auto id = base::parse_integer(key);
        if (!id || *id < 0 || !value.is_object()) {
          list->refuse(base::json_quote(key), "an id and its token are needed");
        }
        listed.insert(Field(value, settings_.path, "added_tokens_decoder").at("content").text());
        entries.emplace_back(static_cast<std::size_t>(*id), value);
      }
    }
    const Document others(files_, "added_tokens.json");
    for (const auto& [content, id] : others.content.items()) {
      const auto number = Field(id, others.path, content).number();
      if (!content.empty() && listed.insert(content).second) {
        entries.emplace_back(number,
                             make_added_token(content, names_special(content) ? AddedKind::special : AddedKind::plain));
      }
    }
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return entries;
  }
  // Whether one of "..._token" or "additional_special_tokens" names it.
  bool names_special(const std::string& content) const {
    for (const auto* name : {config_name, "special_tokens_map.json"}) {
      const Document document(files_, name);
      const auto file = document.field();
      for (const auto& [key, value] : document.content.items()) {
        if (key.ends_with("_token") && (value.is_string() || value.is_object()) && token_text(file, key) == content) {
          return true;
        }
      }
      if (const auto more = file.find("additional_special_tokens")) {
        const auto items = more->items();
        if (std::any_of(items.begin(), items.end(),
                        [&](const Field& item) { return text_of_token(item) == content; })) {
          return true;
        }
      }
    }
    return false;
  }

  const base::FileSet& files_;
  Document settings_;
  std::vector<Json> tokens_;
  std::set<std::string> seen_;
};

/// What a document was built from: a message about it names all files that its fault may be in.
std::string place_of_all(const base::FileSet& files, std::vector<std::string> names) {
  if (files.find("tokenizer_config.json") != nullptr) {
    names.emplace_back("tokenizer_config.json");
  }
  return place(files, base::join(names, " with "));
}

// The post-processor that puts these tokens before and behind every text.
Json make_frame(const std::optional<std::string>& begin, const std::optional<std::string>& end,
                const std::function<Json(const std::string&)>& id_of) {
  Json single = Json::array();
  Json tokens = Json::object();
  const auto put = [&](const std::optional<std::string>& token) {
    if (token) {
      single.push_back({{"SpecialToken", {{"id", *token}, {"type_id", 0U}}}});
      tokens[*token] = {{"id", *token}, {"ids", Json::array({id_of(*token)})}};
    }
  };
  put(begin);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
  put(end);
  return {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", tokens}};
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
                       {"handle_chinese_chars", settings.flag_or("tokenize_chinese_chars", true)},
                       {"lowercase", settings.flag_or("do_lower_case", true)}};
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
    Json vocabulary = Document(files_, "vocab.json").content;
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
    for (const auto* name : {"bos_token", "unk_token", "pad_token"}) {
      if (settings.find(name)) {
        config_.add_special(name, otherwise);
      }
    }
    const bool begins = settings.flag_or("add_bos_token", family == Family::opt);
    const bool ends = settings.flag_or("add_eos_token", false);
    return make_frame(begins ? std::optional(begin) : std::nullopt, ends ? std::optional(end) : std::nullopt,
                      [&](const std::string& token) { return id_of(vocabulary, token, "vocab.json"); });
  }

  Json openai_gpt() {
    Json vocabulary = Document(files_, "vocab.json").content;
    const auto unknown = config_.add_special("unk_token", "<unk>");
    return {{"added_tokens", added(vocabulary, "vocab.json")},
            {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", config_.field().flag_or("do_lower_case", true)}}},
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
      line.resize(start_of_trailing(line, classes::white_space));
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

constexpr auto pieces_name = "tokenizer.model";

// The families whose tokenizer puts its BOS before every text unless it is told otherwise.
bool begins_texts(const TokenizerConfig& config) {
  constexpr std::array<std::string_view, 6> families = {"llama", "mistral", "mixtral",
                                                        "gemma", "gemma2",  "gemma3_text"};
  const auto type = config.model_type();
  const auto kind = config.field().text_or("tokenizer_class", "");
  if (std::find(families.begin(), families.end(), type) != families.end() || kind.starts_with("Llama") ||
      kind.starts_with("Gemma")) {
    return true;
  }
  const auto named = [](const std::string& value) { return value.empty() ? "missing" : base::json_quote(value); };
  config.field().refuse("\"add_bos_token\" is missing", "neither \"tokenizer_class\" (" + named(kind) +
                                                            ") nor \"model_type\" of config.json (" + named(type) +
                                                            ") tells whether a token stands before every text");
}

Json piece_frame(const TokenizerConfig& config, const PieceFile& pieces, const Vocabulary& vocabulary) {
  const auto settings = config.field();
  const bool begins = settings.find("add_bos_token") ? settings.at("add_bos_token").flag() : begins_texts(config);
  const bool ends = settings.flag_or("add_eos_token", false);
  return make_frame(
      begins ? std::optional(config.token("bos_token", pieces.begin)) : std::nullopt,
      ends ? std::optional(config.token("eos_token", pieces.end)) : std::nullopt, [&](const std::string& token) {
        const auto id = vocabulary.find(token);
        if (!id) {
          settings.refuse(base::json_quote(token) + " is no piece of " + pieces_name, "it is put around every text");
        }
        return Json(static_cast<std::uint64_t>(*id));
      });
}

Json piece_decoder(const PieceFile& pieces) {
  Json steps = Json::array();
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", space_mark}}}, {"content", " "}});
  steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (pieces.adds_mark && pieces.marks == PieceFile::Marks::before) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1U}, {"stop", 0U}});
  }
  return {{"type", "Sequence"}, {"decoders", steps}};
}

Definition read_piece_definition(const base::FileSet& files) {
  Definition made;
  made.file = files.directory() + "/" + pieces_name;
  auto& pieces = made.pieces.emplace(read_piece_file(files.at(pieces_name).text(), made.file));
  TokenizerConfig config(files);
  pieces.adds_mark = config.field().flag_or("add_prefix_space", pieces.adds_mark);
  for (const auto& piece : pieces.pieces) {
    if (piece.kind == Piece::Kind::control || piece.kind == Piece::Kind::unknown) {
      config.add_token(make_added_token(piece.text, AddedKind::special));
    }
  }
  const Vocabulary vocabulary(pieces.texts());
  auto added = config.added_tokens(vocabulary);
  for (auto& token : added) {
    token["normalized"] = false;  // SentencePiece never sees them
  }
  made.document = {{"added_tokens", std::move(added)},
                   {"post_processor", piece_frame(config, pieces, vocabulary)},
                   {"decoder", piece_decoder(pieces)}};
  return made;
}

/// What the user can do about a missing tokenizer.json.
std::string way_to_get_one(const base::FileSet& files) {
  for (const auto* pieces : {"spm.model", "spiece.model", "sentencepiece.bpe.model"}) {
    if (files.find(pieces) != nullptr) {
      return "transformers writes one from " + std::string(pieces) +
             ": AutoTokenizer.from_pretrained(MODEL).save_pretrained(DIRECTORY)";
    }
  }
  return base::download_suggestion(files.directory());
}

}  // namespace

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
  throw base::InputError(base::describe(place(files, "tokenizer.json") + " is missing",
                                        "nor is there a vocab.txt, a vocab.json with merges.txt, or a tokenizer.model",
                                        way_to_get_one(files)));
}

std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name) {
  for (const auto* file : {config_name, "special_tokens_map.json"}) {
    if (auto found = token_text(Document(files, file).field(), name)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace stereosweep::tokenizer
