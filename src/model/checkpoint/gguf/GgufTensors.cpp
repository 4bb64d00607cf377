#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/gguf/Gguf.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/Safetensors.hpp"

namespace stereosweep::model {
namespace {

// Blocks of few bits become numbers to the last bit as the format's own reader makes them: no product is fused with a
// sum. (source: github.com/ggml-org/ggml, ggml-quants.c)

using Byte = std::uint8_t;

float half(const Byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return c10::Half(bits, c10::Half::from_bits());
}

std::uint32_t word(const Byte* at) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  return bits;
}

// 32 numbers of four bits: the low halves of 16 bytes, then the high ones.
unsigned nibble(const Byte* at, unsigned i) { return i < 16 ? at[i] & 15U : at[i - 16] >> 4U; }

unsigned fifth_bit(const Byte* at, unsigned i) { return (word(at) >> i & 1U) << 4U; }

/// Where a block of 32 numbers has its parts, behind the scale; 0: it has none.
struct SmallBlock {
  unsigned codes = 2;
  unsigned fifth_bits = 0;
  unsigned least = 0;
  int middle = 0;  ///< the code of zero
};

template <SmallBlock places>
void decode_small(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    auto code = static_cast<int>(nibble(block + places.codes, i));
    if constexpr (places.fifth_bits > 0) {
      code |= static_cast<int>(fifth_bit(block + places.fifth_bits, i));
    }
    out[i] = half(block) * static_cast<float>(code - places.middle);
    if constexpr (places.least > 0) {
      out[i] += half(block + places.least);
    }
  }
}

void decode_q8_0(const Byte* block, float* out) {
  for (unsigned i = 0; i < 32; ++i) {
    out[i] = static_cast<float>(static_cast<std::int8_t>(block[2 + i])) * half(block);
  }
}

// 256 numbers of two bits: of each 32 bytes first the lowest bits, then the next.
unsigned two_bits(const Byte* at, unsigned i) { return at[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3U; }

void decode_q2_k(const Byte* block, float* out) {
  const auto scale = half(block + 80);
  const auto least = half(block + 82);
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned both = block[i / 16];
    const auto factor = scale * static_cast<float>(both & 15U);
    const auto minimum = least * static_cast<float>(both >> 4U);
    out[i] = factor * static_cast<float>(two_bits(block + 16, i)) - minimum;
  }
}

void decode_q3_k(const Byte* block, float* out) {
  const auto* scales = block + 96;  // 16 of six bits: four in the first eight bytes, two in the last four
  for (unsigned i = 0; i < 256; ++i) {
    const auto k = i / 16;
    const unsigned low = k < 8 ? scales[k] & 15U : scales[k - 8] >> 4U;
    const unsigned high = scales[8 + k % 4] >> k / 4 * 2 & 3U;
    const auto factor = half(block + 108) * static_cast<float>(static_cast<int>(low | high << 4U) - 32);
    const bool is_whole = (block[i % 32] >> i / 32 & 1U) != 0;  // else four less
    const auto quantized = static_cast<int>(two_bits(block + 32, i)) - (is_whole ? 0 : 4);
    out[i] = factor * static_cast<float>(quantized);
  }
}

struct ScaleAndMinimum {
  float scale;
  float minimum;
};

// Eight scales and eight minima of six bits in twelve bytes.
ScaleAndMinimum sixth_bits(const Byte* at, unsigned k) {
  if (k < 4) {
    return {static_cast<float>(at[k] & 63U), static_cast<float>(at[k + 4] & 63U)};
  }
  return {static_cast<float>((at[k + 4] & 15U) | (at[k - 4] >> 2U & 48U)),
          static_cast<float>(at[k + 4] >> 4U | (at[k] >> 2U & 48U))};
}

// 256 numbers of four bits: of each 32 bytes first the low halves, then the high ones.
unsigned four_bits(const Byte* at, unsigned i) { return at[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15U; }

float scaled(const Byte* block, unsigned i, unsigned quantized) {
  const auto [scale, minimum] = sixth_bits(block + 4, i / 32);
  const auto factor = half(block) * scale;
  const auto least = half(block + 2) * minimum;
  return factor * static_cast<float>(quantized) - least;
}

void decode_q4_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    out[i] = scaled(block, i, four_bits(block + 16, i));
  }
}

void decode_q5_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned high = block[16 + i % 32] >> i / 32 & 1U;
    out[i] = scaled(block, i, four_bits(block + 48, i) | high << 4U);
  }
}

void decode_q6_k(const Byte* block, float* out) {
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned low = block[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15U;
    const auto factor = half(block + 208) * static_cast<float>(static_cast<std::int8_t>(block[192 + i / 16]));
    out[i] = factor * static_cast<float>(static_cast<int>(low | two_bits(block + 128, i) << 4U) - 32);
  }
}

