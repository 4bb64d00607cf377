// Parts of stored tensors against the same parts of the whole, and the memory that a slice of a model takes.
#include "model/checkpoint/TensorReader.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "model/SafetensorsText.hpp"
#include "model/TinyCheckpoint.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/families/Families.hpp"
#include "query/Compute.hpp"

namespace stereosweep::model {
namespace {

using ::testing::HasSubstr;

/// A checkpoint with one float32 tensor "x" of these sizes: 0, 1, 2, ... over 8, `changed` in one place.
StoredTensors stored(const std::vector<std::int64_t>& shape, std::int64_t place = -1, float changed = 0) {
  std::int64_t count = 1;
  std::string sizes = "[";
  for (const auto size : shape) {
    count *= size;
    sizes += (sizes.size() > 1 ? "," : "") + std::to_string(size);
  }
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(i == place ? changed : static_cast<float>(i) / 8);
  }
  const auto data = testing::floats(numbers);
  const auto header = "{" + testing::entry_of("x", "F32", sizes + "]", 0, data.size()) + "}";
  return parse_safetensors(base::to_shared(testing::file_of(header, data)), "x.safetensors");
}

TensorReader reader_of(StoredTensors tensors, at::ScalarType type) {
  return {std::move(tensors), "here", at::TensorOptions(at::kCPU).dtype(type)};
}

at::Tensor whole(const std::vector<std::int64_t>& shape, at::ScalarType type) {
  std::int64_t count = 1;
  for (const auto size : shape) {
    count *= size;
  }
  return at::arange(count, at::kFloat).div(8).to(type).view(shape);
}

at::Tensor cut_out(const at::Tensor& matrix, const Cut& cut) {
  std::vector<at::Tensor> rows;
  for (const auto& range : cut.rows) {
    rows.push_back(matrix.narrow(0, range.first, range.count));
  }
  const auto below = rows.empty() ? matrix : at::cat(rows);
  std::vector<at::Tensor> columns;
  for (const auto& range : cut.columns) {
    columns.push_back(below.narrow(1, range.first, range.count));
  }
  return columns.empty() ? below : at::cat(columns, 1);
}

// Some are larger than a piece, in which numbers are read.
TEST(TensorReader, TakesTheSameNumbersAsACutOfTheWhole) {
  const std::vector<Cut> cuts = {
      {},
      {{{0, 9}}, {}},
      {{{4, 3}, {0, 2}, {8, 1}}, {}},
      {{}, {{0, 5}}},
      {{}, {{6, 2}, {1, 3}}},
      {{{7, 2}, {2, 4}}, {{3, 1}, {4, 2}, {0, 1}}},
  };
  for (const std::int64_t scale : {1, 300}) {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf}) {
      const std::int64_t rows = 9 * scale;
      const std::int64_t columns = 8 * scale;
      for (auto cut : cuts) {
        for (auto* ranges : {&cut.rows, &cut.columns}) {
          for (auto& range : *ranges) {
            range = {range.first * scale, range.count * scale};
          }
        }
        if (type == at::kHalf && scale > 1) {
          continue;  // numbers above 65504
        }
        auto reader = reader_of(stored({rows, columns}), type);
        const auto found = reader.take_cut("x", {rows, columns}, cut);
        EXPECT_EQ(found.scalar_type(), type);
        EXPECT_TRUE(at::equal(found, cut_out(whole({rows, columns}, type), cut)));
      }
    }
  }
}

TEST(TensorReader, CutsVectorsAndSeesLargerTensorsAsMatrices) {
  auto vector = reader_of(stored({10}), at::kFloat);
  const auto found = vector.take_cut("x", {10}, {{{7, 2}, {1, 3}}, {}});
  EXPECT_TRUE(at::equal(found, cut_out(whole({10}, at::kFloat), {{{7, 2}, {1, 3}}, {}})));
  auto cube = reader_of(stored({2, 3, 4}), at::kFloat);
  const Cut cut{{{3, 2}}, {{1, 2}}};
  EXPECT_TRUE(at::equal(cube.take_cut("x", {2, 3, 4}, cut), cut_out(whole({6, 4}, at::kFloat), cut)));
  EXPECT_TRUE(at::equal(cube.take("x", {2, 3, 4}), whole({2, 3, 4}, at::kFloat)));
}

