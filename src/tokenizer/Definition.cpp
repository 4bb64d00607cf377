#include "tokenizer/Definition.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Json.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/Field.hpp"
#include "tokenizer/TokenizerClass.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/sentencepiece/PieceFile.hpp"
#include "tokenizer/stages/Stages.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

std::string place(const base::FileSet& files, const std::string& name) { return files.directory() + "/" + name; }

constexpr auto config_name = "tokenizer_config.json";
constexpr auto definition_name = "tokenizer.json";
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

std::string content_of(const Json& token) { return token.is_null() ? "" : token["content"].get<std::string>(); }

// tokenizer_config.json and the files beside it: which tokens are special, what is put around a text.
class TokenizerConfig {
 public:
  /// A view: `files` outlives it. Throws InputError for malformed files.
  explicit TokenizerConfig(const base::FileSet& files)
      : files_(files), settings_(files, config_name), model_(files, "config.json") {
    read_named(settings_);
    if (!has_decoder()) {
      read_named(Document(files, "special_tokens_map.json"));
    }
  }

  Field field() const { return settings_.field(); }
  /// "model_type" of config.json; "" where there is none.
  std::string model_type() const { return model_.field().text_or("model_type", ""); }
  /// "tokenizer_class" of tokenizer_config.json, else of config.json, without "Fast"; "" where there is none.
  std::string class_name() const {
    const auto name = field().text_or("tokenizer_class", model_.field().text_or("tokenizer_class", ""));
    return name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
  }
  /// Whether "added_tokens_decoder" says which tokens are added: transformers then reads no older file.
  bool has_decoder() const { return field().find("added_tokens_decoder").has_value(); }

  // A special token that the files name: "mask_token", "additional_special_tokens[0]". Null: they say there is none.
  struct Named {
    std::string key;
    Json token;
  };
  const std::vector<Named>& named_tokens() const { return named_; }
  /// Null where no file has the key.
  const Named* find_named(const std::string& key) const {
    const auto found = std::ranges::find(named_, key, &Named::key);
    return found == named_.end() ? nullptr : &*found;
  }
  /// The text that the files name `key` ("bos_token"), or the family's.
  std::string token(const std::string& key, const std::string& otherwise) const {
    const auto* named = find_named(key);
    return named == nullptr || named->token.is_null() ? otherwise : content_of(named->token);
  }

  enum class Spaces { keep, take_left };
  /// As `token`; it becomes an added special token, with the flags that the file gives.
  std::string add_special(const std::string& key, const std::string& otherwise, Spaces spaces = Spaces::keep) {
    auto made = make_added_token(otherwise, AddedKind::special);
    made["lstrip"] = spaces == Spaces::take_left;
    if (const auto* named = find_named(key); named != nullptr && !named->token.is_null()) {
      made.update(named->token);
    }
    add_token(made);
    return content_of(made);
  }
  void add_token(Json token) {
    if (seen_.insert(content_of(token)).second) {
      tokens_.push_back(std::move(token));
    }
  }
  /// The list "added_tokens": `listed_tokens`, then what was added here.
  Json added_tokens() const {
    Json all = Json::array();
    std::set<std::string> listed;
    for (auto& [id, token, place] : listed_tokens()) {
      listed.insert(content_of(token));
      all.push_back(std::move(token));
    }
    std::ranges::copy_if(tokens_, std::back_inserter(all),
                         [&](const Json& token) { return !listed.contains(content_of(token)); });
    return all;
  }
  /// What stands under "added_tokens_decoder", else in added_tokens.json; by id.
  std::vector<ListedToken> listed_tokens() const {
    std::vector<ListedToken> entries;
    if (const auto list = field().find("added_tokens_decoder")) {
      for (const auto& [key, value] : list->object().items()) {
        const auto id = base::parse_integer(key);
        if (!id || *id < 0 || !value.is_object()) {
          list->refuse(base::json_quote(key), "an id and its token are needed");
        }
        Field(value, settings_.path, "added_tokens_decoder").at("content").text();
        entries.emplace_back(static_cast<std::size_t>(*id), value, settings_.path + ":added_tokens_decoder");
      }
    } else {
      const Document others(files_, "added_tokens.json");
      for (const auto& [content, id] : others.content.items()) {
        const bool special =
            base::contains(base::mapped(named_, [](const Named& one) { return content_of(one.token); }), content);
        entries.emplace_back(Field(id, others.path, content).number(),
                             make_added_token(content, special ? AddedKind::special : AddedKind::plain),
                             base::Place{others.path, 0, base::excerpt(content, 300)}.text());
        entries.back().token["normalized"] = !special;
      }
    }
    std::erase_if(entries, [](const ListedToken& entry) { return content_of(entry.token).empty(); });
    std::ranges::stable_sort(entries, {}, &ListedToken::id);
    return entries;
  }

