#include "model/checkpoint/gguf/GgufTensors.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/gguf/Blocks.hpp"

namespace stereosweep::model {
namespace {

class GgufNumbers final : public NumberSource {
 public:
  struct Change {
    std::int64_t turned_heads = 0;  ///< 0: the rows keep their order
    float added = 0;                ///< to each number, before it was stored
  };
  GgufNumbers(base::SharedBytes content, base::GgufTensor tensor, Change change)
      : content_(std::move(content)), tensor_(std::move(tensor)), change_(change) {}

  void read(std::int64_t first, std::span<float> out) const override {
    if (change_.turned_heads == 0) {
      decode(first, out);
    } else {
      const auto columns = tensor_.shape.size() < 2 ? 1 : tensor_.shape.back();
      by_rows(first, out, columns, [&](std::int64_t row, std::int64_t column, std::span<float> part) {
        decode(stored_row(row) * columns + column, part);
      });
    }
    for (auto& number : out) {
      number -= change_.added;
    }
  }

 private:
  /// llama.cpp turns neighbouring numbers of a head by one angle, transformers those half a head apart.
  std::int64_t stored_row(std::int64_t row) const {
    const auto width = tensor_.shape.front() / change_.turned_heads;
    const auto inside = row % width;
    return row - inside + inside % (width / 2) * 2 + inside / (width / 2);
  }

  void decode(std::int64_t first, std::span<float> out) const {
    const auto numbers = static_cast<std::int64_t>(tensor_.type.numbers);
    const auto count = static_cast<std::int64_t>(out.size());
    const auto first_block = first / numbers;
    const auto num_blocks = (first + count + numbers - 1) / numbers - first_block;
    bytes_.resize(static_cast<std::size_t>(num_blocks * tensor_.type.bytes));
    content_.read(tensor_.offset + static_cast<std::uint64_t>(first_block * tensor_.type.bytes), bytes_);
    std::array<float, max_block> block{};
    for (std::int64_t i = 0; i < num_blocks; ++i) {
      decode_block(tensor_.type, bytes_.data() + i * tensor_.type.bytes, block.data());
      const auto start = (first_block + i) * numbers;
      const auto begin = std::max(start, first);
      const auto end = std::min(start + numbers, first + count);
      std::copy(block.begin() + (begin - start), block.begin() + (end - start), out.begin() + (begin - first));
    }
  }

  base::SharedBytes content_;
  base::GgufTensor tensor_;
  Change change_;
  mutable std::vector<std::byte> bytes_;
};

// What stands for a part of a name in `transformers`, by the part in GGUF: of most architectures, and of some.
using Names = std::map<std::string, std::string, std::less<>>;

Names names_of(const std::string& architecture, bool has_experts) {
  Names names = {{"token_embd", "model.embed_tokens"},
                 {"output_norm", "model.norm"},
                 {"output", "lm_head"},
                 {"attn_norm", "input_layernorm"},
                 {"attn_q", "self_attn.q_proj"},
                 {"attn_k", "self_attn.k_proj"},
                 {"attn_v", "self_attn.v_proj"},
                 {"attn_qkv", "self_attn.qkv_proj"},
                 {"attn_output", "self_attn.o_proj"},
                 {"attn_q_norm", "self_attn.q_norm"},
                 {"attn_k_norm", "self_attn.k_norm"},
                 {"ffn_norm", "post_attention_layernorm"},
                 {"ffn_gate", "mlp.gate_proj"},
                 {"ffn_up", "mlp.up_proj"},
                 {"ffn_down", "mlp.down_proj"},
                 {"post_attention_norm", "post_attention_layernorm"},
                 {"post_ffw_norm", "post_feedforward_layernorm"}};
  const auto change = [&](const Names& others) {
    for (const auto& [name, other] : others) {
      names[name] = other;
    }
  };
  if (architecture == "gemma2" || architecture == "gemma3") {
    change({{"ffn_norm", "pre_feedforward_layernorm"}});
  } else if (architecture == "phi3") {
    change({{"ffn_up", "mlp.gate_up_proj"}});
  } else if (architecture == "starcoder2") {
    change({{"ffn_up", "mlp.c_fc"}, {"ffn_down", "mlp.c_proj"}});
  }
  if (has_experts && architecture == "llama") {
    change({{"ffn_gate_inp", "block_sparse_moe.gate"},
            {"ffn_gate_exps", "block_sparse_moe.experts.w1"},
            {"ffn_up_exps", "block_sparse_moe.experts.w3"},
            {"ffn_down_exps", "block_sparse_moe.experts.w2"}});
  } else if (has_experts) {
    change({{"ffn_gate_inp", "mlp.gate"},
            {"ffn_gate_exps", "mlp.experts.gate_proj"},
            {"ffn_up_exps", "mlp.experts.up_proj"},
            {"ffn_down_exps", "mlp.experts.down_proj"}});
  }
  return names;
}

/// "blk.3.attn_q.weight" -> "model.layers.3.self_attn.q_proj.weight"; "" where it has none.
std::string name_in_transformers(const std::string& name, const Names& names) {
  const auto end = name.rfind('.');
  const auto parts = base::split(name.substr(0, end), '.');
  const bool is_layer = parts.size() == 3 && parts[0] == "blk" && base::parse_integer(parts[1]);
  const auto found = names.find(parts.back());
  if (end == std::string::npos || found == names.end() || !(is_layer || parts.size() == 1)) {
    return "";
  }
  return (is_layer ? "model.layers." + parts[1] + "." : "") + found->second + name.substr(end);
}

class TensorMaker {
 public:
  TensorMaker(const base::SharedBytes& content, const base::Gguf& file)
      : content_(content), file_(file), architecture_(file.text("general.architecture")) {}