/// How the numbers of a type are made: stored as they are, or by a function from each block.
struct Decoding {
  std::uint32_t id;  ///< of the type in the format
  at::ScalarType plain = at::kFloat;
  void (*block)(const Byte* block, float* out) = nullptr;
};
constexpr std::array<Decoding, 13> decodings = {
    {{0, at::kFloat},
     {1, at::kHalf},
     {30, at::kBFloat16},
     {2, {}, decode_small<SmallBlock{.middle = 8}>},
     {3, {}, decode_small<SmallBlock{.codes = 4, .least = 2}>},
     {6, {}, decode_small<SmallBlock{.codes = 6, .fifth_bits = 2, .middle = 16}>},
     {7, {}, decode_small<SmallBlock{.codes = 8, .fifth_bits = 4, .least = 2}>},
     {8, {}, decode_q8_0},
     {10, {}, decode_q2_k},
     {11, {}, decode_q3_k},
     {12, {}, decode_q4_k},
     {13, {}, decode_q5_k},
     {14, {}, decode_q6_k}}};
constexpr std::size_t max_block = 256;  // numbers

class GgufNumbers final : public NumberSource {
 public:
  struct Change {
    std::int64_t turned_heads = 0;  ///< 0: the rows keep their order
    float added = 0;                ///< to each number, before it was stored
  };
  /// `stored`: as the bytes lie in the file; `decoding` is borrowed from the table.
  GgufNumbers(StoredTensor stored, const base::GgufType& type, const Decoding& decoding, Change change)
      : stored_(std::move(stored)), type_(type), decoding_(decoding), change_(change) {}

  void read(std::int64_t first, std::span<float> out) const override {
    if (change_.turned_heads == 0) {
      decode(first, out);
    } else {
      const auto columns = stored_.shape.size() < 2 ? 1 : stored_.shape.back();
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
    const auto width = stored_.shape.front() / change_.turned_heads;
    const auto inside = row % width;
    return row - inside + inside % (width / 2) * 2 + inside / (width / 2);
  }

  void decode(std::int64_t first, std::span<float> out) const {
    if (decoding_.block == nullptr) {
      read_numbers(stored_, first, out);
      return;
    }
    const auto numbers = static_cast<std::int64_t>(type_.numbers);
    const auto count = static_cast<std::int64_t>(out.size());
    const auto first_block = first / numbers;
    const auto num_blocks = (first + count + numbers - 1) / numbers - first_block;
    bytes_.resize(static_cast<std::size_t>(num_blocks * type_.bytes));
    stored_.content.read(stored_.offset + static_cast<std::uint64_t>(first_block * type_.bytes),
                         std::as_writable_bytes(std::span(bytes_)));
    std::array<float, max_block> block{};
    for (std::int64_t i = 0; i < num_blocks; ++i) {
      decoding_.block(bytes_.data() + i * type_.bytes, block.data());
      const auto start = (first_block + i) * numbers;
      const auto begin = std::max(start, first);
      const auto end = std::min(start + numbers, first + count);
      std::copy(block.begin() + (begin - start), block.begin() + (end - start), out.begin() + (begin - first));
    }
  }

  StoredTensor stored_;
  base::GgufType type_;
  const Decoding& decoding_;
  Change change_;
  mutable std::vector<Byte> bytes_;
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
      : content_(content), file_(file), architecture_(file["general.architecture"].text_or("")) {}

  StoredTensors make() {
    const auto names = names_of(architecture_, file_[architecture_ + ".expert_count"].size_or(0, 0) > 0);
    for (const auto& [name, tensor] : file_.tensors) {
      if (base::contains(factors_of_angles, name)) {
        continue;  // config.json says what they hold
      }
      const auto known = name_in_transformers(name, names);
      base::refuse_if(known.empty(), file_.metadata.file + ": tensor " + base::json_quote(name) + " is not known",
                      "it belongs to no part of a " + architecture_ + " model");
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
      const auto heads = file_[architecture_ + ".attention.head_count"].size_or(0, 0);
      const auto keys = file_[architecture_ + ".attention.head_count_kv"].size_or(heads, 0);
      change.turned_heads = is_query ? heads : keys;
      const bool fits = change.turned_heads > 0 && tensor.shape.front() % (2 * change.turned_heads) == 0;
      base::refuse_if(!fits,
                      file_.metadata.file + ": tensor " + base::json_quote(name) + " has shape " + shape_text(tensor),
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
    const auto& decoding = *std::ranges::find(decodings, tensor.type.id, &Decoding::id);  // others were refused
    StoredTensor stored{decoding.plain, tensor.shape, content_, tensor.offset, tensor.num_bytes, file_.metadata.file};
    if (decoding.block != nullptr || change.turned_heads > 0 || change.added != 0) {
      auto source = std::make_shared<GgufNumbers>(stored, tensor.type, decoding, change);
      stored.type = at::kFloat;
      stored.source = std::move(source);
    }
    base::refuse_if(!made_.emplace(name, std::move(stored)).second, file_.metadata.file + ": two tensors are " + name,
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