 private:
  void read_named(const Document& document) {
    const auto put = [&](const std::string& key, const Field& field) {
      const auto known = std::ranges::find(named_, key, &Named::key);
      auto& token = (known == named_.end() ? named_.emplace_back(key) : *known).token;
      const auto& json = field.json();
      token = json.is_null() ? Json() : Json{{"content", json.is_object() ? field.at("content").text() : field.text()}};
      for (const auto* flag : added_flags) {
        if (json.is_object() && field.find(flag)) {
          token[flag] = field.at(flag).flag();
        }
      }
      if (!token.is_null()) {
        token["special"] = true;
      }
    };
    for (const auto& [key, value] : document.content.items()) {
      if (key == "additional_special_tokens" || key == "extra_special_tokens") {
        for (const auto& [name, token] : value.items()) {
          put(key + "." + name, Field(token, document.path, key));
        }
      } else if (key.ends_with("_token") && (value.is_string() || value.is_object() || value.is_null())) {
        put(key, Field(value, document.path, key));
      }
    }
  }

  const base::FileSet& files_;
  Document settings_, model_;
  std::vector<Named> named_;
  std::vector<Json> tokens_;
  std::set<std::string> seen_;
};

// The pieces that the normalizer and the pre-tokenizer of a document make of texts of many kinds, at the start of a
// text and behind an added token.
std::vector<std::string> pieces_of_samples(const Field& root) {
  const auto normalizer = root.find("normalizer") ? read_normalizer(root.at("normalizer")) : Normalizer();
  const auto words = root.find("pre_tokenizer") ? read_pre_tokenizer(root.at("pre_tokenizer")) : PreTokenizer();
  std::vector<std::string> all;
  for (const std::string_view text :
       {"The Nurse", " they  came ", "ÉCOLE naïve Straße İzmir Ångström", "e\u0301 ﬁ Ａ½ ①", "她是医生 です",
        "it's Don't WE'LL", "``a'' \u201cb\u201d", "a,b. (c)-d_e!", "12345 3.5", "a\tb\n\nc \r\n",
        "x\u200by\u00a0z\u00ad \u0007", "Ж ש ف ไทย", "\U0001F600"}) {
    for (const std::size_t offset : {0, 9}) {
      Pieces pieces;
      pieces.text = AlignedText(text, offset);
      if (normalizer) {
        normalizer(pieces.text);
      }
      if (words && pieces.text.size() > 0) {
        pieces.ranges.push_back({0, pieces.text.size()});
        words(pieces);
      }
      all.emplace_back(words ? "" : pieces.text.text());
      for (const auto& [begin, end] : pieces.ranges) {
        all.emplace_back(pieces.text.text().substr(begin, end - begin));
      }
    }
  }
  return all;
}

