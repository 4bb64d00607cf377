#include "tokenizer/Definition.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "tokenizer/algorithms/Model.hpp"
#include "tokenizer/unicode/Unicode.hpp"

namespace stereosweep::tokenizer {
namespace {

using base::Json;

std::string place(const base::FileSet& files, const std::string& name) { return files.directory() + "/" + name; }

constexpr auto config_name = "tokenizer_config.json";
constexpr auto definition_name = "tokenizer.json";
constexpr auto pieces_name = "tokenizer.model";

// tokenizer_config.json and the files beside it: the class, its settings, and tokens.
class TokenizerConfig {
 public:
  /// A view: `files` outlives it. Throws InputError for malformed files.
  explicit TokenizerConfig(const base::FileSet& files)
      : files_(files), settings_(base::find_json(files, config_name)), model_(base::find_json(files, "config.json")) {
    read_named(settings_);
    if (!has_decoder()) {
      read_named(base::find_json(files, "special_tokens_map.json"));
    }
  }

  base::JsonValue field() const { return settings_.value(); }
  /// "model_type" of config.json; "" where there is none.
  std::string model_type() const { return model_["model_type"].text_or(""); }
  /// "tokenizer_class" of tokenizer_config.json, else of config.json, without "Fast"; "" where there is none.
  std::string class_name() const {
    const auto name = settings_["tokenizer_class"].text_or(model_["tokenizer_class"].text_or(""));
    return name.ends_with("Fast") ? name.substr(0, name.size() - 4) : name;
  }
  /// Whether "added_tokens_decoder" says which tokens are added: transformers then reads no older file.
  bool has_decoder() const { return !!settings_["added_tokens_decoder"]; }

  // A special token that the files name: "mask_token", "additional_special_tokens.0". Nothing: they say there is none.
  struct Named {
    std::string key;
    std::optional<AddedToken> token;
    bool has_flags = false;
  };
  /// In the order in which transformers adds them. `usual`: tokens, by key, where the files name none, and the flags of
  /// those that the files name by their text alone.
  std::vector<Named> named_tokens(const std::map<std::string, AddedToken>& usual) const {
    auto all = named_;
    for (const auto& [key, token] : usual) {
      const auto known = std::ranges::find(all, key, &Named::key);
      auto& named = known == all.end() ? all.emplace_back(key) : *known;
      if (!named.has_flags) {
        const auto content = named.token ? named.token->content : token.content;
        named.token = token;
        named.token->content = content;
      }
    }
    std::ranges::stable_sort(all, {}, [](const Named& one) { return rank_of(one.key); });
    return all;
  }
  /// Whether some file has the key, be it to say that there is no such token.
  bool names(const std::string& key) const { return base::contains(base::mapped(named_, &Named::key), key); }
  /// The text that the files give the token of the key ("bos_token").
  std::optional<std::string> find_text(const std::string& key) const {
    const auto found = std::ranges::find(named_, key, &Named::key);
    return found == named_.end() || !found->token ? std::nullopt : std::optional(found->token->content);
  }
  bool is_named(const std::string& content) const {
    return std::ranges::any_of(named_, [&](const Named& one) { return one.token && one.token->content == content; });
  }

  /// What stands under "added_tokens_decoder", else in added_tokens.json; by id. A token with a name is special.
  std::vector<ListedToken> listed_tokens() const {
    std::vector<ListedToken> entries;
    if (const auto list = settings_["added_tokens_decoder"]) {
      for (const auto& [key, value] : list.members()) {
        const auto id = base::parse_integer(key);
        value.refuse_if(!id || *id < 0, "is no id", "an id and its token are needed");
        entries.emplace_back(static_cast<std::size_t>(*id), read_added_token(value),
                             settings_.file + ":added_tokens_decoder");
      }
    } else {
      const auto others = base::find_json(files_, "added_tokens.json");
      for (const auto& [content, id] : others.value().members()) {
        entries.emplace_back(id.whole<std::size_t>(), AddedToken{.content = content},
                             base::Place{others.file, 0, base::excerpt(content, 300)}.text());
        entries.back().token.normalized = !is_named(content);
      }
    }
    std::erase_if(entries, [](const ListedToken& entry) { return entry.token.content.empty(); });
    for (auto& entry : entries) {
      entry.token.special = entry.token.special || is_named(entry.token.content);
    }
    std::ranges::stable_sort(entries, {}, &ListedToken::id);
    return entries;
  }

