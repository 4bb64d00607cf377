#include "model/checkpoint/quantized/Quantized.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "model/checkpoint/TensorReader.hpp"

namespace stereosweep::model {
namespace {

using base::json_quote;

/// How the codes of a matrix [out, in] lie in what is stored.
enum class Packing {
  whole,        ///< a byte each, [out, in]
  along_rows,   ///< in words of 32 bits, [out, in / codes of a word], the lowest bits first
  down_inputs,  ///< GPTQ: [in / codes of a word, out]
  interleaved   ///< AWQ: [in, out / 8]
};

/// The parts that stand for one matrix.
struct Parts {
  Packing packing = Packing::whole;
  int bits = 8;
  std::int64_t out = 0;
  std::int64_t in = 0;
  StoredTensor codes;
  StoredTensor scales;
  std::optional<StoredTensor> zeros = std::nullopt;
  std::optional<StoredTensor> groups = std::nullopt;  ///< of each input
  std::int64_t scale_rows = 1;                        ///< scales lie in a grid over [out, in]
  std::int64_t scale_columns = 1;
  std::int64_t row_block = 1;  ///< outputs, and inputs, of one scale
  std::int64_t column_block = 1;
  float zero = 0;  ///< of all, beside `zeros`
};

/// One matrix, ready: of all the matrices of a model the one that was read last.
struct Ready {
  const void* owner = nullptr;
  at::Tensor codes;          ///< [out, in] bytes
  at::Tensor scales, zeros;  ///< in the grid, float32
  at::Tensor groups;         ///< [in] int32
};

/// The codes in words of 32 bits, one behind the other along a dimension of the matrix.
at::Tensor unpacked(const at::Tensor& words, std::int64_t dimension, int bits, Packing packing) {
  constexpr std::array<int, 8> places_of_awq = {0, 4, 1, 5, 2, 6, 3, 7};
  auto sizes = words.sizes().vec();
  sizes.insert(sizes.begin() + dimension + 1, 32 / bits);
  const auto codes = at::empty(sizes, at::kByte);
  for (int i = 0; i < 32 / bits; ++i) {
    const auto place = packing == Packing::interleaved ? places_of_awq.at(static_cast<std::size_t>(i)) : i;
    codes.select(dimension + 1, i).copy_(words.bitwise_right_shift(place * bits).bitwise_and((1 << bits) - 1));
  }
  return codes.flatten(dimension, dimension + 1);
}

class QuantizedMatrix final : public NumberSource {
 public:
  QuantizedMatrix(Parts parts, std::shared_ptr<Ready> ready) : parts_(std::move(parts)), ready_(std::move(ready)) {
    const auto type = parts_.packing == Packing::whole ? parts_.codes.type : at::kByte;
    values_ = at::arange(256, at::kInt).to(at::kByte).view(type).to(at::kFloat);
  }

  void read(std::int64_t first, std::span<float> out) const override {
    if (ready_->owner != this) {
      load();
    }
    const auto* values = values_.const_data_ptr<float>();
    const auto* all_codes = ready_->codes.const_data_ptr<std::uint8_t>();
    const auto* zeros = ready_->zeros.const_data_ptr<float>();
    const auto* scales = ready_->scales.const_data_ptr<float>();
    const auto* groups = ready_->groups.const_data_ptr<std::int32_t>();
    by_rows(first, out, parts_.in, [&](std::int64_t row, std::int64_t column, std::span<float> part) {
      const auto* codes = all_codes + row * parts_.in + column;
      const auto start = row / parts_.row_block * parts_.scale_columns;
      for (std::size_t i = 0; i < part.size(); ++i) {
        const auto place = start + groups[column + static_cast<std::int64_t>(i)];
        part[i] = (values[codes[i]] - zeros[place]) * scales[place];
      }
    });
  }

 private:
  /// Rows and columns as they multiply: GPTQ's and AWQ's are stored the other way round.
  void load() const {
    *ready_ = {};
    const bool turned = parts_.packing == Packing::down_inputs || parts_.packing == Packing::interleaved;
    const auto upright = [&](const at::Tensor& stored) { return (turned ? stored.t() : stored).contiguous(); };
    const auto codes = read_tensor(parts_.codes);
    ready_->codes =
        parts_.packing == Packing::whole
            ? codes.view(at::kByte)
            : upright(unpacked(codes, parts_.packing == Packing::down_inputs ? 0 : 1, parts_.bits, parts_.packing))
                  .narrow(1, 0, parts_.in)
                  .contiguous();
    ready_->scales = upright(read_tensor(parts_.scales).to(at::kFloat));
    ready_->zeros = zeros(upright);
    ready_->groups = groups();
    ready_->owner = this;
  }