// An entry of "added_tokens" with all flags.
Json with_flags(const Field& token) {
  const bool special = token.flag_or("special", false);
  auto made = make_added_token(token.at("content").text(), special ? AddedKind::special : AddedKind::plain);
  for (const auto* flag : added_flags) {
    made[flag] = token.flag_or(flag, std::string_view(flag) == "normalized" && !special);
  }
  return made;
}

// Changes tokenizer.json to what AutoTokenizer of transformers 5 makes of it where a key of the files beside it asks
// for that. Where only the class's own choice differs, tokenizer.json stays. One warning for each difference.
class Follower {
 public:
  Follower(const base::FileSet& files, const TokenizerConfig& config, Definition& definition)
      : config_(config),
        settings_(config.field()),
        root_(definition.document, definition.file),
        document_(definition.document),
        warnings_(definition.warnings) {
    root_.at("model").object();
    const auto name = choose_class(config.model_type(), config.class_name(), files.at(definition_name).text());
    name_ = name.value_or("");
    if (name_ != verbatim_class) {
      class_ = make_class(name_, settings_, root_.find("normalizer") ? document_["normalizer"] : Json());
      if (class_.is_null()) {
        warn({name ? "tokenizer_class" : "model_type"},
             base::json_quote(name.value_or(config.model_type())) + " is not known to this program", "may differ");
      }
    }
  }

  void follow() {
    if (!class_.is_null()) {
      follow_steps();
      compare_model();
    }
    follow_tokens();
    follow_frame();
    for (const auto* key : {"auto_map", "fast_tokenizer_files", "split_special_tokens"}) {
      if (const auto found = settings_.find(key); found && found->json() != false) {
        warn({key}, "this key is not followed", "may differ");
      }
    }
  }

 private:
  using Keys = std::vector<std::string>;

  void say(const Keys& keys, const std::string& problem, const std::string& why) {
    warnings_.push_back(base::Place{settings_.file(), 0, base::join(keys, ", ")}.text() + ": " +
                        base::describe(problem, why));
  }
  void warn(const Keys& keys, const std::string& problem, const std::string& difference) {
    say(keys, problem, "tokenizer.json is followed; what AutoTokenizer makes of this folder " + difference);
  }
  // A difference that is settled by whether one of the keys is given; true: as they say.
  bool obeys(const Keys& keys, const Keys& given, const std::string& part) {
    if (given.empty()) {
      warn(keys.empty() ? Keys{"tokenizer_class"} : keys,
           (keys.empty() ? "" : "missing, and ") + ("the tokenizer_class " + name_) + " takes another " + part +
               " than tokenizer.json has",
           "differs");
    } else {
      say(given, "the " + part + " of tokenizer.json differs from what is said here",
          "AutoTokenizer obeys this file, and so does this program");
    }
    return !given.empty();
  }

  void follow_steps() {
    if (pieces_of_samples(root_) == pieces_of_samples(Field(class_, settings_.file()))) {
      return;
    }
    Keys keys, given;
    for (const auto& [key, usual] : class_["settings"].items()) {
      (settings_.find(key) ? given : keys).push_back(key);
    }
    if (obeys(keys, given, "normalizer or pre_tokenizer")) {
      document_["normalizer"] = class_["normalizer"];
      document_["pre_tokenizer"] = class_["pre_tokenizer"];
    }
  }