 private:
  static std::ptrdiff_t rank_of(const std::string& key) {
    constexpr std::array<std::string_view, 7> first = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                       "pad_token", "cls_token", "mask_token"};
    const auto found = std::ranges::find(first, key);
    return found - first.begin() + (found == first.end() && !key.ends_with("_token") ? 1 : 0);
  }

  void read_named(const base::JsonDocument& document) {
    const auto put = [&](const std::string& key, const base::JsonValue& field) {
      const auto known = std::ranges::find(named_, key, &Named::key);
      auto& [name, token, has_flags] = known == named_.end() ? named_.emplace_back(key) : *known;
      token.reset();
      has_flags = field.json().is_object();
      if (has_flags) {
        token = read_added_token(field, {.content = "", .special = true});
        token->special = true;
      } else if (!field.json().is_null()) {
        token = AddedToken{.content = field.text(), .special = true};
      }
    };
    for (const auto& [key, value] : document.root.items()) {
      if (key == "additional_special_tokens" || key == "extra_special_tokens") {
        for (const auto& [name, token] : value.items()) {
          put(key + "." + name, base::JsonValue(token, document.file, key));
        }
      } else if (key.ends_with("_token") && (value.is_string() || value.is_object() || value.is_null())) {
        put(key, base::JsonValue(value, document.file, key));
      }
    }
  }

