// How often the host waits for a device: once for each batch of numbers, whatever is asked.
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/CausalTokenizer.hpp"
#include "engine/DecoderShapes.hpp"
#include "engine/LetterFiles.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "engine/readout/Download.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/families/Families.hpp"
#include "support/FakeDevice.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

using stereosweep::testing::device_counts;
using stereosweep::testing::fake_device;
using stereosweep::testing::reset_device_counts;

// Answers all queries and finds as many waits as there are batches or waves of numbers to bring.
void expect_waits(query::Engine& engine, const std::vector<query::Query>& queries, std::int64_t waits) {
  engine.answer(queries);  // what is made once is there then
  reset_device_counts();
  for (const auto& answer : engine.answer(queries)) {
    const auto* error = std::get_if<query::QueryError>(&answer);
    EXPECT_EQ(error, nullptr) << error->message;
  }
  const auto counts = device_counts();
  EXPECT_EQ(counts.waiting_uploads, 0);
  EXPECT_EQ(counts.waiting_downloads, 0);
  EXPECT_EQ(counts.synchronisations, waits);
}

class MaskedWaits : public ::testing::Test {
 protected:
  std::unique_ptr<MaskedEngine> engine(std::int64_t batch_tokens) const {
    const c10::InferenceMode guard;
    const auto specification = model::read_masked_specification(files_);
    const auto options = at::TensorOptions(fake_device()).dtype(at::kBFloat16);
    return std::make_unique<MaskedEngine>(
        model::make_masked_model(specification, model::load_masked_weights(files_, specification, options)), tokenizer_,
        batch_tokens);
  }

 private:
  base::FileSet files_ = testing::letter_files();
  tokenizer::Tokenizer tokenizer_ = tokenizer::Tokenizer::from_files(files_);
};

TEST_F(MaskedWaits, FillsAndTheirDistancesWaitOnce) {
  query::Fill fill{"a [MASK] b [MASK] c", {}, true, true};
  fill.slots = {{std::nullopt, {7, 8, 9}}, {std::nullopt, {33, 20}}};
  auto other = fill;
  other.text = "[MASK] d e f [MASK]";
  expect_waits(*engine(64), {fill, other}, 1);
  expect_waits(*engine(8), {fill, other}, 1);  // two batches, one product
}

TEST_F(MaskedWaits, VectorsWaitOnceABatch) {
  const std::vector<query::Query> queries = {query::Embed{"a b c", {0, 3}, -1, query::Pool::mean},
                                             query::Embed{"a b c", {2, 5}, -1, query::Pool::mean},
                                             query::Embed{"d e f g h", {4, 9}, -1, query::Pool::first}};
  expect_waits(*engine(64), queries, 1);
  expect_waits(*engine(7), queries, 2);
}

class CausalWaits : public ::testing::Test {
 protected:
  std::unique_ptr<CausalEngine> engine(std::int64_t batch_tokens) const {
    const auto shape = testing::decoder_shapes().front();
    stereosweep::testing::draw_from(1);
    const auto plain = model::testing::random_model(shape, {}, 0.1);
    const auto options = at::TensorOptions(fake_device()).dtype(at::kFloat);
    return std::make_unique<CausalEngine>(model::make_causal_model(shape, model::testing::weights_of(plain, options)),
                                          tokenizer_, CausalSettings{batch_tokens, {}});
  }

 private:
  tokenizer::Tokenizer tokenizer_ = testing::causal_tokenizer(testing::FirstToken::beginning);
};

TEST_F(CausalWaits, ContinuationsWaitOnce) {
  const std::vector<query::Query> queries = {query::Continue{"x the", {" ab", " cd the", " a"}},
                                             query::Continue{"cd the ab cd", {" x"}}};
  expect_waits(*engine(64), queries, 1);
  expect_waits(*engine(8), queries, 1);  // several batches, one product
}

TEST_F(CausalWaits, VectorsWaitOnceABatch) {
  const query::Embed hidden{"x ab the cd", {2, 11}, -1, query::Pool::mean, query::VectorSource::hidden_state};
  const query::Embed input{"x ab", {2, 4}, 0, query::Pool::last, query::VectorSource::input_embedding};
  expect_waits(*engine(64), {hidden}, 1);
  expect_waits(*engine(64), {input}, 1);
}

TEST_F(CausalWaits, TextsWaitOnceAToken) {
  query::Generate greedy;
  greedy.prompt = "x the ab";
  greedy.max_new_tokens = 3;
  auto sampled = greedy;
  sampled.temperature = 0.8;
  sampled.seed = 5;
  auto few = sampled;
  few.top_k = 7;
  auto penalized = sampled;
  penalized.repetition_penalty = 1.3;
  auto nucleus = sampled;
  nucleus.top_p = 0.7;
  nucleus.repetition_penalty = 1.2;
  expect_waits(*engine(64), {greedy}, 3);
  expect_waits(*engine(64), {greedy, sampled, few, penalized, nucleus}, 3);
}

TEST(DownloadWaits, PartsOfAllTypesComeInOneCopy) {
  const auto device = fake_device();
  const auto numbers = at::arange(6, at::kDouble).view({2, 3});
  const auto on_device = numbers.to(device);
  reset_device_counts();
  Download download({on_device.to(at::kFloat), on_device, on_device.to(at::kInt).t()});
  EXPECT_EQ(device_counts().blocking_copies(), 0);
  const auto& parts = download.parts();
  EXPECT_TRUE(parts[0].equal(numbers.to(at::kFloat)));
  EXPECT_TRUE(parts[1].equal(numbers));
  EXPECT_TRUE(parts[2].equal(numbers.to(at::kInt).t()));
  EXPECT_EQ(device_counts().blocking_copies(), 1);
}

}  // namespace
}  // namespace stereosweep::engine
