#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/gguf/Gguf.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

enum class Windows { none, some };

struct Architecture {
  const char* name;
  const char* model_type;
  Windows windows = Windows::none;  ///< whether its layers may have a window
};
constexpr std::array<Architecture, 12> architectures = {{{"llama", "llama"},
                                                         {"qwen2", "qwen2"},
                                                         {"qwen3", "qwen3"},
                                                         {"qwen3moe", "qwen3_moe"},
                                                         {"phi3", "phi3", Windows::some},
                                                         {"gemma", "gemma"},
                                                         {"gemma2", "gemma2", Windows::some},
                                                         {"gemma3", "gemma3_text", Windows::some},
                                                         {"starcoder2", "starcoder2", Windows::some},
                                                         {"olmo2", "olmo2"},
                                                         {"granite", "granite"},
                                                         {"smollm3", "smollm3"}}};

struct KeyRow {
  const char* key;         ///< behind the architecture's name
  const char* config_key;  ///< of config.json
};
constexpr std::array<KeyRow, 17> copied = {{{"context_length", "max_position_embeddings"},
                                            {"block_count", "num_hidden_layers"},
                                            {"embedding_length", "hidden_size"},
                                            {"feed_forward_length", "intermediate_size"},
                                            {"attention.head_count", "num_attention_heads"},
                                            {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                                            {"attention.layer_norm_epsilon", "norm_epsilon"},
                                            {"rope.freq_base", "rope_theta"},
                                            {"rope.freq_base_swa", "rope_local_base_freq"},
                                            {"expert_feed_forward_length", "moe_intermediate_size"},
                                            {"attn_logit_softcapping", "attn_logit_softcapping"},
                                            {"final_logit_softcapping", "final_logit_softcapping"},
                                            {"embedding_scale", "embedding_multiplier"},
                                            {"residual_scale", "residual_multiplier"},
                                            {"attention.scale", "attention_multiplier"},
                                            {"logit_scale", "logits_scaling"},
                                            {"attention.sliding_window_pattern", "sliding_window_pattern"}}};

class ConfigMaker {
 public:
  ConfigMaker(const Gguf& file, const SharedBytes& content) : file_(file), content_(content) {
    const auto name = file["general.architecture"].text_or("");
    const auto* row =
        std::ranges::find(architectures, name, [](const Architecture& one) { return std::string(one.name); });
    if (row == architectures.end()) {
      const auto names = mapped(architectures, [](const Architecture& one) { return std::string(one.name); });
      file["general.architecture"].refuse(name.empty() ? "is missing" : json_quote(name) + " is not supported",
                                          join(names, ", ") + " are");
    }
    architecture_ = row;
    prefix_ = name + ".";
  }

  Json make() {
    config_["model_type"] = architecture_->model_type;
    for (const auto& [key, config_key] : copied) {
      copy(key, config_, config_key);
    }
    refuse_missing();
    set_layers();
    set_experts();
    set_windows();
    set_attention_scale();
    set_rotary();
    config_["tie_word_embeddings"] = !has("output.weight");
    config_["attention_bias"] = has("blk.0.attn_output.bias");
    config_["mlp_bias"] = has("blk.0.ffn_down.bias");
    set_tokens();
    config_["quantization_config"] = {{"quant_method", "gguf"}, {"types", file_.types()}};
    refuse_unknown();
    return std::move(config_);
  }

 private:
  bool has(const std::string& tensor) const { return file_.tensors.contains(tensor); }
  bool is(std::string_view model_type) const { return architecture_->model_type == model_type; }

  /// Marks the key as known.
  JsonValue take(const std::string& key) {
    known_.insert(prefix_ + key);
    return file_[prefix_ + key];
  }
  void copy(const std::string& key, Json& object, const char* config_key) {
    if (const auto value = take(key)) {
      object[config_key] = value.json();
    }
  }
  std::int64_t size(const std::string& key) { return take(key).size(); }

  /// Where config.json says nothing, its family's usual value counts; a file that lacks these is damaged.
  void refuse_missing() {
    std::vector<std::string> needed = {
        "context_length", "block_count",
        is("starcoder2") ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"};
    if (is("granite")) {
      needed.insert(needed.end(), {"embedding_scale", "residual_scale", "attention.scale", "logit_scale"});
    }
    for (const auto& key : needed) {
      const auto value = take(key);
      value.refuse_if(!value, "is missing", "the model's numbers depend on it");
    }
  }

  void set_layers() {
    for (const auto* key : {"feed_forward_length", "attention.head_count", "attention.head_count_kv"}) {
      const auto value = take(key);
      value.refuse_if(value.json().is_array(), "is a list", "layers that differ in size are not supported");
    }
    const auto embedding = file_.tensors.find("token_embd.weight");
    refuse_if(embedding == file_.tensors.end() || embedding->second.shape.size() != 2,
              file_.metadata.file + ": tensor \"token_embd.weight\" is missing or no matrix",
              "it holds a row for each token");
    config_["num_key_value_heads"] =
        size(take("attention.head_count_kv") ? "attention.head_count_kv" : "attention.head_count");
    config_["vocab_size"] = embedding->second.shape.front();
    take("vocab_size");
    head_width_ = size("embedding_length") / size("attention.head_count");
    if (take("attention.key_length")) {
      head_width_ = size("attention.key_length");
    }
    config_["head_dim"] = head_width_;
    const auto values = take("attention.value_length");
    values.refuse_if(values.size_or(head_width_) != head_width_, "differs from the width of keys",
                     "both are alike here");
  }

  void set_experts() {
    const auto count = take("expert_count");
    take("expert_used_count");
    if (!count || count.json() == 0) {
      return;
    }
    config_["num_experts_per_tok"] = size("expert_used_count");
    if (is("llama")) {
      config_["model_type"] = "mixtral";
      config_["num_local_experts"] = count.json();
    } else if (is("qwen3_moe")) {
      config_["num_experts"] = count.json();
      config_["norm_topk_prob"] = true;  // llama.cpp does it in every such model
    } else {
      count.refuse(count.json().dump(), "experts of this architecture are not supported");
    }
  }

  void set_windows() {
    if (architecture_->windows == Windows::some) {
      copy("attention.sliding_window", config_, "sliding_window");
    }
    if (is("phi3") && config_.contains("sliding_window") &&
        config_["sliding_window"] == 0) {  // Phi-4's, which has none
      config_.erase("sliding_window");
    }
    // No window, where the file names none; Gemma's has no such layer file without one.
    if (!config_.contains("sliding_window") && !std::string_view(architecture_->name).starts_with("gemma")) {
      config_["sliding_window"] = nullptr;
    }
  }

  /// llama.cpp knows it of Gemma's largest models by their number of layers.
  void set_attention_scale() {
    if (is("gemma2") || is("gemma3_text")) {
      const bool is_largest = size("block_count") == (is("gemma2") ? 46 : 62);
      config_["query_pre_attn_scalar"] =
          is_largest ? size("embedding_length") / size("attention.head_count") : head_width_;
    }
  }

  /// The factors of a tensor of one row.
  Json factors(const std::string& tensor) const {
    const auto& stored = file_.tensors.at(tensor);
    refuse_if(std::string_view(stored.type.name) != "F32" || stored.shape.size() != 1 || stored.shape[0] > 4096,
              file_.metadata.file + ": tensor " + json_quote(tensor) + " is no short row of F32",
              "it holds a factor for each pair that turns");
    std::vector<float> numbers(static_cast<std::size_t>(stored.shape[0]));
    content_.read(stored.offset, std::as_writable_bytes(std::span(numbers)));
    for (const auto number : numbers) {
      refuse_if(!std::isfinite(number),
                file_.metadata.file + ": tensor " + json_quote(tensor) + " holds NaN or infinity",
                "frequencies are divided by it");
    }
    return numbers;
  }

  void set_rotary() {
    if (!config_.contains("rope_theta")) {
      config_["rope_theta"] = 10000.0;
    }
    if (const auto turning = take("rope.dimension_count"); turning.size_or(head_width_) != head_width_) {
      config_["partial_rotary_factor"] = static_cast<double>(turning.size()) / static_cast<double>(head_width_);
    }
    const auto type = take("rope.scaling.type");
    take("rope.scaling.finetuned");
    Json rope = Json::object();
    copy("rope.scaling.factor", rope, "factor");
    copy("rope.scaling.original_context_length", rope, "original_max_position_embeddings");
    copy("rope.scaling.attn_factor", rope, "attention_factor");
    copy("rope.scaling.yarn_beta_fast", rope, "beta_fast");
    copy("rope.scaling.yarn_beta_slow", rope, "beta_slow");
    if (const auto linear = take("rope.scale_linear"); linear && !type && linear.json() != 1) {
      rope["factor"] = linear.json();
      rope["rope_type"] = "linear";
    } else if (has("rope_freqs.weight")) {  // LLaMA 3's: each frequency has its factor, for texts of any length
      rope = {{"rope_type", "longrope"},
              {"short_factor", factors("rope_freqs.weight")},
              {"long_factor", factors("rope_freqs.weight")},
              {"factor", 1.0},
              {"attention_factor", 1.0},
              {"original_max_position_embeddings", size("context_length")}};
    } else if (has("rope_factors_short.weight") && has("rope_factors_long.weight")) {
      rope["rope_type"] = "longrope";
      rope["short_factor"] = factors("rope_factors_short.weight");
      rope["long_factor"] = factors("rope_factors_long.weight");
      if (rope.contains("original_max_position_embeddings")) {
        config_["original_max_position_embeddings"] = rope["original_max_position_embeddings"];
      }
    } else if (const auto name = type.text_or("none"); name != "none") {
      rope["rope_type"] = name;
    } else {
      return;
    }
    config_["rope_scaling"] = std::move(rope);
  }

  void set_tokens() {
    for (const auto& [key, config_key] :
         {std::pair("bos", "bos_token_id"), {"eos", "eos_token_id"}, {"padding", "pad_token_id"}}) {
      if (const auto id = file_[std::string("tokenizer.ggml.") + key + "_token_id"]) {
        config_[config_key] = id.size(0);
      }
    }
    const auto turn = file_["tokenizer.ggml.eot_token_id"];
    if (turn && config_.contains("eos_token_id") && config_["eos_token_id"] != turn.size(0)) {
      config_["eos_token_id"] = Json::array({config_["eos_token_id"], turn.json()});
    }
  }

  /// A setting that nobody asked for could change every number.
  void refuse_unknown() const {
    for (const auto& [key, value] : file_.metadata.value().members()) {
      value.refuse_if(key.starts_with(prefix_) && !known_.contains(key), "is not known to this program",
                      "it may change the model's numbers");
    }
  }

  const Gguf& file_;
  const SharedBytes& content_;
  const Architecture* architecture_ = nullptr;
  std::string prefix_;
  std::set<std::string> known_;
  std::int64_t head_width_ = 0;
  Json config_ = Json::object();
};

/// What the entries of tokenizer.ggml.token_type mean.
enum TokenType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

// How words are split, by the names that tokenizer.ggml.pre gives to published tokenizers. (source: their
// tokenizer.json)
constexpr const char* gpt2_words = nullptr;  // ByteLevel's own
constexpr auto llama3_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr auto qwen2_words =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr auto tekken_words = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                              R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                              R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr auto gpt4o_words =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct WordKind {
  const char* names;  ///< with spaces between
  const char* words;
  bool parts_digits = false;
  bool takes_tokens = false;  ///< a word that is a token is taken as it is, and not merged like others
  bool composes = false;      ///< texts, by NFC
  bool begins = false;        ///< whether BOS stands before a text where the file does not say
};
constexpr std::array<WordKind, 8> word_kinds = {
    {{.names = "gpt-2 olmo", .words = gpt2_words},
     {.names = "smollm starcoder refact codeshell command-r", .words = gpt2_words, .parts_digits = true},
     {.names = "llama3 llama-v3 llama-bpe falcon3 pixtral",
      .words = llama3_words,
      .takes_tokens = true,
      .begins = true},
     {.names = "dbrx smaug-bpe", .words = llama3_words},
     {.names = "qwen2 deepseek-r1-qwen", .words = qwen2_words, .composes = true},
     {.names = "stablelm2", .words = qwen2_words},
     {.names = "tekken", .words = tekken_words, .takes_tokens = true, .begins = true},
     {.names = "gpt-4o", .words = gpt4o_words}}};

class TokenizerMaker {
 public:
  explicit TokenizerMaker(const Gguf& file) : file_(file), tokens_(file[prefix + "tokens"].texts()) {
    if (const auto types = file[prefix + "token_type"]) {
      types_ = numbers<int>(types);
    }
  }

  std::map<std::string, std::string> make() {
    const auto model = file_[prefix + "model"].text_or("");
    std::map<std::string, std::string> files;
    if (model == "gpt2") {
      files["tokenizer.json"] = pairs();
    } else if (model == "llama") {
      begins_ = true;
      files["tokenizer.model"] = pieces();
    } else {
      file_[prefix + "model"].refuse(model.empty() ? "is missing" : json_quote(model) + " is not supported",
                                     "gpt2 (byte pairs) and llama (SentencePiece's pairs) are");
    }
    files["tokenizer_config.json"] = settings(model == "llama").dump();
    return files;
  }

 private:
  static inline const std::string prefix = "tokenizer.ggml.";

  template <class Number>
  std::vector<Number> numbers(const JsonValue& list) const {
    const auto is_number = [](const Json& one) {
      return std::is_integral_v<Number> ? one.is_number_integer() : one.is_number();
    };
    list.refuse_if(list.list().size() != tokens_.size() || !std::ranges::all_of(list.list(), is_number),
                   "is no list of a number for each token", "there are " + std::to_string(tokens_.size()) + " tokens");
    return list.list().get<std::vector<Number>>();
  }

  int type_of(std::size_t id) const { return types_.empty() ? int{normal} : types_[id]; }

  const WordKind& word_kind() const {
    const auto name = file_[prefix + "pre"].text_or("");
    const auto* kind =
        std::ranges::find_if(word_kinds, [&](const WordKind& one) { return contains(split(one.names, ' '), name); });
    if (kind == word_kinds.end()) {
      const auto names = mapped(word_kinds, [](const WordKind& one) { return replace_all(one.names, " ", ", "); });
      file_[prefix + "pre"].refuse(name.empty() ? "is missing" : json_quote(name) + " is not known",
                                   "it says how words are split; known are " + join(names, ", "));
    }
    return *kind;
  }

  /// tokenizer.json of byte pairs.
  std::string pairs() {
    const auto& kind = word_kind();
    begins_ = kind.begins;
    std::string vocabulary;
    Json added = Json::array();
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      vocabulary += (id > 0 ? "," : "") + json_quote(tokens_[id]) + ":" + std::to_string(id);
      if (type_of(id) == control || type_of(id) == user_defined) {
        added.push_back({{"id", id},
                         {"content", tokens_[id]},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", type_of(id) == control}});
      }
    }
    const auto split = [](const char* pattern) {
      return Json{{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    };
    Json steps = Json::array();
    if (kind.parts_digits) {
      steps.push_back(split(R"(\p{N})"));
    }
    if (kind.words != gpt2_words) {
      steps.push_back(split(kind.words));
    }
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", kind.words == gpt2_words}});
    Json rest = {{"added_tokens", added},
                 {"normalizer", kind.composes ? Json{{"type", "NFC"}} : Json()},
                 {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", steps}}},
                 {"post_processor", frame()},
                 {"decoder", {{"type", "ByteLevel"}}}};
    return R"({"model":{"type":"BPE","ignore_merges":)" + std::string(kind.takes_tokens ? "true" : "false") +
           R"(,"vocab":{)" + vocabulary + R"(},"merges":)" + Json(file_[prefix + "merges"].texts()).dump() + "}," +
           rest.dump().substr(1);
  }

  std::optional<std::size_t> id_of(const std::string& key) const {
    const auto id = file_[prefix + key];
    id.refuse_if(id && static_cast<std::size_t>(id.size(0)) >= tokens_.size(), id.json().dump(),
                 "there are " + std::to_string(tokens_.size()) + " tokens");
    return id ? std::optional(static_cast<std::size_t>(id.size(0))) : std::nullopt;
  }
  bool adds_begin() const { return file_[prefix + "add_bos_token"].flag_or(begins_); }
  bool adds_end() const { return file_[prefix + "add_eos_token"].flag_or(false); }

  /// The tokens around every text.
  Json frame() const {
    Json single = Json::array();
    Json special = Json::object();
    const auto put = [&](bool wanted, const char* key) {
      const auto id = wanted ? id_of(key) : std::nullopt;
      if (wanted && !id) {
        file_[prefix + key].refuse("is missing", "it stands at an end of every text");
      }
      if (id) {
        single.push_back({{"SpecialToken", {{"id", tokens_[*id]}, {"type_id", 0U}}}});
        special[tokens_[*id]] = {
            {"id", tokens_[*id]}, {"ids", Json::array({*id})}, {"tokens", Json::array({tokens_[*id]})}};
      }
    };
    put(adds_begin(), "bos_token_id");
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0U}}}});
    put(adds_end(), "eos_token_id");
    return {{"type", "TemplateProcessing"}, {"single", single}, {"pair", Json::array()}, {"special_tokens", special}};
  }

  /// tokenizer.model, a protobuf message, of SentencePiece's pairs.
  std::string pieces() const {
    const auto scores = file_[prefix + "scores"];
    const auto score = numbers<float>(scores);
    file_[prefix + "token_type"].refuse_if(types_.empty(), "is missing", "pairs are joined by it");
    std::string model;
    std::size_t num_bytes = 0;
    std::set<float> ranks;
    for (std::size_t id = 0; id < tokens_.size(); ++id) {
      const auto type = type_of(id);
      if (type < normal || type > byte) {
        file_[prefix + "token_type"].refuse(std::to_string(type), "types 1 to 6 are known");
      }
      num_bytes += type == byte ? 1 : 0;
      if (type == normal) {
        ranks.insert(score[id]);
      }
      std::string piece;
      append_bytes(piece, 1, type == user_defined ? replace_all(tokens_[id], " ", space_mark) : tokens_[id]);
      piece += '\x15';  // field 2, a float
      piece.append(reinterpret_cast<const char*>(&score[id]), sizeof(float));
      append_number(piece, 3, static_cast<std::uint64_t>(type));
      append_bytes(model, 1, piece);
    }
    scores.refuse_if(ranks.size() == 1, "are all alike",
                     "pairs are joined by them; convert again, from a folder that has tokenizer.model");
    std::string training;
    append_number(training, 3, 2);  // model_type: pairs
    append_number(training, 35, num_bytes == 256 ? 1 : 0);
    append_bytes(training, 46, name_of("bos_token_id").value_or("<s>"));
    append_bytes(training, 47, name_of("eos_token_id").value_or("</s>"));
    append_bytes(model, 2, training);
    std::string normalization;
    append_number(normalization, 3, file_[prefix + "add_space_prefix"].flag_or(true) ? 1 : 0);
    append_number(normalization, 4, file_[prefix + "remove_extra_whitespaces"].flag_or(false) ? 1 : 0);
    append_bytes(model, 3, normalization);
    return model;
  }
  static constexpr auto space_mark = "\xE2\x96\x81";

  static void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) {
      out += static_cast<char>(value | 0x80U);
    }
    out += static_cast<char>(value);
  }
  static void append_number(std::string& out, std::uint64_t field, std::uint64_t value) {
    append_varint(out, field << 3U);
    append_varint(out, value);
  }
  static void append_bytes(std::string& out, std::uint64_t field, const std::string& value) {
    append_varint(out, field << 3U | 2U);
    append_varint(out, value.size());
    out += value;
  }

  std::optional<std::string> name_of(const char* key) const {
    const auto id = id_of(key);
    return id ? std::optional(tokens_[*id]) : std::nullopt;
  }

  /// tokenizer_config.json; a class of its own would change what tokenizer.json says.
  Json settings(bool has_pieces) const {
    Json made = {{"tokenizer_class", has_pieces ? "LlamaTokenizer" : "PreTrainedTokenizerFast"},
                 {"add_bos_token", adds_begin()},
                 {"add_eos_token", adds_end()}};
    for (const auto& [name, key] : {std::pair("bos_token", "bos_token_id"),
                                    {"eos_token", "eos_token_id"},
                                    {"unk_token", "unknown_token_id"},
                                    {"pad_token", "padding_token_id"},
                                    {"mask_token", "mask_token_id"}}) {
      // An ordinary token stays one: converters copy ids from config.json, where `pad_token_id: 0` may be "!".
      if (const auto id = id_of(key); id && (types_.empty() || type_of(*id) != normal)) {
        made[name] = tokens_[*id];
      }
    }
    // Phi-3's marks of turns take the white space behind them; the format has no place for it, so llama.cpp knows it.
    if (has_pieces && file_["general.architecture"].text() == "phi3") {
      for (std::size_t id = 0; id < tokens_.size(); ++id) {
        const auto& token = tokens_[id];
        if (type_of(id) == control && token != "<s>" && token != "<|endoftext|>") {
          made["added_tokens_decoder"][std::to_string(id)] = {{"content", token},     {"lstrip", false},
                                                              {"normalized", false},  {"rstrip", true},
                                                              {"single_word", false}, {"special", true}};
        }
      }
    }
    Json named = Json::array();
    if (const auto own = file_["tokenizer.chat_template"].text_or(""); !own.empty()) {
      named.push_back({{"name", "default"}, {"template", own}});
    }
    for (const auto& [key, value] : file_.metadata.root.items()) {
      constexpr std::string_view start = "tokenizer.chat_template.";
      if (key.starts_with(start) && value.is_string()) {
        named.push_back({{"name", key.substr(start.size())}, {"template", value}});
      }
    }
    if (!named.empty()) {
      made["chat_template"] = named;
    }
    return made;
  }

  const Gguf& file_;
  std::vector<std::string> tokens_;
  std::vector<int> types_;
  bool begins_ = false;
};

}  // namespace

std::map<std::string, std::string> make_small_files(const Gguf& file, const SharedBytes& content) {
  const bool has_tokenizer = !!file["tokenizer.ggml.model"];
  auto files = has_tokenizer ? TokenizerMaker(file).make() : std::map<std::string, std::string>();
  files["config.json"] = ConfigMaker(file, content).make().dump();
  return files;
}

}  // namespace stereosweep::base