  /// What stands for zero among the codes of each scale.
  at::Tensor zeros(const auto& upright) const {
    const bool is_signed = parts_.packing == Packing::along_rows;
    if (!parts_.zeros) {
      const auto middle = is_signed ? static_cast<float>(1 << (parts_.bits - 1)) : 0.0F;
      return at::full_like(ready_->scales, parts_.zero + middle);
    }
    const auto stored = read_tensor(*parts_.zeros);
    if (parts_.packing == Packing::whole) {
      return stored.to(at::kFloat).contiguous();
    }
    const auto codes = upright(unpacked(stored, is_signed ? 0 : 1, parts_.bits, parts_.packing));
    return codes.narrow(0, 0, parts_.scale_rows).to(at::kFloat).add_(parts_.zero);
  }

  /// The scale of each input, among those of a row.
  at::Tensor groups() const {
    if (!parts_.groups) {
      return at::arange(parts_.in, at::kInt).div(parts_.column_block, "floor");
    }
    auto stored = read_tensor(*parts_.groups);
    base::refuse_if(!stored.ge(0).logical_and(stored.lt(parts_.scale_columns)).all().item<bool>(),
                    parts_.codes.file + ": an input belongs to no group",
                    "there are " + std::to_string(parts_.scale_columns) + " groups");
    return stored;
  }