  const base::FileSet& files_;
  base::JsonDocument settings_, model_;
  std::vector<Named> named_;
};

// The pieces that the normalizer and the pre-tokenizer of a document make of texts of many kinds, at the start of a
// text and behind an added token.
std::vector<std::string> pieces_of_samples(const base::JsonValue& root) {
  const auto normalizer = root["normalizer"] ? read_normalizer(root["normalizer"]) : Normalizer();
  const auto words = root["pre_tokenizer"] ? read_pre_tokenizer(root["pre_tokenizer"]) : PreTokenizer();
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

// Makes a definition of a document: of tokenizer.json, which is changed to what AutoTokenizer of transformers 5 makes
// of it where a key of the files beside it asks for that, and otherwise kept, with one warning for each difference; or
// of a vocabulary alone, which gets everything else from a class or from tokenizer.model.
class Builder {
 public:
  Builder(const TokenizerConfig& config, Definition& definition)
      : config_(config),
        settings_(config.field()),
        definition_(definition),
        document_(definition.document),
        root_(document_, definition.file) {}

  void follow_file(std::string_view text) {
    root_["model"].object();
    const auto name = choose_class(config_.model_type(), config_.class_name(), text);
    take_class(name.value_or(""), root_["normalizer"] ? document_["normalizer"] : Json());
    if (class_.is_null() && name_ != verbatim_class) {
      warn({name ? "tokenizer_class" : "model_type"},
           base::json_quote(name.value_or(config_.model_type())) + " is not known to this program", "may differ");
    }
    if (!class_.is_null()) {
      follow_steps();
      follow_model();
    }
    follow_tokens();
    follow_frame();
    for (const auto* key : {"auto_map", "fast_tokenizer_files", "split_special_tokens"}) {
      if (const auto found = settings_[key]; found && found.json() != false) {
        warn({key}, "this key is not followed", "may differ");
      }
    }
  }

  // The document has a model with "vocab" (and "merges"); the rest is as the class `name` has it.
  void complete(const std::string& name) {
    take_class(name, {});
    if (config_.model_type() == "opt") {
      for (auto& usual : class_["tokens"]) {
        usual = "</s>";
      }
    }
    for (const auto* part : {"normalizer", "pre_tokenizer", "decoder"}) {
      document_[part] = class_[part];
    }
    document_["model"].update(class_["model"]);
    std::map<std::string, AddedToken> usual;
    for (const auto& [key, text] : class_["tokens"].items()) {
      // The published RoBERTa files have it so; transformers 5 forgets it when it builds from these files.
      const bool takes_left = key == "mask_token" && class_.contains("trims");
      usual[key] = {.content = text, .strip_left = takes_left, .special = true};
    }
    add_listed_tokens();
    add_named_tokens(usual);
    build_frame();
  }

  // The definition has the pieces of tokenizer.model.
  void complete_pieces() {
    const auto& pieces = *definition_.pieces;
    class_["tokens"] = {{"bos_token", pieces.begin}, {"eos_token", pieces.end}};
    add_listed_tokens();
    for (const auto& piece : pieces.pieces) {
      if (piece.kind == Piece::Kind::control || piece.kind == Piece::Kind::unknown) {
        add({.content = piece.text, .special = true});
      }
    }
    for (auto& token : definition_.added) {
      token.normalized = false;  // SentencePiece never sees them
    }
    build_frame();
    document_["decoder"] = piece_decoder(pieces);
  }

 private:
  using Keys = std::vector<std::string>;

  void say(const Keys& keys, const std::string& problem, const std::string& why) {
    definition_.warnings.push_back(base::Place{settings_.file(), 0, base::join(keys, ", ")}.text() + ": " +
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

  // Its unknown token is the one that the files name.
  void take_class(const std::string& name, const Json& normalizer) {
    name_ = name;
    class_ = make_class(name, settings_, normalizer);
    if (const auto unknown = config_.find_text("unk_token");
        unknown && !class_.is_null() && class_["model"].contains("unk_token")) {
      class_["model"]["unk_token"] = *unknown;
    }
  }

  // The text of the token that the files name so, else of the class's; "" where neither has one.
  std::string text_of(const std::string& key) const {
    return config_.find_text(key).value_or(class_.at("tokens").value(key, ""));
  }

  // Nothing for tokens without one. Linear: few are asked for.
  std::optional<std::uint64_t> id_of(const std::string& content) const {
    const auto at = [](const auto& list, const auto& found) {
      return found == list.end() ? std::nullopt : std::optional(static_cast<std::uint64_t>(found - list.begin()));
    };
    if (definition_.pieces) {
      const auto& list = definition_.pieces->pieces;
      return at(list, std::ranges::find(list, content, &Piece::text));
    }
    const auto vocabulary = root_["model"]["vocab"];
    std::optional<std::uint64_t> id;
    if (vocabulary.json().is_array()) {
      const auto& list = vocabulary.json();
      id = at(list, std::ranges::find_if(list, [&](const Json& item) {
                return item.is_array() && item.size() == 2 && item[0] == content;
              }));
    } else if (const auto found = vocabulary[content]) {
      id = found.whole<std::uint64_t>();
    }
    for (const auto& token : tokens_of_file()) {
      if (!id && token["content"].text() == content && token["id"]) {
        id = token["id"].whole<std::uint64_t>();
      }
    }
    return id;
  }

  void follow_steps() {
    if (pieces_of_samples(root_) == pieces_of_samples(base::JsonValue(class_, settings_.file()))) {
      return;
    }
    Keys keys, given;
    for (const auto& [key, usual] : class_["settings"].items()) {
      (settings_[key] ? given : keys).push_back(key);
    }
    if (obeys(keys, given, "normalizer or pre_tokenizer")) {
      document_["normalizer"] = class_["normalizer"];
      document_["pre_tokenizer"] = class_["pre_tokenizer"];
    }
  }

  void follow_model() {
    auto& model = document_["model"];
    auto& wanted = class_["model"];
    if (wanted["type"] == "WordPiece" && config_.find_text("unk_token") && model.contains("unk_token") &&
        model["unk_token"] != wanted["unk_token"]) {
      obeys({}, {"unk_token"}, "unk_token");
      model["unk_token"] = wanted["unk_token"];
    }
    if (wanted["type"] == "Unigram" && !wanted.contains("unk_id")) {
      // CamemBERT looks for the token's text, DeBERTa for its text with the score 0.
      const bool is_deberta = name_.starts_with("Deberta");
      const auto id = id_of(text_of("unk_token"));
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

  std::vector<base::JsonValue> tokens_of_file() const {
    const auto list = root_["added_tokens"];
    return list ? list.items() : std::vector<base::JsonValue>();
  }

  void add(AddedToken token) {
    if (found_.insert(token.content).second) {
      definition_.added.push_back(std::move(token));
    }
  }
  void add_listed_tokens() {
    for (const auto& listed : definition_.listed) {
      add(listed.token);
    }
  }
  void add_named_tokens(const std::map<std::string, AddedToken>& usual) {
    for (const auto& named : config_.named_tokens(usual)) {
      if (named.token) {
        add(*named.token);
      }
    }
  }

  // Tokens that `found_` lacks are those that AutoTokenizer adds anew. An entry that changes nothing is left out.
  void follow_tokens() {
    const auto of_file =
        base::mapped(tokens_of_file(), [](const base::JsonValue& field) { return read_added_token(field); });
    const auto texts = base::mapped(of_file, &AddedToken::content);
    std::map<std::string, AddedToken> flags;
    for (const auto& token : of_file) {
      flags.insert_or_assign(token.content, token);
    }
    if (!config_.has_decoder()) {
      found_.insert(texts.begin(), texts.end());
    }
    add_listed_tokens();
    if (class_.is_null()) {
      found_.insert(texts.begin(), texts.end());
    }
    add_named_tokens({});
    std::erase_if(definition_.added, [&](const AddedToken& token) {
      const auto known = flags.find(token.content);
      return known != flags.end() && known->second == token;
    });
    definition_.added.insert(definition_.added.begin(), of_file.begin(), of_file.end());
    if (class_.is_null()) {
      return;
    }
    for (const auto& [key, usual] : class_["tokens"].items()) {
      const auto content = usual.get<std::string>();
      if (!config_.names(key) && found_.insert(content).second && !flags.contains(content)) {
        warn({key},
             "missing, and the tokenizer_class " + name_ + " finds " + base::json_quote(content) + " in every text",
             "differs");
      }
    }
    for (const auto& [content, token] : flags) {
      if (!found_.contains(content)) {
        warn({"added_tokens_decoder"}, base::json_quote(base::excerpt(content, 60)) + " of tokenizer.json is missing",
             "differs");
      }
    }
  }

  // The ids around a text, which is null.
  std::vector<Json> frame_of_file() const {
    std::vector<Token> tokens(1);
    tokens.front().id = -1;
    if (const auto post = root_["post_processor"]) {
      read_post_processor(post)("", SpecialTokens::add, tokens);
    }
    return base::mapped(tokens, [](const Token& token) { return token.id < 0 ? Json() : Json(token.id); });
  }

  void follow_frame() {
    const auto of_file = frame_of_file();
    for (const auto& [key, has] : {std::pair("add_bos_token", !of_file.front().is_null()),
                                   std::pair("add_eos_token", !of_file.back().is_null())}) {
      if (settings_[key].flag_or(has) != has) {
        warn({key}, std::string("the post_processor of tokenizer.json adds ") + (has ? "one" : "none"),
             "differs before transformers 5");
      }
    }
    if (class_.is_null() || !class_.contains("frame") || class_["frame"].is_null()) {
      return;
    }
    const auto keys = class_["frame"].get<Keys>();
    std::vector<Json> wanted = base::mapped(keys, [&](const std::string& key) {
      const auto id = id_of(text_of(key));
      return id ? Json(*id) : Json();
    });
    const bool is_known = !base::contains(wanted, Json());
    wanted.insert(wanted.begin() + (keys.empty() ? 0 : 1), Json());
    Keys given = keys;
    std::erase_if(given, [&](const std::string& key) { return !config_.names(key); });
    if (!is_known) {
      warn(keys, "not in the vocabulary", "differs");
    } else if (wanted != of_file && obeys(keys, given, "post_processor")) {
      build_frame();
    }
  }

  // The class's frame, else what the settings want.
  void build_frame() {
    Keys before, behind;
    if (class_.contains("frame") && class_["frame"].size() == 2) {
      before = {class_["frame"][0].get<std::string>()};
      behind = {class_["frame"][1].get<std::string>()};
    } else {
      before = begins_texts() ? Keys{"bos_token"} : Keys{};
      behind = settings_["add_eos_token"].flag_or(false) ? Keys{"eos_token"} : Keys{};
    }
    auto single = Json::array();
    auto tokens = Json::object();
    const auto put = [&](const Keys& keys) {
      for (const auto& key : keys) {
        const auto text = text_of(key);
        const auto id = id_of(text);
        if (!id) {
          base::refuse(definition_.file + ": " + base::json_quote(text.empty() ? key : text) +
                           (definition_.pieces ? " is no piece of tokenizer.model" : " is missing"),
                       "it is put around every text");
        }
        single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0U}}}});
        tokens[text] = {{"id", text}, {"ids", Json::array({*id})}};
      }
    };
    put(before);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
    put(behind);
    Json frame = {{"type", "TemplateProcessing"}, {"single", single}, {"special_tokens", tokens}};
    if (class_.contains("trims")) {
      const Json trim = {{"type", "ByteLevel"},
                         {"trim_offsets", settings_["trim_offsets"].flag_or(true)},
                         {"add_prefix_space", settings_["add_prefix_space"].flag_or(false)}};
      frame = {{"type", "Sequence"}, {"processors", Json::array({trim, frame})}};
    }
    document_["post_processor"] = std::move(frame);
  }

  // Some families put their BOS before every text unless they are told otherwise.
  bool begins_texts() const {
    const auto type = config_.model_type();
    if (const auto given = settings_["add_bos_token"]; given || !definition_.pieces) {
      return given ? given.flag() : type == "opt";
    }
    constexpr std::array<std::string_view, 6> families = {"llama", "mistral", "mixtral",
                                                          "gemma", "gemma2",  "gemma3_text"};
    const auto kind = settings_["tokenizer_class"].text_or("");
    if (base::contains(families, type) || kind.starts_with("Llama") || kind.starts_with("Gemma")) {
      return true;
    }
    const auto named = [](const std::string& value) { return value.empty() ? "missing" : base::json_quote(value); };
    settings_.refuse("\"add_bos_token\" is missing", "neither \"tokenizer_class\" (" + named(kind) +
                                                         ") nor \"model_type\" of config.json (" + named(type) +
                                                         ") tells whether a token stands before every text");
  }

  const TokenizerConfig& config_;
  base::JsonValue settings_;
  Definition& definition_;
  Json& document_;
  base::JsonValue root_;
  std::string name_;
  Json class_;
  std::set<std::string> found_;  // texts of added tokens
};

// What a document was built from: a message about it names all files that its fault may be in.
std::string place_of_all(const base::FileSet& files, std::vector<std::string> names) {
  if (files.find(config_name) != nullptr) {
    names.emplace_back(config_name);
  }
  return place(files, base::join(names, " with "));
}

std::vector<std::string> lines_of(const base::FileSet& files, const std::string& name) {
  const auto text = files.at(name).text();
  if (const auto bad = base::find_invalid_utf8(text)) {
    base::refuse(place(files, name) + ": no valid UTF-8 at byte " + std::to_string(*bad), "tokens are text");
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

// One token a line, its number from 0 is its id; of equal lines the last counts.
Json read_vocabulary_lines(const base::FileSet& files) {
  std::map<std::string, std::size_t> ids;
  std::size_t id = 0;
  for (auto line : lines_of(files, "vocab.txt")) {
    line.resize(start_of_trailing(line));
    ids[line] = id++;
  }
  return ids;
}

Json read_merges(const base::FileSet& files) {
  auto lines = lines_of(files, "merges.txt");
  std::erase_if(lines, [](const std::string& line) { return line.empty() || line.starts_with("#version"); });
  return lines;
}

// The class of a directory with vocab.json and merges.txt.
std::string class_of_pairs(const base::FileSet& files, const TokenizerConfig& config) {
  const auto type = config.model_type();
  const auto name = choose_class(type, config.class_name(), "").value_or("");
  if (const auto made = make_class(name, config.field(), {});
      !made.contains("decoder") || made["model"]["type"] != "BPE") {
    base::refuse(base::Place{place(files, "config.json"), 0, "model_type"}.text() + ": " + base::json_quote(type) +
                     " has no tokenizer.json",
                 "vocab.json and merges.txt alone are enough for these only: roberta, opt, gpt2, gptj, gpt_neo, "
                 "phi, codegen, gpt_neox, qwen2, openai-gpt");
  }
  return name;
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
  base::refuse(place(files, "tokenizer.json") + " is missing",
               "nor is there a vocab.txt, a vocab.json with merges.txt, or a tokenizer.model", way_to_get_one(files));
}

}  // namespace

Definition read_definition(const base::FileSet& files) {
  Definition made;
  if (base::is_elmo(files)) {
    made.splits_words = true;
    made.document["model"] = {{"type", "WordLevel"}, {"vocab", Json::object()}};
    return made;
  }
  const TokenizerConfig config(files);
  made.listed = config.listed_tokens();
  made.mask_token = config.find_text("mask_token");
  made.unknown_token = config.find_text("unk_token");
  Builder builder(config, made);
  if (const auto* file = files.find(definition_name)) {
    made.file = place(files, definition_name);
    const auto text = file->text();
    made.document = base::parse_json(text, made.file);
    builder.follow_file(text);
  } else if (files.find("vocab.txt") != nullptr) {
    made.file = place_of_all(files, {"vocab.txt"});
    made.document["model"]["vocab"] = read_vocabulary_lines(files);
    builder.complete("BertTokenizer");
  } else if (files.find("vocab.json") != nullptr && files.find("merges.txt") != nullptr) {
    made.file = place_of_all(files, {"vocab.json", "merges.txt"});
    const auto name = class_of_pairs(files, config);
    made.document["model"]["vocab"] = base::find_json(files, "vocab.json").root;
    made.document["model"]["merges"] = read_merges(files);
    builder.complete(name);
  } else if (const auto* model = files.find(pieces_name)) {
    made.file = place(files, pieces_name);
    auto& pieces = made.pieces.emplace(read_piece_file(model->text(), made.file));
    pieces.adds_mark = config.field()["add_prefix_space"].flag_or(pieces.adds_mark);
    builder.complete_pieces();
  } else {
    refuse_missing(files);
  }
  return made;
}

}  // namespace stereosweep::tokenizer