  void compare_model() {
    auto& model = document_["model"];
    auto& wanted = class_["model"];
    const auto* unknown = config_.find_named("unk_token");
    if (wanted.contains("unk_token") && unknown != nullptr && !unknown->token.is_null()) {
      wanted["unk_token"] = unknown->token["content"];
      if (wanted["type"] == "WordPiece" && model.contains("unk_token") && model["unk_token"] != wanted["unk_token"]) {
        obeys({}, {"unk_token"}, "unk_token");
        model["unk_token"] = wanted["unk_token"];
      }
    }
    if (wanted["type"] == "Unigram" && !wanted.contains("unk_id")) {
      // CamemBERT looks for the token's text, DeBERTa for its text with the score 0.
      const bool is_deberta = name_.starts_with("Deberta");
      const auto id = id_of(config_.token("unk_token", is_deberta ? "[UNK]" : "<unk>"));
      const Json score =
          id ? document_.value(Json::json_pointer("/model/vocab/" + std::to_string(*id) + "/1"), Json()) : Json();
      wanted["unk_id"] = id && (!is_deberta || score == 0.0) ? *id : is_deberta ? 1 : 0;
    }
    const bool spells_bytes = wanted.contains("byte_fallback") && id_of("<0x00>") && id_of("<0xFF>");
    for (const auto* key : {"type", "unk_token", "unk_id", "continuing_subword_prefix", "end_of_word_suffix",
                            "max_input_chars_per_word", "fuse_unk", "byte_fallback", "ignore_merges"}) {
      const auto value_in = [&](const Json& one) {
        const bool has = one.contains(key) && one[key] != false && one[key] != "";
        return has ? one[key] : Json();
      };
      const bool is_free = spells_bytes && std::string_view(key) == "unk_token";
      if (!is_free && model.contains(key) && value_in(model) != value_in(wanted)) {
        warn({"tokenizer_class"}, name_ + " takes another " + key + " than tokenizer.json has", "differs");
      }
    }
  }

  // Nothing for tokens without one. Linear: few are asked for.
  std::optional<std::uint64_t> id_of(const std::string& content) const {
    const auto vocabulary = root_.at("model").find("vocab");
    if (vocabulary && vocabulary->json().is_array()) {
      const auto& list = vocabulary->json();
      const auto found = std::ranges::find_if(
          list, [&](const Json& item) { return item.is_array() && item.size() == 2 && item[0] == content; });
      if (found != list.end()) {
        return static_cast<std::uint64_t>(found - list.begin());
      }
    } else if (vocabulary && vocabulary->find(content)) {
      return vocabulary->at(content).number();
    }
    for (const auto& token : tokens_of_file()) {
      if (token.at("content").text() == content && token.find("id")) {
        return token.at("id").number();
      }
    }
    return std::nullopt;
  }

  std::vector<Field> tokens_of_file() const {
    const auto list = root_.find("added_tokens");
    return list ? list->items() : std::vector<Field>();
  }

  void follow_tokens() {
    std::map<std::string, Json> of_file;
    auto added = Json::array();
    std::set<std::string> found;  // what the class has before it adds the tokens with a name
    for (const auto& token : tokens_of_file()) {
      added.push_back(token.json());
      of_file[token.at("content").text()] = with_flags(token);
      if (class_.is_null() || !config_.has_decoder()) {
        found.insert(token.at("content").text());
      }
    }
    const auto names = base::mapped(config_.named_tokens(), [](const auto& one) { return content_of(one.token); });
    const auto add = [&](const Json& json) {
      auto token = with_flags(Field(json, settings_.file(), "added_tokens_decoder"));
      const auto content = content_of(token);
      token["special"] = token["special"] == true || base::contains(names, content);
      found.insert(content);
      if (const auto known = of_file.find(content); known == of_file.end() || known->second != token) {
        added.push_back(std::move(token));
      }
    };
    for (const auto& listed : config_.listed_tokens()) {
      if (config_.has_decoder() || !found.contains(content_of(listed.token))) {
        add(listed.token);
      }
    }
    for (const auto& [key, token] : config_.named_tokens()) {
      if (!token.is_null() && !found.contains(content_of(token))) {
        add(token);
      }
    }
    document_["added_tokens"] = std::move(added);
    if (class_.is_null()) {
      return;
    }
    for (const auto& [key, usual] : class_["tokens"].items()) {
      const auto content = usual.get<std::string>();
      if (config_.find_named(key) == nullptr && found.insert(content).second && !of_file.contains(content)) {
        warn({key},
             "missing, and the tokenizer_class " + name_ + " finds " + base::json_quote(content) + " in every text",
             "differs");
      }
    }
    for (const auto& [content, token] : of_file) {
      if (!found.contains(content)) {
        warn({"added_tokens_decoder"}, base::json_quote(base::excerpt(content, 60)) + " of tokenizer.json is missing",
             "differs");
      }
    }
  }