  Parts parts_;
  std::shared_ptr<Ready> ready_;
  at::Tensor values_;  ///< of each byte
};

/// A part of a tensor's bytes.
std::vector<std::uint8_t> bytes_of(const StoredTensor& stored, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint8_t> bytes(count);
  stored.content.read(stored.offset + first, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// MXFP4: blocks of 32 numbers of four bits, the first one in the lower half of its byte, and for each block a power of
/// two.
class FourBitBlocks final : public NumberSource {
 public:
  static constexpr std::uint64_t numbers = 32;
  FourBitBlocks(StoredTensor codes, StoredTensor scales) : codes_(std::move(codes)), scales_(std::move(scales)) {}

  void read(std::int64_t first, std::span<float> out) const override {
    constexpr std::array<float, 8> sizes = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    constexpr int scale_of_one = 127;
    const auto begin = static_cast<std::uint64_t>(first);
    const auto first_block = begin / numbers;
    const auto count = (begin + out.size() + numbers - 1) / numbers - first_block;
    const auto codes = bytes_of(codes_, first_block * numbers / 2, count * numbers / 2);
    const auto scales = bytes_of(scales_, first_block, count);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto place = begin - first_block * numbers + i;
      const auto code = place % 2 == 0 ? codes[place / 2] & 15U : codes[place / 2] >> 4U;
      const auto size = (code & 8U) == 0 ? sizes[code & 7U] : -sizes[code & 7U];
      out[i] = size * std::ldexp(1.0F, scales[place / numbers] - scale_of_one);
    }
  }

 private:
  StoredTensor codes_;
  StoredTensor scales_;
};

/// Finds the parts of matrices among the tensors of a model.
class Decoder {
 public:
  Decoder(const base::JsonValue& settings, StoredTensors& tensors)
      : settings_(settings), method_(settings["quant_method"].text_or("")), tensors_(tensors) {
    add_widths(settings);
    const auto groups = settings["config_groups"];
    has_zeros_ = !groups.json().empty();
    for (const auto& [name, value] : groups.json().items()) {
      const auto weights = groups[name]["weights"];
      add_widths(weights);
      has_zeros_ = has_zeros_ && weights["symmetric"].json() == false;
    }
  }

  void decode() {
    constexpr std::string_view blocks = "_blocks";
    if (method_ == "mxfp4") {
      for (const auto& name : base::mapped(tensors_, [](const auto& row) { return row.first; })) {
        if (name.ends_with(blocks)) {
          decode_blocks(name.substr(0, name.size() - blocks.size()));
        }
      }
      return;
    }
    std::erase_if(tensors_, [](const auto& row) {  // of keys and values that a server keeps in few bits
      constexpr std::array<std::string_view, 4> kept = {"k_scale", "v_scale", "q_scale", "kv_scale"};
      return base::contains(kept, std::string_view(row.first).substr(row.first.rfind('.') + 1));
    });
    const bool is_packed = method_ == "gptq" || method_ == "awq";
    const std::string ending = is_packed ? ".qweight" : ".weight_packed";
    for (const auto& name : base::mapped(tensors_, [](const auto& row) { return row.first; })) {
      const auto module = name.substr(0, name.rfind('.'));
      if (name == module + ending) {
        is_packed ? decode_by_groups(module) : decode_packed(module);
      } else if (name.ends_with(".weight") && tensors_.contains(name)) {
        decode_bytes(module);
      }
    }
  }

 private:
  /// Of the settings as a whole, or of a group's weights.
  void add_widths(const base::JsonValue& settings) {
    for (const auto* key : {"weight_block_size", "block_structure", "group_size", "q_group_size"}) {
      const auto& told = settings[key].json();
      const auto sides = told.is_array() ? told : base::Json::array({nullptr, told});
      for (std::size_t side = 0; side < 2 && sides.size() == 2; ++side) {
        if (sides[side].is_number_integer() && sides[side] >= 1 && sides[side] <= INT32_MAX) {
          widths_[side].insert(sides[side].get<std::int64_t>());
        }
      }
    }
  }

  /// How many rows (side 0) or inputs (side 1) have one scale. Where their number does not divide the side, only
  /// config.json says so.
  std::int64_t width_of(const std::string& module, std::size_t side, std::int64_t size, std::int64_t count) const {
    auto fitting = widths_.at(side);
    std::erase_if(fitting, [&](std::int64_t width) { return (size + width - 1) / width != count; });
    const bool is_plain = widths_.at(side).empty() || count == 1 || count == size;
    const bool divides = fitting.empty() && is_plain && size % count == 0;
    refuse_if(
        fitting.size() != 1 && !divides, module,
        "has " + std::to_string(count) + " scales for " + std::to_string(size) + (side == 0 ? " rows" : " inputs"),
        "config.json names no group_size or block that fits");
    return divides ? size / count : *fitting.begin();
  }

  void refuse_if(bool is_wrong, const std::string& module, const std::string& problem, const std::string& why) const {
    base::refuse_if(is_wrong, "the matrix " + json_quote(module) + " " + problem, why);
  }

  std::optional<StoredTensor> take(const std::string& name) {
    const auto found = tensors_.find(name);
    if (found == tensors_.end() || found->second.absent) {
      return std::nullopt;
    }
    auto taken = std::move(found->second);
    tensors_.erase(found);
    return taken;
  }
  StoredTensor needed(const std::string& module, const char* part) {
    auto taken = take(module + part);
    refuse_if(!taken || taken->num_bytes == 0, module, std::string("lacks ") + (part + 1),
              "its codes mean nothing alone");
    return std::move(*taken);
  }

  void check(const std::string& module, const StoredTensor& part, at::ScalarType type,
             std::initializer_list<std::int64_t> shape) const {
    const std::vector<std::int64_t> sizes(shape);
    refuse_if(part.shape != sizes || part.type != type, module,
              std::string("has a part of ") + name_of(part.type) + " " + text_of(part.shape),
              std::string(name_of(type)) + " " + text_of(sizes) + " is needed");
  }

  void put(const std::string& module, Parts parts) {
    StoredTensor made{at::kFloat, {parts.out, parts.in}, {}, 0, 0, parts.codes.file};
    made.source = std::make_shared<QuantizedMatrix>(std::move(parts), ready_);
    tensors_.insert_or_assign(module + ".weight", std::move(made));
  }

  /// MXFP4's matrices of all experts, [experts, out, blocks, 16] -> [experts, out, in], under the name of the blocks.
  void decode_blocks(const std::string& module) {
    auto codes = needed(module, "_blocks");
    auto scales = needed(module, "_scales");
    refuse_if(codes.shape.size() != 4, module, "has blocks of shape " + text_of(codes.shape),
              "[experts, out, blocks, 16] is needed");
    const auto& shape = codes.shape;
    check(module, codes, at::kByte, {shape[0], shape[1], shape[2], FourBitBlocks::numbers / 2});
    check(module, scales, at::kByte, {shape[0], shape[1], shape[2]});
    const auto in = shape[2] * static_cast<std::int64_t>(FourBitBlocks::numbers);
    StoredTensor made{at::kFloat, {shape[0], shape[1], in}, {}, 0, 0, codes.file};
    made.source = std::make_shared<FourBitBlocks>(std::move(codes), std::move(scales));
    tensors_.insert_or_assign(module + "_blocks", std::move(made));
  }

  /// GPTQ and AWQ.
  void decode_by_groups(const std::string& module) {
    Parts parts;
    parts.codes = needed(module, ".qweight");
    parts.scales = needed(module, ".scales");
    parts.zeros = needed(module, ".qzeros");
    parts.groups = take(module + ".g_idx");
    parts.bits = static_cast<int>(settings_["bits"].size_or(4));
    const auto in_word = std::int64_t{32} / parts.bits;
    refuse_if(parts.codes.shape.size() != 2 || parts.scales.shape.size() != 2 || parts.scales.shape[0] == 0 ||
                  !is_floating(parts.scales.type),
              module, "has codes of shape " + text_of(parts.codes.shape), "codes and scales are matrices");
    const bool is_gptq = method_ == "gptq";
    parts.packing = is_gptq ? Packing::down_inputs : Packing::interleaved;
    parts.in = parts.codes.shape[0] * (is_gptq ? in_word : 1);
    parts.out = parts.codes.shape[1] * (is_gptq ? 1 : in_word);
    parts.scale_columns = parts.scales.shape[0];
    parts.scale_rows = parts.out;
    parts.column_block = parts.groups ? 1 : width_of(module, 1, parts.in, parts.scale_columns);
    check(module, parts.codes, at::kInt, {parts.codes.shape[0], parts.codes.shape[1]});
    check(module, parts.scales, parts.scales.type, {parts.scale_columns, parts.out});
    check(module, *parts.zeros, at::kInt, {parts.scale_columns, (parts.out + in_word - 1) / in_word});
    if (parts.groups) {
      check(module, *parts.groups, at::kInt, {parts.in});
    }
    // The first form of GPTQ stores one less than each zero.
    const auto form = settings_["checkpoint_format"].text_or(settings_["format"].text_or("gptq"));
    parts.zero = is_gptq && form == "gptq" ? 1 : 0;
    put(module, std::move(parts));
  }

  /// compressed-tensors' integers of few bits.
  void decode_packed(const std::string& module) {
    Parts parts;
    parts.packing = Packing::along_rows;
    parts.codes = needed(module, ".weight_packed");
    const auto shape = needed(module, ".weight_shape");
    refuse_if(shape.num_bytes != 16 || shape.type != at::kLong || parts.codes.shape.size() != 2, module,
              "has a weight_shape of another form", "two numbers of 64 bits are needed");
    const auto sizes = read_tensor(shape);
    parts.out = sizes[0].item<std::int64_t>();
    parts.in = sizes[1].item<std::int64_t>();
    parts.bits = 0;
    for (const int bits : {2, 4, 8}) {
      const bool fits = parts.in > 0 && parts.in < INT32_MAX && (parts.in * bits + 31) / 32 == parts.codes.shape[1];
      parts.bits = fits ? bits : parts.bits;
    }
    refuse_if(parts.bits == 0, module, "has words of shape " + text_of(parts.codes.shape), "2, 4 and 8 bits are read");
    check(module, parts.codes, at::kInt, {parts.out, parts.codes.shape[1]});
    place_scales(module, parts, needed(module, ".weight_scale"));
    parts.zeros = take(module + ".weight_zero_point");
    if (parts.zeros) {
      const auto in_word = std::int64_t{32} / parts.bits;
      check(module, *parts.zeros, at::kInt, {(parts.scale_rows + in_word - 1) / in_word, parts.scale_columns});
    }
    take_others(module, parts);
    put(module, std::move(parts));
  }

  /// A byte for each number, where its type says so.
  void decode_bytes(const std::string& module) {
    const auto& stored = tensors_.at(module + ".weight");
    const bool is_byte =
        stored.type == at::kChar || stored.type == at::kFloat8_e4m3fn || stored.type == at::kFloat8_e5m2;
    if (!is_byte || stored.shape.size() != 2) {
      return;  // a plain tensor, or one that the reader of weights refuses by its name
    }
    Parts parts;
    parts.codes = needed(module, ".weight");
    parts.out = parts.codes.shape[0];
    parts.in = parts.codes.shape[1];
    auto scales = take(module + ".weight_scale_inv");
    place_scales(module, parts, scales ? std::move(*scales) : needed(module, ".weight_scale"));
    parts.zeros = take(module + ".weight_zero_point");
    if (parts.zeros) {
      const auto type = is_floating(parts.zeros->type) ? parts.zeros->type : at::kChar;
      refuse_if(parts.zeros->count() != parts.scales.count() || parts.zeros->type != type, module,
                "has zeros of shape " + text_of(parts.zeros->shape), "one for each scale is needed");
    }
    take_others(module, parts);
    put(module, std::move(parts));
  }

  /// Over all of the matrix, over each row, over parts of each row, or over blocks.
  void place_scales(const std::string& module, Parts& parts, StoredTensor scales) const {
    auto shape = scales.shape;
    shape.resize(2, 1);
    refuse_if(scales.shape.size() > 2 || !is_floating(scales.type) || shape[0] < 1 || shape[1] < 1 ||
                  shape[0] > parts.out || shape[1] > parts.in,
              module, "has scales of " + std::string(name_of(scales.type)) + " " + text_of(scales.shape),
              "a number, one for each row, for parts of rows or for blocks is needed");
    parts.scale_rows = shape[0];
    parts.scale_columns = shape[1];
    parts.row_block = width_of(module, 0, parts.out, shape[0]);
    parts.column_block = width_of(module, 1, parts.in, shape[1]);
    parts.scales = std::move(scales);
  }

  /// What is kept beside a matrix: groups of its inputs count, scales of activations do not.
  void take_others(const std::string& module, Parts& parts) {
    parts.groups = take(module + ".weight_g_idx");
    if (parts.groups) {
      check(module, *parts.groups, at::kInt, {parts.in});
    }
    refuse_if(has_zeros_ && !parts.zeros, module, "lacks weight_zero_point", "config.json says symmetric: false");
    for (const auto* part : {".activation_scale", ".input_scale", ".input_zero_point", ".output_scale"}) {
      take(module + part);
    }
  }

  base::JsonValue settings_;
  std::string method_;
  std::array<std::set<std::int64_t>, 2> widths_;  ///< of the parts that have one scale: rows, inputs
  bool has_zeros_ = false;                        ///< each matrix
  StoredTensors& tensors_;
  std::shared_ptr<Ready> ready_ = std::make_shared<Ready>();
};

}  // namespace

std::string describe_quantization(const base::JsonValue& fields) {
  const auto settings = fields["quantization_config"];
  if (!settings) {
    return "";
  }
  const auto method = settings["quant_method"].text_or("");
  if (method == "gguf") {
    return "GGUF (" + settings["types"].text_or("") + ")";
  }
  constexpr std::array<std::string_view, 6> known = {"fp8", "fbgemm_fp8", "mxfp4", "gptq", "awq", "compressed-tensors"};
  settings["quant_method"].refuse_if(!base::contains(known, method),
                                     method.empty() ? "is missing" : json_quote(method) + " is not supported",
                                     "fp8, fbgemm_fp8, mxfp4, gptq, awq, compressed-tensors and GGUF files are");
  const auto format = base::lower_ascii(
      settings["checkpoint_format"].text_or(settings["format"].text_or(settings["version"].text_or(""))));
  const std::vector<std::string> formats = {
      "gptq",           "gptq_v2", "gemm", "pack-quantized", "int-quantized", "float-quantized", "naive-quantized",
      "mixed-precision"};
  settings["format"].refuse_if(!format.empty() && !base::contains(formats, format),
                               json_quote(format) + " is not supported", base::join(formats, ", ") + " are");
  for (const auto* key : {"dynamic", "transform_config", "sparsity_config"}) {
    const auto value = settings[key];
    const bool is_dense = value.json().is_object() && value["format"].json() == "dense";
    value.refuse_if(!value.json().empty() && !is_dense, "is not supported", "it changes what codes mean");
  }
  if (method != "gptq" && method != "awq") {
    return method + (format.empty() ? "" : ", " + format);
  }
  const auto bits = settings["bits"].size_or(4);
  settings["bits"].refuse_if(bits != 4 && (method == "awq" || (bits != 2 && bits != 8)),
                             std::to_string(bits) + " is not supported", "4 are, and 2 and 8 of gptq");
  return method + ", " + std::to_string(bits) + " bits";
}

std::string describe_storage(const base::FileSet& files) {
  return describe_quantization(base::find_json(files, "config.json").value());
}

void decode_quantized(const base::FileSet& files, StoredTensors& tensors) {
  const auto config = base::find_json(files, "config.json");
  const auto fields = config.value();
  const auto settings = fields["quantization_config"];
  if (settings && settings["quant_method"].text_or("") != "gguf" && !describe_quantization(fields).empty()) {
    Decoder(settings, tensors).decode();
  }
}

}  // namespace stereosweep::model
