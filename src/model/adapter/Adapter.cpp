// An adapter as PEFT saves it, merged into the weights while they are read: LoRA with patterns of ranks and alphas,
// rank-stabilized scales, DoRA's magnitudes, biases, and modules that it replaces whole.
//   W + s B A;  s = alpha / r, or alpha / sqrt(r);  DoRA: each row of it times magnitude / its norm
// (source: hu2021, kalajdzievski2023, liu2024; github.com/huggingface/peft, tuners/lora)
#include <ATen/ops/from_blob.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/JsonValue.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {
namespace {

using base::json_quote;

const auto settings_file = std::string(base::adapter_folder) + "adapter_config.json";
const auto weights_file = std::string(base::adapter_folder) + "adapter_model.safetensors";

/// Two matrices whose product is added to a stored one. Either way it is [rows of W, r] times [r, columns of W]:
/// where `W` is stored turned over, so are they.
struct LowRank {
  enum class Order { product, turned };
  StoredTensor outer;  ///< B [out, r]
  StoredTensor inner;  ///< A [r, in]
  Order order = Order::product;
  float scale = 1;
  std::optional<StoredTensor> magnitude = std::nullopt;  ///< of each row of the sum: DoRA
};

class MergedNumbers final : public NumberSource {
 public:
  MergedNumbers(StoredTensor base, LowRank change)
      : base_(std::move(base)), change_(std::move(change)), columns_(base_.shape.back()) {}

  void read(std::int64_t first, std::span<float> out) const override {
    if (!left_.defined()) {
      load();
    }
    const auto count = static_cast<std::int64_t>(out.size());
    if (first % columns_ == 0 && count % columns_ == 0) {
      read_numbers(base_, first, out);
      merge(first / columns_, out);
      return;
    }
    std::vector<float> whole(static_cast<std::size_t>(columns_));
    by_rows(first, out, columns_, [&](std::int64_t row, std::int64_t column, std::span<float> part) {
      read_numbers(base_, row * columns_, whole);
      merge(row, whole);
      std::copy_n(whole.begin() + column, part.size(), part.begin());
    });
  }

 private:
  void load() const {
    const auto outer = read_tensor(change_.outer).to(at::kFloat);
    const auto inner = read_tensor(change_.inner).to(at::kFloat);
    const bool turned = change_.order == LowRank::Order::turned;
    left_ = turned ? inner.t().contiguous() : outer;
    right_ = turned ? outer.t().contiguous() : inner;
    if (change_.magnitude) {
      magnitude_ = read_tensor(*change_.magnitude).to(at::kFloat).view({-1, 1});
    }
  }

  /// Whole rows, from `row` on.
  void merge(std::int64_t row, std::span<float> out) const {
    const auto rows = static_cast<std::int64_t>(out.size()) / columns_;
    const auto numbers = at::from_blob(out.data(), {rows, columns_}, at::kFloat);
    numbers.add_(at::mm(left_.narrow(0, row, rows), right_), change_.scale);
    if (magnitude_.defined()) {
      const auto norms = at::linalg_vector_norm(numbers, 2, at::IntArrayRef{1}, /*keepdim=*/true);
      numbers.mul_(magnitude_.narrow(0, row, rows).div(norms));
    }
  }

  StoredTensor base_;
  LowRank change_;
  std::int64_t columns_;
  mutable at::Tensor left_, right_, magnitude_;
};

class Merger {
 public:
  Merger(const base::FileSet& files, StoredTensors& tensors)
      : fields_(base::read_json(files, settings_file)),
        tensors_(tensors),
        own_(parse_safetensors(files.at(weights_file), weights_file)) {
    const auto type = base::find_json(files, "config.json")["model_type"].text_or("");
    is_stored_turned_ = type == "gpt2" || type == "openai-gpt";
    check_settings();
  }

  void merge() {
    for (const auto& [name, stored] : own_) {
      if (name.find(".original_module.") != std::string::npos) {
        continue;  // of a module that is replaced: PEFT runs its copy
      }
      const auto plain = plain_name(name);
      const auto lora = plain.find(".lora_");
      if (lora == std::string::npos) {
        replace(plain, stored);
      } else if (plain.compare(lora + 6, 2, "A.") == 0 || plain.substr(lora + 6) == "embedding_A") {
        merge_module(plain.substr(0, lora), name, plain.substr(lora + 6));
      } else {
        check_partner(name, plain.substr(lora + 6));
      }
    }
  }