  // The ids around a text, which is null.
  std::vector<Json> frame_of_file() const {
    std::vector<Token> tokens(1);
    tokens.front().id = -1;
    if (const auto post = root_.find("post_processor")) {
      read_post_processor (*post)("", SpecialTokens::add, tokens);
    }
    return base::mapped(tokens, [](const Token& token) { return token.id < 0 ? Json() : Json(token.id); });
  }

  void follow_frame() {
    const auto of_file = frame_of_file();
    for (const auto& [key, has] : {std::pair("add_bos_token", !of_file.front().is_null()),
                                   std::pair("add_eos_token", !of_file.back().is_null())}) {
      if (settings_.flag_or(key, has) != has) {
        warn({key}, std::string("the post_processor of tokenizer.json adds ") + (has ? "one" : "none"),
             "differs before transformers 5");
      }
    }
    if (class_.is_null() || !class_.contains("frame") || class_["frame"].is_null()) {
      return;
    }
    const auto keys = class_["frame"].get<Keys>();
    std::vector<Json> wanted(1);
    std::vector<Json> named;
    for (const auto& key : keys) {
      const auto text = config_.token(key, class_["tokens"][key].get<std::string>());
      const auto id = id_of(text);
      named.push_back({text, id ? Json(*id) : Json()});
      wanted.insert(named.size() == 1 ? wanted.begin() : wanted.end(), named.back()[1]);
    }
    if (wanted == of_file) {
      return;
    }
    Keys given = keys;
    std::erase_if(given, [&](const std::string& key) { return config_.find_named(key) == nullptr; });
    if (std::ranges::count(wanted, Json()) == 1 && obeys(keys, given, "post_processor")) {
      document_["post_processor"] = {{"type", name_.starts_with("Roberta") ? "RobertaProcessing" : "BertProcessing"},
                                     {"cls", named[0]},
                                     {"sep", named[1]},
                                     {"trim_offsets", true},
                                     {"add_prefix_space", settings_.flag_or("add_prefix_space", false)}};
    } else if (std::ranges::count(wanted, Json()) > 1) {
      warn(keys, "not in the vocabulary", "differs");
    }
  }