  StoredTensors make() {
    const auto names = names_of(architecture_, file_.size(architecture_ + ".expert_count").value_or(0) > 0);
    for (const auto& [name, tensor] : file_.tensors) {
      if (base::contains(factors_of_angles, name)) {
        continue;  // config.json says what they hold
      }
      const auto known = name_in_transformers(name, names);
      if (known.empty()) {
        throw base::InputError(file_.name + ": " +
                               base::describe("tensor " + base::json_quote(name) + " is not known",
                                              "it belongs to no part of a " + architecture_ + " model"));
      }
      const auto experts = known.find(".experts.");
      if (experts != std::string::npos && tensor.shape.size() == 3) {
        add_experts(known, experts + 9, tensor);
      } else {
        add(known, tensor, change_of(name, tensor));
      }
    }
    return std::move(made_);
  }

 private:
  static constexpr std::array<std::string_view, 3> factors_of_angles = {"rope_freqs.weight", "rope_factors_long.weight",
                                                                        "rope_factors_short.weight"};

  GgufNumbers::Change change_of(const std::string& name, const base::GgufTensor& tensor) const {
    constexpr std::array<std::string_view, 3> turned = {"llama", "granite", "smollm3"};
    GgufNumbers::Change change;
    const bool is_query = name.find(".attn_q.") != std::string::npos;
    if (base::contains(turned, architecture_) && (is_query || name.find(".attn_k.") != std::string::npos)) {
      const auto heads = file_.size(architecture_ + ".attention.head_count").value_or(0);
      const auto keys = file_.size(architecture_ + ".attention.head_count_kv").value_or(heads);
      change.turned_heads = is_query ? heads : keys;
      const bool fits = change.turned_heads > 0 && tensor.shape.front() % (2 * change.turned_heads) == 0;
      base::refuse_if(!fits, file_.name + ": tensor " + base::json_quote(name) + " has shape " + shape_text(tensor),
                      "its rows are pairs of " + std::to_string(change.turned_heads) + " heads");
    }
    if (architecture_.starts_with("gemma") && name.ends_with("norm.weight")) {
      change.added = 1;
    }
    return change;
  }

  static std::string shape_text(const base::GgufTensor& tensor) {
    return base::join(base::mapped(tensor.shape, [](std::int64_t size) { return std::to_string(size); }), " x ");
  }

  void add(const std::string& name, const base::GgufTensor& tensor, GgufNumbers::Change change) {
    constexpr std::array<std::pair<std::uint32_t, StoredType>, 3> plain = {
        {{0, StoredType::float32}, {1, StoredType::float16}, {30, StoredType::bfloat16}}};
    StoredTensor stored{StoredType::float32, tensor.shape, content_, tensor.offset, tensor.num_bytes, file_.name};
    const auto* type = std::ranges::find(plain, tensor.type.id, &std::pair<std::uint32_t, StoredType>::first);
    if (type != plain.end() && change.turned_heads == 0 && change.added == 0) {
      stored.type = type->second;
    } else {
      stored.source = std::make_shared<GgufNumbers>(content_, tensor, change);
    }
    base::refuse_if(!made_.emplace(name, std::move(stored)).second, file_.name + ": two tensors are " + name,
                    "one of them would be ignored");
  }

  /// One matrix each. `place`: of the part of the name in front of which the expert's number comes.
  void add_experts(const std::string& name, std::size_t place, const base::GgufTensor& tensor) {
    const auto count = tensor.shape.front();
    for (std::int64_t i = 0; i < count; ++i) {
      auto own = tensor;
      own.shape.erase(own.shape.begin());
      own.num_bytes = tensor.num_bytes / static_cast<std::uint64_t>(count);
      own.offset += own.num_bytes * static_cast<std::uint64_t>(i);
      add(name.substr(0, place) + std::to_string(i) + "." + name.substr(place), own, {});
    }
  }

  const base::SharedBytes& content_;
  const base::Gguf& file_;
  std::string architecture_;
  StoredTensors made_;
};

}  // namespace

StoredTensors read_gguf_tensors(const base::SharedBytes& content, const std::string& name) {
  return TensorMaker(content, base::read_gguf(content, name)).make();
}

}  // namespace stereosweep::model