 private:
  /// What changes numbers in a way that is not merged here, or is only there while an adapter is trained.
  void check_settings() const {
    const auto type = fields_["peft_type"].text_or("");
    fields_["peft_type"].refuse_if(type != "LORA", type.empty() ? "is missing" : json_quote(type) + " is not supported",
                                   "LORA is (DoRA and rank-stabilized LoRA among it)");
    constexpr std::array<std::string_view, 27> known = {"peft_type",
                                                        "r",
                                                        "lora_alpha",
                                                        "rank_pattern",
                                                        "alpha_pattern",
                                                        "use_rslora",
                                                        "use_dora",
                                                        "bias",
                                                        "modules_to_save",
                                                        "fan_in_fan_out",
                                                        "auto_mapping",
                                                        "revision",
                                                        "task_type",
                                                        "inference_mode",
                                                        "base_model_name_or_path",
                                                        "target_modules",
                                                        "peft_version",
                                                        "exclude_modules",
                                                        "layers_to_transform",
                                                        "layers_pattern",
                                                        "lora_dropout",
                                                        "init_lora_weights",
                                                        "megatron_core",
                                                        "loftq_config",
                                                        "eva_config",
                                                        "runtime_config",
                                                        "qalora_group_size"};
    for (const auto& [key, value] : fields_.root.items()) {
      const bool is_off = value.is_null() || value == false || value == 0 || (value.is_structured() && value.empty());
      fields_[key].refuse_if(!is_off && !base::contains(known, key),
                             base::excerpt(value.dump(), 60) + " is not supported",
                             "only what can be merged into the weights is applied");
    }
    const auto start = fields_["init_lora_weights"];
    constexpr std::array<std::string_view, 3> plain = {"gaussian", "eva", "orthogonal"};
    start.refuse_if(start.json().is_string() && !base::contains(plain, start.text()),
                    start.json().dump() + " is not supported",
                    "such an adapter belongs to changed weights of its model");
  }

  /// As the model calls it: without what PEFT puts around it.
  static std::string plain_name(const std::string& name) {
    constexpr std::string_view start = "base_model.model.";
    auto plain = name.starts_with(start) ? name.substr(start.size()) : name;
    for (const auto* inserted : {".base_layer.", ".modules_to_save.default.", ".modules_to_save."}) {
      plain = base::replace_all(plain, inserted, ".");
    }
    return plain;
  }

  static void refuse_if(bool is_wrong, const std::string& problem, const std::string& why) {
    base::refuse_if(is_wrong, weights_file + ": " + problem, why);
  }

  /// The name under which the checkpoint stores a tensor of the model; "" where it does not.
  std::string stored_name(const std::string& name) const {
    if (tensors_.contains(name)) {
      return name;
    }
    if (const auto end = name.find('.'); end != std::string::npos && tensors_.contains(name.substr(end + 1))) {
      return name.substr(end + 1);  // stored without the head's prefix
    }
    const auto found = std::ranges::find_if(tensors_, [&](const auto& row) { return row.first.ends_with("." + name); });
    return found == tensors_.end() ? "" : found->first;
  }

  StoredTensor& target(const std::string& name) {
    const auto found = stored_name(name);
    refuse_if(found.empty(), "the adapter changes " + json_quote(name),
              "the model has no such tensor; was it made for another model?");
    return tensors_.at(found);
  }

  static bool is_embedding(const std::string& module) {
    constexpr std::array<std::string_view, 5> names = {"embed_tokens", "wte", "word_embeddings", "embed_in",
                                                       "tokens_embed"};
    return base::contains(names, module.substr(module.rfind('.') + 1));
  }
  /// A head of its own; else its matrix is that of the embeddings.
  static bool has_head(const StoredTensors& tensors) {
    constexpr std::array<std::string_view, 3> heads = {"lm_head.weight", "embed_out.weight", "decoder.weight"};
    return std::ranges::any_of(tensors, [&](const auto& row) {
      return std::ranges::any_of(heads, [&](std::string_view head) { return plain_name(row.first).ends_with(head); });
    });
  }

  void replace(const std::string& name, StoredTensor stored) {
    const auto module = name.substr(0, name.rfind('.'));
    const auto found = stored_name(name);
    if (found.empty() && name.ends_with("lm_head.weight")) {
      tensors_.emplace(name, std::move(stored));  // it was the matrix of the embeddings
      return;
    }
    auto& old = target(name);
    refuse_if(old.shape != stored.shape, "tensor " + json_quote(name) + " has shape " + text_of(stored.shape),
              "the model's has " + text_of(old.shape));
    refuse_if(is_embedding(module) && !has_head(tensors_) && !has_head(own_),
              "the adapter replaces " + json_quote(module),
              "the head's matrix is the same, and whether it is replaced, too, "
              "is not said; save the merged model instead");
    old = std::move(stored);
  }

  const StoredTensor* find_own(const std::string& name) const {
    const auto found = own_.find(name);
    return found == own_.end() ? nullptr : &found->second;
  }

  /// Parts that another part of the adapter takes with it.
  void check_partner(const std::string& name, const std::string& part) const {
    const auto start = name.substr(0, name.find(".lora_"));
    const bool is_taken = part == "B.weight" ? find_own(start + ".lora_A.weight") != nullptr
                          : part == "embedding_B"
                              ? find_own(start + ".lora_embedding_A") != nullptr
                              : part.starts_with("magnitude_vector") && find_own(start + ".lora_A.weight") != nullptr;
    refuse_if(!is_taken, "tensor " + json_quote(name) + " is not supported",
              "it is no part of LoRA or DoRA that can be merged");
  }