  const TokenizerConfig& config_;
  Field settings_;
  Field root_;
  Json& document_;
  std::vector<std::string>& warnings_;
  std::string name_;
  Json class_;
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
    auto made = class_of("BertTokenizer");
    Json vocabulary = read_lines();
    for (const auto& [key, usual] : made["tokens"].items()) {
      config_.add_special(key, usual);
    }
    const auto cls = config_.token("cls_token", "[CLS]");
    const auto sep = config_.token("sep_token", "[SEP]");
    Json post = {{"type", "BertProcessing"},
                 {"cls", {cls, id_of(vocabulary, cls, "vocab.txt")}},
                 {"sep", {sep, id_of(vocabulary, sep, "vocab.txt")}}};
    made["model"]["unk_token"] = config_.token("unk_token", "[UNK]");
    made["model"]["vocab"] = std::move(vocabulary);
    return assemble(made, post, {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}});
  }

  Json pairs() {
    const auto name = find_class();
    auto made = class_of(name);
    Json vocabulary = Document(files_, "vocab.json").content;
    Json post;
    Json decoder = {{"type", "ByteLevel"}};
    if (name == "OpenAIGPTTokenizer") {
      made["model"]["unk_token"] = config_.add_special("unk_token", "<unk>");
      decoder = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
    } else {
      post = name == "RobertaTokenizer" ? around_roberta(vocabulary) : around(vocabulary);
    }
    made["model"]["vocab"] = std::move(vocabulary);
    made["model"]["merges"] = read_merges();
    return assemble(made, post, decoder);
  }

 private:
  Json class_of(const std::string& name) const { return make_class(name, config_.field(), {}); }

  Json assemble(const Json& made, const Json& post, const Json& decoder) const {
    return {{"added_tokens", config_.added_tokens()},
            {"normalizer", made["normalizer"]},
            {"pre_tokenizer", made["pre_tokenizer"]},
            {"post_processor", post},
            {"decoder", decoder},
            {"model", made["model"]}};
  }

  std::string find_class() const {
    const std::vector<std::string> known = {"RobertaTokenizer", "GPT2Tokenizer",  "CodeGenTokenizer",
                                            "GPTNeoXTokenizer", "Qwen2Tokenizer", "OpenAIGPTTokenizer"};
    const auto type = config_.model_type();
    auto name = choose_class(type, config_.class_name(), "");
    if (!name || !base::contains(known, *name)) {
      throw base::InputError(
          base::Place{place(files_, "config.json"), 0, "model_type"}.text() + ": " +
          base::describe(
              base::json_quote(type) + " has no tokenizer.json",
              "vocab.json and merges.txt alone are enough for these only: roberta, opt, gpt2, gptj, gpt_neo, "
              "phi, codegen, gpt_neox, qwen2, openai-gpt"));
    }
    return *name;
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
  Json around(const Json& vocabulary) {
    const auto settings = config_.field();
    const bool is_opt = config_.model_type() == "opt";
    const auto* otherwise = is_opt ? "</s>" : "<|endoftext|>";
    const auto end = config_.add_special("eos_token", otherwise);
    const auto begin = config_.token("bos_token", otherwise);
    for (const auto* name : {"bos_token", "unk_token", "pad_token"}) {
      if (settings.find(name)) {
        config_.add_special(name, otherwise);
      }
    }
    const bool begins = settings.flag_or("add_bos_token", is_opt);
    const bool ends = settings.flag_or("add_eos_token", false);
    return make_frame(begins ? std::optional(begin) : std::nullopt, ends ? std::optional(end) : std::nullopt,
                      [&](const std::string& token) { return id_of(vocabulary, token, "vocab.json"); });
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
  auto added = config.added_tokens();
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

[[noreturn]] void refuse_missing(const base::FileSet& files) {
  throw base::InputError(base::describe(place(files, "tokenizer.json") + " is missing",
                                        "nor is there a vocab.txt, a vocab.json with merges.txt, or a tokenizer.model",
                                        way_to_get_one(files)));
}

}  // namespace

Definition read_definition(const base::FileSet& files) {
  const TokenizerConfig config(files);
  Definition made;
  if (const auto* file = files.find("tokenizer.json")) {
    made.file = place(files, "tokenizer.json");
    made.document = base::parse_json(file->text(), made.file);
    Follower(files, config, made).follow();
  } else if (files.find("vocab.txt") != nullptr) {
    made.file = place_of_all(files, {"vocab.txt"});
    made.document = Builder(files).bert();
  } else if (files.find("vocab.json") != nullptr && files.find("merges.txt") != nullptr) {
    made.file = place_of_all(files, {"vocab.json", "merges.txt"});
    made.document = Builder(files).pairs();
  } else if (files.find("tokenizer.model") != nullptr) {
    made = read_piece_definition(files);
  } else {
    refuse_missing(files);
  }
  made.listed = config.listed_tokens();
  return made;
}

std::optional<std::string> find_named_token(const base::FileSet& files, const std::string& name) {
  const TokenizerConfig config(files);
  const auto* named = config.find_named(name);
  return named == nullptr || named->token.is_null() ? std::nullopt
                                                    : std::optional(named->token["content"].get<std::string>());
}

}  // namespace stereosweep::tokenizer