TEST(TensorReader, NamesThePlaceInTheStoredTensorAndReadsNoOtherPart) {
  const auto said = [](const Cut& cut, at::ScalarType type, float changed) {
    auto reader = reader_of(stored({6, 5}, 4 * 5 + 3, changed), type);
    try {
      reader.take_cut("x", {6, 5}, cut);
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto infinite = std::numeric_limits<float>::infinity();
  EXPECT_THAT(said({{{4, 1}}, {}}, at::kFloat, infinite), HasSubstr("NaN or infinity at number 23"));
  EXPECT_THAT(said({{{5, 1}, {2, 3}}, {{3, 2}}}, at::kBFloat16, infinite), HasSubstr("NaN or infinity at number 23"));
  EXPECT_THAT(said({{}, {{0, 1}, {3, 1}}}, at::kHalf, 1e6F), HasSubstr("1000000.000000 at number 23"));
  EXPECT_EQ(said({{{0, 4}}, {}}, at::kFloat, infinite), "");
  EXPECT_EQ(said({{}, {{0, 3}}}, at::kFloat, infinite), "");
}

TEST(TensorReader, FindsDamageInWhatNobodyTook) {
  auto damaged = reader_of(stored({6, 5}, 29, std::numeric_limits<float>::quiet_NaN()), at::kBFloat16);
  damaged.ignore("x");
  EXPECT_THROW(damaged.check_left([](const std::string&) { return false; }), base::InputError);
  auto whole = reader_of(stored({6, 5}), at::kBFloat16);
  EXPECT_THROW(whole.check_left([](const std::string&) { return false; }), base::InputError);
  EXPECT_NO_THROW(whole.check_left([](const std::string&) { return true; }));
}

/// Counts the bytes of tensors that live at once; stands before torch's own while it lives.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : own_(c10::GetCPUAllocator()) {
    most_ = live_;
    c10::SetCPUAllocator(this, most_priority);
  }
  CountingAllocator(const CountingAllocator&) = delete;
  CountingAllocator& operator=(const CountingAllocator&) = delete;
  ~CountingAllocator() override { c10::SetCPUAllocator(own_, most_priority); }

  c10::DataPtr allocate(std::size_t bytes) override {
    live_ += bytes;
    most_ = std::max(most_, live_);
    auto memory = own_->allocate(bytes);
    auto* const held = new Held{std::move(memory), bytes};
    return {held->memory.get(), held, &free_held, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, std::size_t count) const override { default_copy_data(to, from, count); }
  std::size_t most() const { return most_; }

 private:
  struct Held {
    c10::DataPtr memory;
    std::size_t bytes;
  };
  static void free_held(void* context) {
    auto* const held = static_cast<Held*>(context);
    live_ -= held->bytes;
    delete held;
  }
  static constexpr std::uint8_t most_priority = 255;
  static inline std::size_t live_ = 0;
  static inline std::size_t most_ = 0;
  c10::Allocator* own_;
};

constexpr std::int64_t wide_hidden = 1024;
constexpr std::int64_t wide_inner = 4096;
constexpr std::int64_t wide_words = 64;

/// Two wide layers: 134 MB in float32, 67 MB in bfloat16.
base::FileSet wide_llama() {
  testing::TinyCheckpoint checkpoint;
  checkpoint.config = R"({"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096, "vocab_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 8, "max_position_embeddings": 64,
    "rms_norm_eps": 1e-05, "tie_word_embeddings": false})";
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    std::size_t bytes = 2;
    for (const auto size : shape) {
      bytes *= static_cast<std::size_t>(size);
    }
    checkpoint.tensors[name] = {"BF16", shape, std::string(bytes, '\x3c')};
  };
  add("model.embed_tokens.weight", {wide_words, wide_hidden});
  add("lm_head.weight", {wide_words, wide_hidden});
  add("model.norm.weight", {wide_hidden});
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(layer + "input_layernorm.weight", {wide_hidden});
    add(layer + "post_attention_layernorm.weight", {wide_hidden});
    for (const std::string name : {"q", "k", "v", "o"}) {
      add(layer + "self_attn." + name + "_proj.weight", {wide_hidden, wide_hidden});
    }
    add(layer + "mlp.gate_proj.weight", {wide_inner, wide_hidden});
    add(layer + "mlp.up_proj.weight", {wide_inner, wide_hidden});
    add(layer + "mlp.down_proj.weight", {wide_hidden, wide_inner});
  }
  return checkpoint.files();
}

// While it is read, too: beside the slice there is at most the matrix that is being read or packed, and one piece of a
// file.
TEST(TensorReader, ASliceOfAModelTakesTheMemoryOfASlice) {
  const auto files = wide_llama();
  const auto specification = read_causal_specification(files);
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    const auto bytes = static_cast<std::uint64_t>(c10::elementSize(type));
    const auto slice = memory_of(specification, bytes, {}, 4).weights;
    const auto all = memory_of(specification, bytes, {}, 1).weights;
    const std::uint64_t largest = 2 * wide_inner / 4 * wide_hidden * bytes;  // both halves of the gated product
    const std::uint64_t small = std::uint64_t{1} << 20;  // norms, and what allocations are rounded up by
    std::size_t most = 0;
    {
      const CountingAllocator counting;
      const auto before = counting.most();
      const auto weights = load_causal_weights(files, specification, at::TensorOptions(at::kCPU).dtype(type), {3, 4});
      EXPECT_EQ(weights.layers.size(), 2U);
      most = counting.most() - before;
    }
    EXPECT_GT(most, 2 * largest);
    EXPECT_LE(most, slice + largest + TensorReader::piece_bytes + small);
    EXPECT_LT(most, all / 2);
  }
}

}  // namespace
}  // namespace stereosweep::model