  /// `name`: of its first matrix, which is called `part`.
  void merge_module(const std::string& module, const std::string& name, const std::string& part) {
    const auto start = name.substr(0, name.find(".lora_"));
    const bool is_table = part == "embedding_A";
    const auto* outer = find_own(start + (is_table ? ".lora_embedding_B" : ".lora_B.weight"));
    refuse_if(outer == nullptr, "tensor " + json_quote(name) + " stands alone",
              "the matrix that it is multiplied with is missing");
    refuse_if((is_embedding(module) || module.ends_with("lm_head")) && !has_head(tensors_),
              "the adapter changes " + json_quote(module),
              "embeddings and head are one matrix here, and merging would change both; untie them first");
    auto& stored = target(module + ".weight");
    // PEFT, too, asks the module and not fan_in_fan_out, which says what was last made of it.
    const bool turned = is_table || (is_stored_turned_ && !module.ends_with("lm_head"));
    LowRank change{*outer, own_.at(name), turned ? LowRank::Order::turned : LowRank::Order::product};
    const auto* magnitude = find_own(start + ".lora_magnitude_vector");
    magnitude = magnitude == nullptr ? find_own(start + ".lora_magnitude_vector.weight") : magnitude;
    refuse_if((magnitude != nullptr) != fields_["use_dora"].flag_or(false) || (magnitude != nullptr && turned),
              "DoRA of " + json_quote(module) + " is not supported",
              magnitude == nullptr ? "use_dora is on, and its magnitudes are missing"
                                   : "its magnitudes are read for plain products alone, where use_dora is on");
    check_shapes(module, stored, change, magnitude);
    change.scale = scale_of(module, change.inner.shape.front());
    if (magnitude != nullptr) {
      change.magnitude = *magnitude;
    }
    StoredTensor merged{at::kFloat, stored.shape, {}, 0, 0, weights_file};
    merged.source = std::make_shared<MergedNumbers>(stored, std::move(change));
    stored = std::move(merged);
  }

  static void check_shapes(const std::string& module, const StoredTensor& stored, const LowRank& change,
                           const StoredTensor* magnitude) {
    const auto& outer = change.outer.shape;
    const auto& inner = change.inner.shape;
    const bool turned = change.order == LowRank::Order::turned;
    const bool fits = stored.shape.size() == 2 && outer.size() == 2 && inner.size() == 2 && outer[1] == inner[0] &&
                      outer[0] == stored.shape[turned ? 1 : 0] && inner[1] == stored.shape[turned ? 0 : 1] &&
                      (magnitude == nullptr || magnitude->count() == stored.shape[0]);
    refuse_if(!fits,
              "the matrices of " + json_quote(module) + " have shapes " + text_of(outer) + " and " + text_of(inner),
              "the model's has " + text_of(stored.shape) + "; was the adapter made for another model?");
    for (const auto* tensor : {&stored, &change.outer, &change.inner, magnitude}) {
      if (tensor != nullptr && !is_floating(tensor->type)) {
        base::refuse(weights_file + ": a matrix of " + json_quote(module) + " is stored as " + name_of(tensor->type),
                     "floating-point numbers are needed");
      }
    }
  }

  /// The value that the pattern of a table has for the module, else `otherwise`.
  double from_pattern(const char* table, const std::string& module, double otherwise) const {
    const auto patterns = fields_[table];
    if (!patterns) {
      return otherwise;
    }
    for (const auto& [pattern, value] : patterns.members()) {
      const auto is_plain = [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '.';
      };
      const auto name = pattern.starts_with('^') ? pattern.substr(1) : pattern;
      value.refuse_if(!std::ranges::all_of(name, is_plain), "is an expression",
                      "names of modules are read, and endings of them");
      if (module == name || (name == pattern && module.ends_with("." + name))) {
        return value.positive();
      }
    }
    return otherwise;
  }

  float scale_of(const std::string& module, std::int64_t stored_rank) const {
    const auto rank = from_pattern("rank_pattern", module, static_cast<double>(fields_["r"].size_or(8)));
    const auto alpha = from_pattern("alpha_pattern", module, fields_["lora_alpha"].positive_or(8));
    fields_["r"].refuse_if(rank != static_cast<double>(stored_rank),
                           "the rank of " + module + " is " + base::format_double(rank),
                           "its matrices have rank " + std::to_string(stored_rank));
    return static_cast<float>(alpha / (fields_["use_rslora"].flag_or(false) ? std::sqrt(rank) : rank));
  }

  base::JsonDocument fields_;
  StoredTensors& tensors_;
  StoredTensors own_;
  bool is_stored_turned_ = false;  ///< all products but the head: Conv1D
};

}  // namespace

void apply_adapter(const base::FileSet& files, StoredTensors& tensors) {
  if (files.find(settings_file) != nullptr) {
    Merger(files, tensors).merge();
  }
}

}  // namespace stereosweep::model
