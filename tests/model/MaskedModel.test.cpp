// Loading under every name, refusing what is wrong, and the promises of the forward pass: rows, batches, bits.
// That the numbers are right is checked against transformers in tests/integration/test_model_transformers.py.
#include "model/masked/MaskedModel.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "model/Difference.hpp"
#include "model/TinyCheckpoint.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::model {
namespace {

using ::testing::HasSubstr;
using testing::tiny_checkpoint;
using testing::tiny_tensor;
using testing::TinyCheckpoint;

std::unique_ptr<MaskedModel> load(const TinyCheckpoint& tiny, query::Dtype dtype = query::Dtype::float32) {
  return MaskedModel::load(tiny.files(), dtype, query::Device::cpu);
}

std::string refusal(const TinyCheckpoint& tiny) {
  try {
    load(tiny);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

const Packed& batch() {
  static const Packed packed = [] {
    Packed made{{}, {5, 9, 1, 9, 20}};
    for (int i = 0; i < 44; ++i) {
      made.ids.push_back(2 + (i * 17) % 38);
    }
    return made;
  }();
  return packed;
}

std::vector<std::int64_t> all_rows() {
  std::vector<std::int64_t> rows(batch().ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

at::Tensor log_probabilities(const MaskedModel& model) {
  const auto hidden = model.hidden(batch(), model.shape().num_layers, all_rows());
  return at::log_softmax(model.logits(model.head_input(hidden)), -1);
}

class BothFamilies : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(MaskedModel, BothFamilies, ::testing::Values("bert", "roberta"));

TEST_P(BothFamilies, NamesDoNotChangeTheBits) {
  const auto tiny = tiny_checkpoint(GetParam());
  const auto expected = log_probabilities(*load(tiny));
  EXPECT_GT(expected.std().item<float>(), 1.0F) << "a flat distribution would hide errors";
  const auto without_prefix = tiny.renamed(
      [&](std::string name) { return name.starts_with(GetParam() + ".") ? name.substr(GetParam().size() + 1) : name; });
  EXPECT_TRUE(log_probabilities(*load(without_prefix)).equal(expected));
  const auto old_names = tiny.renamed([](std::string name) {
    if (name.find("LayerNorm") == std::string::npos) {
      return name;
    }
    return base::replace_all(base::replace_all(name, ".weight", ".gamma"), ".bias", ".beta");
  });
  EXPECT_TRUE(log_probabilities(*load(old_names)).equal(expected));
  auto stored_twice = tiny;
  const std::string head = GetParam() == "bert" ? "cls.predictions." : "lm_head.";
  stored_twice.tensors[head + "decoder.weight"] = tiny.tensors.at(GetParam() + ".embeddings.word_embeddings.weight");
  stored_twice.tensors[head + "decoder.bias"] = tiny.tensors.at(head + "bias");
  stored_twice.tensors[GetParam() + ".embeddings.position_ids"] = {"I64", {1}, std::string(8, '\0')};
  stored_twice.tensors[GetParam() + ".pooler.dense.bias"] = {"F32", {1}, std::string(4, '\0')};
  EXPECT_TRUE(log_probabilities(*load(stored_twice)).equal(expected));
}

TEST_P(BothFamilies, RowsAndBatchesGiveTheSameNumbers) {
  const auto model = load(tiny_checkpoint(GetParam()));
  const std::vector<std::int64_t> few = {0, 3, 14, 24, 43};
  for (int layer = 0; layer <= model->shape().num_layers; ++layer) {
    const auto all = model->hidden(batch(), layer, all_rows());
    ASSERT_EQ(all.size(0), 44);
    const auto some = model->hidden(batch(), layer, few);
    for (std::size_t i = 0; i < few.size(); ++i) {
      EXPECT_LT(difference(some[static_cast<std::int64_t>(i)], all[few[i]]), 1e-5) << "layer " << layer;
    }
    std::vector<at::Tensor> alone;
    auto id = batch().ids.begin();
    for (const auto length : batch().lengths) {
      std::vector<std::int64_t> rows(length);
      std::iota(rows.begin(), rows.end(), 0);
      alone.push_back(model->hidden({{id, id + length}, {length}}, layer, rows));
      id += length;
    }
    EXPECT_LT(difference(at::cat(alone), all), 1e-5) << "layer " << layer;
  }
}

// Repeated tokens go through the first layer's products once; alone, a sequence without repeats shares nothing.
TEST_P(BothFamilies, RepeatedTokensGiveTheSameNumbers) {
  const auto model = load(tiny_checkpoint(GetParam()));
  const std::vector<query::TokenId> frame = {2, 19, 36, 7, 30, 11, 25, 3};
  Packed repeats;
  for (query::TokenId word = 4; word < 20; ++word) {
    repeats.ids.insert(repeats.ids.end(), frame.begin(), frame.end());
    repeats.ids[repeats.ids.size() - 4] = word;
    repeats.lengths.push_back(8);
  }
  std::vector<std::int64_t> rows(repeats.ids.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::vector<std::int64_t> first_rows(rows.begin(), rows.begin() + 8);
  for (int layer = 1; layer <= model->shape().num_layers; ++layer) {
    const auto all = model->hidden(repeats, layer, rows);
    for (std::int64_t i = 0; i < 16; ++i) {
      const auto first = repeats.ids.begin() + i * 8;
      const auto alone = model->hidden({{first, first + 8}, {8}}, layer, first_rows);
      EXPECT_LT(difference(all.slice(0, i * 8, i * 8 + 8), alone), 1e-5) << "layer " << layer << ", sequence " << i;
    }
  }
}

TEST_P(BothFamilies, BitsRepeatWhateverWasComputedBefore) {
  for (const auto dtype : {query::Dtype::float32, query::Dtype::bfloat16, query::Dtype::float16}) {
    const auto model = load(tiny_checkpoint(GetParam()), dtype);
    const auto first = log_probabilities(*model);
    std::vector<at::Tensor> kept;
    for (std::int32_t length = 1; length <= 20; ++length) {  // other shapes, other places in memory
      const Packed other{std::vector<query::TokenId>(length, 3), {length}};
      kept.push_back(model->hidden(other, 2, std::vector<std::int64_t>{0}));
      ASSERT_TRUE(log_probabilities(*model).equal(first));
    }
    EXPECT_TRUE(log_probabilities(*load(tiny_checkpoint(GetParam()), dtype)).equal(first));
  }
}

TEST_P(BothFamilies, Float16StaysNearer) {
  const auto expected = log_probabilities(*load(tiny_checkpoint(GetParam())));
  const auto rough = log_probabilities(*load(tiny_checkpoint(GetParam()), query::Dtype::bfloat16));
  const auto finer = log_probabilities(*load(tiny_checkpoint(GetParam()), query::Dtype::float16));
  EXPECT_EQ(finer.scalar_type(), at::kFloat);
  const auto error = [&](const at::Tensor& found) { return found.sub(expected).abs().mean().item<double>(); };
  EXPECT_LT(error(finer), error(rough) / 4) << "three bits more: an eighth is to be expected";
  EXPECT_GT(error(finer), 0) << "float16 was not used";
}

TEST_P(BothFamilies, Bfloat16StaysNear) {
  const auto expected = log_probabilities(*load(tiny_checkpoint(GetParam())));
  const auto rough = log_probabilities(*load(tiny_checkpoint(GetParam()), query::Dtype::bfloat16));
  EXPECT_EQ(rough.scalar_type(), at::kFloat);
  const auto most = 2 * stereosweep::testing::deviation_in_layers(at::kBFloat16, 2) * expected.std().item<double>();
  EXPECT_LT(rough.sub(expected).abs().mean().item<double>(), most);
  EXPECT_GT(difference(rough, expected), 0) << "bfloat16 was not used";
}

TEST(MaskedModel, WithoutHeadItIsAnEncoder) {
  auto tiny = tiny_checkpoint("bert");
  std::erase_if(tiny.tensors, [](const auto& row) { return row.first.starts_with("cls."); });
  const auto model = load(tiny);
  EXPECT_FALSE(model->shape().has_head);
  EXPECT_EQ(model->shape().vocabulary, testing::tiny_words);
  EXPECT_EQ(model->shape().max_tokens, testing::tiny_positions);
  EXPECT_EQ(load(tiny_checkpoint("roberta"))->shape().max_tokens, testing::tiny_positions - 2);
  EXPECT_TRUE(load(tiny_checkpoint("bert"))->shape().has_head);
  EXPECT_THROW(model->head_input(model->hidden(batch(), 2, all_rows())), std::logic_error);
}

TEST(MaskedModel, NamesTheTensorThatIsWrong) {
  const auto right = tiny_checkpoint("bert");
  const std::string query = "bert.encoder.layer.1.attention.self.query.weight";
  const auto with = [&](const std::string& name, const testing::TinyTensor& tensor) {
    auto tiny = right;
    tiny.tensors[name] = tensor;
    return refusal(tiny);
  };
  std::mt19937 random(1);
  EXPECT_EQ(refusal(right), "accepted");
  for (const auto& [name, tensor] : right.tensors) {
    auto tiny = right;
    tiny.tensors.erase(name);
    EXPECT_THAT(refusal(tiny), HasSubstr("is missing")) << name;
  }
  EXPECT_THAT(with(query, tiny_tensor(random, {32, 31}, 0, 1)),
              HasSubstr("\"" + query + "\" has shape [32, 31] (config.json asks for [32, 32])"));
  EXPECT_THAT(with(query, {"I32", {32, 32}, std::string(4096, '\1')}), HasSubstr("is stored as I32"));
  EXPECT_THAT(with(query, {"F32", {32, 32}, std::string(4096, '\xff')}),
              HasSubstr("holds NaN or infinity at number 0"));
  auto infinite = right.tensors.at(query);
  infinite.bytes.replace(4 * 100, 4, std::string("\0\0\x80\x7f", 4));
  EXPECT_THAT(with(query, infinite),
              HasSubstr("tiny/model.safetensors: tensor \"" + query + "\" holds NaN or infinity at number 100"));
  EXPECT_THAT(with("bert.pooler.dense.bias", {"F32", {32}, std::string(128, '\xff')}),
              HasSubstr("\"bert.pooler.dense.bias\" holds NaN or infinity at number 0"));
  EXPECT_THAT(with("bert.encoder.layer.2.output.dense.bias", tiny_tensor(random, {32}, 0, 1)),
              HasSubstr("not expected"));
  EXPECT_THAT(with("bert.encoder.layer.0.attention.self.distance_embedding.weight", tiny_tensor(random, {3, 8}, 0, 1)),
              HasSubstr("not expected"));
  EXPECT_THAT(with("cls.predictions.decoder.weight", tiny_tensor(random, {41, 32}, 0, 1)),
              HasSubstr("has shape [41, 32]"));
  auto untied = right;
  untied.config.insert(1, "\"tie_word_embeddings\":false,");
  EXPECT_THAT(refusal(untied), HasSubstr("\"cls.predictions.decoder.weight\" is missing"));
}

TEST(MaskedModel, StoredTypesAreConverted) {
  const auto tiny = tiny_checkpoint("bert");
  const auto expected = log_probabilities(*load(tiny));
  auto halved = tiny;
  for (auto& [name, tensor] : halved.tensors) {  // bfloat16 is the upper half of a float32
    std::string upper;
    for (std::size_t i = 0; i < tensor.bytes.size(); i += 4) {
      upper += tensor.bytes.substr(i + 2, 2);
    }
    tensor = {"BF16", tensor.shape, upper};
  }
  auto cut = tiny;
  for (auto& [name, tensor] : cut.tensors) {
    for (std::size_t i = 0; i < tensor.bytes.size(); i += 4) {
      tensor.bytes[i] = tensor.bytes[i + 1] = '\0';
    }
  }
  EXPECT_TRUE(log_probabilities(*load(halved)).equal(log_probabilities(*load(cut))));
  EXPECT_LT(log_probabilities(*load(halved)).sub(expected).abs().mean().item<double>(), 0.2);
}

TEST(MaskedModel, PaddingTokensOfRobertaTakeThePaddingPosition) {
  const auto model = load(tiny_checkpoint("roberta"));
  const std::vector<std::int64_t> rows = {0, 1, 2, 3};
  const auto with_pad = model->hidden({{5, 1, 7, 8}, {4}}, 0, rows);
  const auto without = model->hidden({{5, 7, 8}, {3}}, 0, std::vector<std::int64_t>{0, 1, 2});
  EXPECT_LT(difference(with_pad[2], without[1]), 1e-6) << "the token after it counts on as if it were not there";
  EXPECT_TRUE(model->hidden({{5, 7, 1}, {3}}, 0, std::vector<std::int64_t>{2})[0].equal(with_pad[1]))
      << "its own position is the same everywhere";
}

}  // namespace
}  // namespace stereosweep::model
