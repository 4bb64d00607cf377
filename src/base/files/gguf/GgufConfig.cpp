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
constexpr std::array<KeyRow, 19> copied = {{{"context_length", "max_position_embeddings"},
                                            {"block_count", "num_hidden_layers"},
                                            {"embedding_length", "hidden_size"},
                                            {"feed_forward_length", "intermediate_size"},
                                            {"attention.head_count", "num_attention_heads"},
                                            {"attention.head_count_kv", "num_key_value_heads"},
                                            {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
                                            {"attention.layer_norm_epsilon", "norm_epsilon"},
                                            {"rope.freq_base", "rope_theta"},
                                            {"rope.freq_base_swa", "rope_local_base_freq"},
                                            {"expert_used_count", "num_experts_per_tok"},
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
    const auto name = file.text("general.architecture");
    const auto* row =
        std::ranges::find(architectures, name, [](const Architecture& one) { return std::string(one.name); });
    if (row == architectures.end()) {
      const auto names = mapped(architectures, [](const Architecture& one) { return std::string(one.name); });
      file.refuse("general.architecture", name.empty() ? "is missing" : json_quote(name) + " is not supported",
                  join(names, ", ") + " are");
    }
    architecture_ = row;
    prefix_ = name + ".";
  }

  Json make() {
    config_["model_type"] = architecture_->model_type;
    for (const auto& [key, config_key] : copied) {
      copy(key, config_key);
    }
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
  const Json* take(const std::string& key) {
    known_.insert(prefix_ + key);
    return file_.find(prefix_ + key);
  }
  void copy(const std::string& key, const char* config_key) {
    if (const auto* value = take(key)) {
      config_[config_key] = *value;
    }
  }
  std::int64_t size(const std::string& key) {
    take(key);
    const auto value = file_.size(prefix_ + key);
    if (!value || *value == 0) {
      file_.refuse(prefix_ + key, value ? "0" : "is missing", "a number from 1 on is needed");
    }
    return *value;
  }

  void set_layers() {
    for (const auto* key : {"feed_forward_length", "attention.head_count", "attention.head_count_kv"}) {
      const auto* value = take(key);
      if (value != nullptr && value->is_array()) {
        file_.refuse(prefix_ + key, "is a list", "layers that differ in size are not supported");
      }
    }
    const auto embedding = file_.tensors.find("token_embd.weight");
    if (embedding == file_.tensors.end() || embedding->second.shape.size() != 2) {
      throw InputError(
          file_.name + ": " +
          describe("tensor \"token_embd.weight\" is missing or no matrix", "it holds a row for each token"));
    }
    config_["vocab_size"] = embedding->second.shape.front();
    take("vocab_size");
    head_width_ = size("embedding_length") / size("attention.head_count");
    if (take("attention.key_length") != nullptr) {
      head_width_ = size("attention.key_length");
    }
    config_["head_dim"] = head_width_;
    if (take("attention.value_length") != nullptr && size("attention.value_length") != head_width_) {
      file_.refuse(prefix_ + "attention.value_length", "differs from the width of keys", "both are alike here");
    }
  }

  void set_experts() {
    const auto* count = take("expert_count");
    if (count == nullptr || *count == 0) {
      return;
    }
    if (is("llama")) {
      config_["model_type"] = "mixtral";
      config_["num_local_experts"] = *count;
    } else if (is("qwen3_moe")) {
      config_["num_experts"] = *count;
      config_["norm_topk_prob"] = true;  // llama.cpp does it in every such model
    } else {
      file_.refuse(prefix_ + "expert_count", count->dump(), "experts of this architecture are not supported");
    }
  }

  void set_windows() {
    if (architecture_->windows == Windows::some) {
      copy("attention.sliding_window", "sliding_window");
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
    if (std::string_view(stored.type.name) != "F32" || stored.shape.size() != 1 || stored.shape[0] > 4096) {
      throw InputError(file_.name + ": " +
                       describe("tensor " + json_quote(tensor) + " is no short row of F32",
                                "it holds a factor for each pair that turns"));
    }
    std::vector<float> numbers(static_cast<std::size_t>(stored.shape[0]));
    content_.read(stored.offset, std::as_writable_bytes(std::span(numbers)));
    for (const auto number : numbers) {
      if (!std::isfinite(number)) {
        throw InputError(
            file_.name + ": " +
            describe("tensor " + json_quote(tensor) + " holds NaN or infinity", "frequencies are divided by it"));
      }
    }
    return numbers;
  }

  void set_rotary() {
    if (!config_.contains("rope_theta")) {
      config_["rope_theta"] = 10000.0;
    }
    if (take("rope.dimension_count") != nullptr && size("rope.dimension_count") != head_width_) {
      config_["partial_rotary_factor"] =
          static_cast<double>(size("rope.dimension_count")) / static_cast<double>(head_width_);
    }
    const auto scaling = prefix_ + "rope.scaling.";
    const auto* type = take("rope.scaling.type");
    take("rope.scaling.finetuned");
    Json rope = Json::object();
    const auto put = [&](const char* key, const char* config_key) {
      if (const auto* value = take(std::string("rope.scaling.") + key)) {
        rope[config_key] = *value;
      }
    };
    put("factor", "factor");
    put("original_context_length", "original_max_position_embeddings");
    put("attn_factor", "attention_factor");
    put("yarn_beta_fast", "beta_fast");
    put("yarn_beta_slow", "beta_slow");
    if (const auto* linear = take("rope.scale_linear"); linear != nullptr && type == nullptr && *linear != 1) {
      rope["factor"] = *linear;
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
    } else if (const auto name = type == nullptr ? "none" : file_.text(scaling + "type"); name != "none") {
      rope["rope_type"] = name;
    } else {
      return;
    }
    config_["rope_scaling"] = std::move(rope);
  }

  void set_tokens() {
    for (const auto& [key, config_key] :
         {std::pair("bos", "bos_token_id"), {"eos", "eos_token_id"}, {"padding", "pad_token_id"}}) {
      if (const auto id = file_.size(std::string("tokenizer.ggml.") + key + "_token_id")) {
        config_[config_key] = *id;
      }
    }
    const auto turn = file_.size("tokenizer.ggml.eot_token_id");
    if (turn && config_.contains("eos_token_id") && config_["eos_token_id"] != *turn) {
      config_["eos_token_id"] = Json::array({config_["eos_token_id"], *turn});
    }
  }

  /// A setting that nobody asked for could change every number.
  void refuse_unknown() const {
    for (const auto& [key, value] : file_.metadata) {
      if (key.starts_with(prefix_) && !known_.contains(key)) {
        file_.refuse(key, "is not known to this program", "it may change the model's numbers");
      }
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

}  // namespace

Json make_gguf_config(const Gguf& file, const SharedBytes& content) { return ConfigMaker(file, content).make(); }

}  // namespace stereosweep::base
