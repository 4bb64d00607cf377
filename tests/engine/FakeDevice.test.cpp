// Engines on a device that is no CPU: its answers against the CPU's, and what the device was asked for.
#include "support/FakeDevice.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <c10/core/Event.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/CausalTokenizer.hpp"
#include "engine/DecoderShapes.hpp"
#include "engine/DeviceWork.hpp"
#include "engine/EncoderShapes.hpp"
#include "engine/GptOssFiles.hpp"
#include "engine/causal/CausalEngine.hpp"
#include "engine/masked/MaskedEngine.hpp"
#include "model/CausalReference.hpp"
#include "model/body/BodyWeights.hpp"
#include "model/families/Families.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/SideStream.hpp"
#include "support/Rounding.hpp"

namespace stereosweep::engine {
namespace {

using stereosweep::testing::device_counts;
using stereosweep::testing::fake_device;
using stereosweep::testing::reset_device_counts;
using ::testing::HasSubstr;

at::TensorOptions on_fake(at::ScalarType type) { return at::TensorOptions(fake_device()).dtype(type); }

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "accepted";
}

TEST(FakeDeviceDeathTest, TheHostCannotTouchItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const auto numbers = at::ones({4}, on_fake(at::kFloat));
        volatile float first = *numbers.const_data_ptr<float>();
        static_cast<void>(first);
      },
      ::testing::KilledBySignal(SIGSEGV), ".*");
}

TEST(FakeDevice, ComputesAndCounts) {
  reset_device_counts();
  const auto host = at::ones({2, 3});
  const auto numbers = host.to(fake_device());
  EXPECT_EQ(device_counts().waiting_uploads, 1);
  const auto sums = numbers.add(numbers).t().contiguous();
  auto counts = device_counts();
  EXPECT_EQ(counts.launches, (std::map<std::string, std::int64_t>{{"add", 1}, {"copy_", 1}}));
  EXPECT_TRUE(sums.to(at::kCPU).equal(at::ones({3, 2}).mul(2)));
  EXPECT_EQ(sums.sum().item<float>(), 12);
  counts = device_counts();
  EXPECT_EQ(counts.waiting_downloads, 2);
  EXPECT_EQ(counts.launches.at("sum"), 1);
}

TEST(FakeDevice, RefusesTensorsOfTwoDevices) {
  const auto numbers = at::ones({2, 3}, on_fake(at::kFloat));
  EXPECT_THAT(refusal([&] { numbers.add(at::ones({3})); }), HasSubstr("same device"));
  EXPECT_THAT(refusal([&] { numbers.index_select(0, at::ones({1}, at::kLong)); }), HasSubstr("same device"));
  EXPECT_EQ(refusal([&] { numbers.add(at::ones({})); }), "accepted");
}

TEST(FakeDevice, BringsNumbersNoEarlierThanTheNextWait) {
  const auto pinned = at::TensorOptions(at::kFloat).pinned_memory(true);
  auto up = at::empty({3}, pinned).fill_(2);
  reset_device_counts();
  const auto numbers = up.to(fake_device(), true).mul(3);
  auto down = at::empty({3}, pinned);
  down.copy_(numbers, true);
  EXPECT_TRUE(std::isnan(down.const_data_ptr<float>()[0]));
  c10::Event event(c10::DeviceType::PrivateUse1);
  event.record(c10::Stream(c10::Stream::DEFAULT, fake_device()));
  EXPECT_EQ(device_counts().blocking_copies(), 0);
  EXPECT_EQ(device_counts().non_blocking_copies, 2);
  event.synchronize();
  EXPECT_EQ(down.const_data_ptr<float>()[0], 6);
  event.synchronize();
  EXPECT_EQ(device_counts().blocking_copies(), 1);
}

TEST(FakeDevice, ANewBlockHoldsNoZeros) {
  EXPECT_TRUE(at::empty({3}, on_fake(at::kBFloat16)).isnan().all().item<bool>());
  EXPECT_TRUE(at::empty({3}, on_fake(at::kLong)).eq(-1).all().item<bool>());
}

// The second stream's kernels run when the current one waits for them; who does not wait is told.
TEST(FakeDevice, RunsKernelsOfTheSecondStreamNoEarlierThanTheNextWait) {
  if (!model::SideStream::runs_beside) {
    GTEST_SKIP() << "torch 2.10 does not tell the handle of a stream";
  }
  const model::SideStream side(fake_device());
  const auto numbers = at::ones({3}, on_fake(at::kFloat));
  auto* const place = numbers.mutable_data_ptr<float>();
  const auto double_them = [&](void* stream) {
    stereosweep::testing::run_on_device(
        "double", place, 3 * sizeof(float), [place] { place[0] = place[1] = place[2] = 2; }, stream);
  };
  void* handle = nullptr;
  auto work = side.run([&](void* stream) { double_them(handle = stream); });
  EXPECT_THAT(refusal([&] { numbers.sum(); }), HasSubstr("still to write"));
  work.reset();
  EXPECT_EQ(numbers.sum().item<float>(), 6);
  EXPECT_THAT(refusal([&] { double_them(handle); }), HasSubstr("may run before"));
}

TEST(FakeDevice, ASecondStreamIsWaitedForBeforeItsMemoryIsFreed) {
  if (!model::SideStream::runs_beside) {
    GTEST_SKIP() << "torch 2.10 does not tell the handle of a stream";
  }
  const model::SideStream side(fake_device());
  bool ran = false;
  {
    const auto numbers = at::ones({3}, on_fake(at::kFloat));
    const auto work = side.run([&](void* stream) {
      stereosweep::testing::run_on_device(
          "set", numbers.mutable_data_ptr(), 12, [&] { ran = true; }, stream);
    });
    EXPECT_FALSE(ran);
  }
  EXPECT_TRUE(ran);
}

TEST(FakeDevice, FindsPinnedMemoryThatIsWrittenTooEarly) {
  auto up = at::empty({3}, at::TensorOptions(at::kFloat).pinned_memory(true)).fill_(2);
  const auto numbers = up.to(fake_device(), true);
  up.fill_(3);
  EXPECT_THAT(refusal([&] { numbers.to(at::kCPU); }), HasSubstr("wrote into pinned memory"));
}

struct PackedRows {
  at::Tensor query, key, value, query_begin, key_begin;
};

// Segments of 1 and 4 queries, 6 and 7 keys; 4 heads share 2 key heads of width 8.
PackedRows packed_rows() {
  stereosweep::testing::draw_from(11);
  const auto rows = [](std::int64_t count, std::int64_t heads) { return at::randn({count, heads, 8}).to(at::kHalf); };
  const auto begins = [](std::vector<int> numbers) { return at::tensor(numbers, at::kInt); };
  return {rows(5, 4), rows(13, 2), rows(13, 2), begins({0, 1, 5}), begins({0, 6, 13})};
}

auto flash(const PackedRows& rows, std::int64_t longest_query, std::int64_t window) {
  const auto up = [](const at::Tensor& tensor) { return tensor.to(fake_device()); };
  return at::_flash_attention_forward(up(rows.query), up(rows.key), up(rows.value), up(rows.query_begin),
                                      up(rows.key_begin), longest_query, 7, 0.0, true, false, 0.25, window,
                                      std::nullopt);
}

TEST(FakeDevice, FlashAttentionIsAlignedAtTheLastQueryAndKey) {
  const auto rows = packed_rows();
  for (const std::int64_t window : {-1, 2}) {
    const auto found = flash(rows, 4, window);
    for (const auto& [query, first_key, last_key] : {std::tuple(0, 0, 6), std::tuple(2, 6, 11), std::tuple(4, 6, 13)}) {
      const auto begin = window < 0 ? first_key : std::max<std::int64_t>(first_key, last_key - 1 - window);
      for (std::int64_t head = 0; head < 4; ++head) {
        const auto keys = rows.key.slice(0, begin, last_key).select(1, head / 2).to(at::kDouble);
        const auto values = rows.value.slice(0, begin, last_key).select(1, head / 2).to(at::kDouble);
        const auto scores = at::matmul(keys, rows.query[query][head].to(at::kDouble)).mul(0.25);
        const auto expected = at::matmul(at::softmax(scores, 0), values);
        const auto mixed = std::get<0>(found).to(at::kCPU)[query][head].to(at::kDouble);
        EXPECT_LT(mixed.sub(expected).abs().max().item<double>(), 2e-3);
        EXPECT_NEAR(std::get<1>(found).to(at::kCPU)[head][query].item<double>(),
                    at::logsumexp(scores, 0).item<double>(), 1e-5);
      }
    }
  }
}

TEST(FakeDevice, FlashAttentionKeepsItsRules) {
  const auto rows = packed_rows();
  EXPECT_THAT(refusal([&] { flash(rows, 1, -1); }), HasSubstr("a segment has 4 queries, the longest 1"));
  auto few = rows;
  few.query_begin = at::tensor({0, 1, 1}, at::kInt);  // the second has none
  EXPECT_THAT(refusal([&] { flash(few, 1, -1); }), HasSubstr("every segment has one"));
  EXPECT_EQ(refusal([&] { flash(few, 2, -1); }), "accepted");
  auto wide = rows;
  for (auto* numbers : {&wide.query, &wide.key, &wide.value}) {
    *numbers = numbers->to(at::kFloat);
  }
  EXPECT_THAT(refusal([&] { flash(wide, 4, -1); }), HasSubstr("fp16 and bf16"));
}

// Segments may share keys: they begin anywhere, and a number says how many are used.
TEST(FakeDevice, FlashAttentionTakesKeysFromAnyPlace) {
  const auto rows = packed_rows();
  const auto up = [](const at::Tensor& tensor) { return tensor.to(fake_device()); };
  const auto found = at::_flash_attention_forward(up(rows.query), up(rows.key), up(rows.value), up(rows.query_begin),
                                                  up(at::tensor({2, 6, 13}, at::kInt)), 4, 7, 0.0, true, false, 0.25,
                                                  -1, std::nullopt, up(at::tensor({5, 7}, at::kInt)));
  auto other = rows;
  other.key = at::cat({rows.key.slice(0, 2, 7), rows.key.slice(0, 6, 13)});
  other.value = at::cat({rows.value.slice(0, 2, 7), rows.value.slice(0, 6, 13)});
  other.key_begin = at::tensor({0, 5, 12}, at::kInt);
  EXPECT_TRUE(std::get<0>(found).to(at::kCPU).equal(std::get<0>(flash(other, 4, -1)).to(at::kCPU)));
}

TEST(FakeDevice, EfficientAttentionGivesTheSumsOfItsSegments) {
  const auto rows = packed_rows();
  const auto up = [](const at::Tensor& tensor) { return tensor.to(fake_device()); };
  const auto every_head = [&](const at::Tensor& key) {
    return up(key.to(at::kFloat).repeat_interleave(2, 1).unsqueeze(0));
  };
  const auto found = at::_efficient_attention_forward(up(rows.query.to(at::kFloat).unsqueeze(0)), every_head(rows.key),
                                                      every_head(rows.value), std::nullopt, up(rows.query_begin),
                                                      up(rows.key_begin), 4, 7, 0.0, 2, true, 0.25);
  const auto by_flash = flash(rows, 4, -1);
  const auto difference = [](const at::Tensor& left, const at::Tensor& right) {
    return left.to(at::kCPU).to(at::kDouble).sub(right.to(at::kCPU).to(at::kDouble)).abs().max().item<double>();
  };
  EXPECT_LT(difference(std::get<0>(found).squeeze(0), std::get<0>(by_flash)), 2e-3);
  const auto sums = std::get<1>(found);
  ASSERT_EQ(sums.sizes(), (std::vector<std::int64_t>{2, 4, 32}));
  EXPECT_LT(difference(sums[1].slice(1, 0, 4), std::get<1>(by_flash).slice(1, 1, 5)), 1e-4);
}

// Everything that an answer says, as numbers.
std::vector<double> numbers_of(const query::Answer& answer) {
  std::vector<double> numbers;
  if (const auto* error = std::get_if<query::QueryError>(&answer)) {
    ADD_FAILURE() << error->message;
  } else if (const auto* fill = std::get_if<query::FillAnswer>(&answer)) {
    for (const auto& slot : fill->slots) {
      numbers.insert(numbers.end(), slot.logprob.begin(), slot.logprob.end());
      numbers.insert(numbers.end(), {slot.log_mass_initial, slot.log_mass_continuation});
      for (const auto& set : slot.set) {
        numbers.insert(numbers.end(), {set.distance_bias, set.distance_plain});
      }
    }
  } else if (const auto* continued = std::get_if<query::ContinueAnswer>(&answer)) {
    for (const auto& tokens : continued->logprob) {
      numbers.insert(numbers.end(), tokens.begin(), tokens.end());
    }
  } else if (const auto* embedded = std::get_if<query::EmbedAnswer>(&answer)) {
    numbers.assign(embedded->vector.begin(), embedded->vector.end());
  } else {
    const auto& generated = std::get<query::GenerateAnswer>(answer);
    numbers.assign(generated.ids.begin(), generated.ids.end());
    numbers.push_back(generated.mean_logprob);
  }
  return numbers;
}

void expect_near(const std::vector<query::Answer>& found, const std::vector<query::Answer>& expected, double most) {
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto left = numbers_of(found[i]);
    const auto right = numbers_of(expected[i]);
    ASSERT_EQ(left.size(), right.size()) << "query " << i;
    ASSERT_FALSE(left.empty());
    for (std::size_t j = 0; j < left.size(); ++j) {
      EXPECT_NEAR(left[j], right[j], most * (1 + std::abs(right[j]))) << "query " << i << ", number " << j;
      worst = std::max(worst, std::abs(left[j] - right[j]) / (1 + std::abs(right[j])));
    }
  }
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
}

double most_difference(at::ScalarType type) {
  return stereosweep::testing::most_error(type, 2, 1) + (type == at::kFloat ? 1e-4 : 0);
}

std::vector<query::Query> causal_queries(at::ScalarType type) {
  std::vector<query::Query> queries = {
      query::Continue{"x the", {" ab", " cd the", " a"}}, query::Continue{"x the ab cd", {" x"}},
      query::Embed{"x ab", {2, 4}, 1, query::Pool::mean, query::VectorSource::hidden_state},
      query::Embed{"x ab the cd", {2, 11}, -1, query::Pool::mean, query::VectorSource::hidden_state},
      query::Embed{"x ab", {2, 4}, 0, query::Pool::last, query::VectorSource::input_embedding}};
  if (type == at::kFloat) {  // with 16 bits another token may win
    query::Generate text;
    text.prompt = "x the ab";
    text.max_new_tokens = 3;
    queries.emplace_back(text);
    text.temperature = 0.8;
    text.seed = 5;
    queries.emplace_back(text);
    text.top_k = 7;
    queries.emplace_back(text);
    text.top_k = 0;
    text.top_p = 0.7;
    text.prompt = "cd the";
    queries.emplace_back(text);
    text.repetition_penalty = 1.3;
    queries.emplace_back(text);
  }
  return queries;
}

class OfDtypes : public ::testing::TestWithParam<at::ScalarType> {};
INSTANTIATE_TEST_SUITE_P(FakeDevice, OfDtypes, ::testing::Values(at::kFloat, at::kBFloat16, at::kHalf),
                         [](const auto& tested) { return std::string(at::toString(tested.param)); });

TEST_P(OfDtypes, DecodersAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  const auto queries = causal_queries(type);
  int number = 0;
  for (const auto& shape : testing::decoder_shapes()) {
    SCOPED_TRACE("shape " + std::to_string(number));
    stereosweep::testing::draw_from(static_cast<std::uint64_t>(++number));
    const auto plain = testing::drawn_model(shape);
    const auto answers_on = [&](const at::TensorOptions& options) {
      CausalEngine engine(model::make_causal_model(shape, model::testing::weights_of(plain, options)), tokenizer,
                          CausalSettings{64, {}});
      return engine.answer(queries);
    };
    reset_device_counts();
    expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
    EXPECT_GT(device_counts().all_launches(), 0);
  }
}

TEST_P(OfDtypes, ExpertsInBlocksOfFourBitsAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  const auto files = testing::gpt_oss_files();
  const auto shape = model::read_causal_specification(files);
  const auto answers_on = [&](const at::TensorOptions& options) {
    const c10::InferenceMode guard;
    CausalEngine engine(model::make_causal_model(shape, model::load_causal_weights(files, shape, options)), tokenizer,
                        CausalSettings{64, {}});
    return engine.answer(causal_queries(type));
  };
  expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
}

// Several calls, since what one leaves in pinned memory the next one uses.
TEST_P(OfDtypes, AnswersDoNotFollowTheMomentsOfCopies) {
  const auto type = GetParam();
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  const auto queries = causal_queries(at::kFloat);
  std::uint64_t number = 0;
  for (const auto& shape : testing::decoder_shapes()) {
    SCOPED_TRACE("shape " + std::to_string(number));
    stereosweep::testing::draw_from(++number);
    const auto plain = testing::drawn_model(shape);
    const auto answers_at = [&](std::uint64_t seed) {
      stereosweep::testing::set_copy_order(seed);
      CausalEngine engine(model::make_causal_model(shape, model::testing::weights_of(plain, on_fake(type))), tokenizer,
                          CausalSettings{16, {}});
      auto answers = engine.answer(queries);
      for (auto& more : engine.answer(queries)) {
        answers.push_back(std::move(more));
      }
      stereosweep::testing::set_copy_order(0);
      return answers;
    };
    expect_near(answers_at(number), answers_at(0), 0);
  }
}

TEST_P(OfDtypes, MaskedModelsAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto files = testing::letter_files(2);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  query::Fill fill{"a [MASK] b [MASK] c", {}, true, true};
  fill.slots = {{std::nullopt, {7, 8, 9}}, {std::nullopt, {33, 20}}};
  const std::vector<query::Query> queries = {fill, query::Embed{"a b c", {0, 3}, -1, query::Pool::mean},
                                             query::Embed{"d e f g h", {4, 9}, 1, query::Pool::first}};
  const auto answers_on = [&](const at::TensorOptions& options) {
    const c10::InferenceMode guard;
    const auto specification = model::read_masked_specification(files);
    return MaskedEngine(
               model::make_masked_model(specification, model::load_masked_weights(files, specification, options)),
               tokenizer, 64)
        .answer(queries);
  };
  expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
}

TEST_P(OfDtypes, OtherEncodersAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto tokenizer = tokenizer::Tokenizer::from_files(testing::letter_files(2));
  query::Fill fill{"a [MASK] b c d e f g h", {}, true, true};
  fill.slots = {{std::nullopt, {7, 8, 9}}};
  const std::vector<query::Query> queries = {fill, query::Embed{"a b c", {0, 3}, -1, query::Pool::mean},
                                             query::Embed{"d e f g h", {4, 9}, 1, query::Pool::first}};
  std::uint64_t number = 0;
  for (const auto& shape : testing::encoder_shapes()) {
    SCOPED_TRACE("shape " + std::to_string(number));
    ++number;
    const auto answers_on = [&](const at::TensorOptions& options) {
      stereosweep::testing::draw_from(number);
      const c10::InferenceMode guard;
      return MaskedEngine(model::make_masked_model(shape, testing::DrawnEncoder(shape, options).weights()), tokenizer,
                          64)
          .answer(queries);
    };
    expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
  }
}

// Numbers of rows of the output matrix: with 16 bits all but the first get rows of zeros below them.
constexpr std::int64_t vocabularies[] = {272, 273, 279};

std::vector<query::Query> queries_of_texts(double penalty) {
  std::vector<query::Query> queries;
  for (const auto& [temperature, top_k, top_p] :
       std::vector<std::tuple<double, int, double>>{{0, 0, 1}, {1, 0, 1}, {1.5, 9, 1}, {2, 0, 0.9}, {1, 400, 1}}) {
    query::Generate text;
    text.prompt = "x the ab";
    text.max_new_tokens = 4;
    text.temperature = temperature;
    text.top_k = top_k;
    text.top_p = top_p;
    text.seed = 3;
    text.repetition_penalty = penalty;
    queries.emplace_back(text);
  }
  return queries;
}

// All logits are about -24: a column that is no token's, whose numbers are 0, would take the whole mass.
model::testing::PlainModel model_far_below_zero(const model::CausalSpecification& shape) {
  auto plain = model::testing::random_model(shape, {}, 0.1);
  const auto numbers = [&] { return model::testing::random_numbers({shape.vocabulary, shape.hidden}, 0.1, -0.375); };
  plain.final_norm->weight = model::testing::random_numbers({shape.hidden}, 0.05);
  plain.final_norm->bias = at::ones({shape.hidden});
  plain.words = numbers();
  plain.head = shape.tied_head ? plain.words : numbers();
  return plain;
}

enum class HeadBias { none, stored };

void expect_no_other_columns(const model::CausalSpecification& shape, HeadBias bias, at::ScalarType type) {
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  const auto plain = model_far_below_zero(shape);
  const auto engine_on = [&](const at::TensorOptions& options) {
    auto weights = model::testing::weights_of(plain, options);
    if (bias == HeadBias::none) {
      weights.head_bias = at::Tensor();
    }
    return CausalEngine(model::make_causal_model(shape, std::move(weights)), tokenizer, CausalSettings{64, {}});
  };
  auto on_device = engine_on(on_fake(type));
  const auto queries = causal_queries(type);
  expect_near(on_device.answer(queries), engine_on(at::TensorOptions(type)).answer(queries), most_difference(type));
  for (const double penalty : {1.0, 1.2}) {
    for (const auto& answer : on_device.answer(queries_of_texts(penalty))) {
      const auto& text = std::get<query::GenerateAnswer>(answer);
      EXPECT_THAT(text.ids, ::testing::Each(::testing::Lt(shape.vocabulary)));
      EXPECT_GT(text.mean_logprob, -20);
    }
  }
}

TEST_P(OfDtypes, ColumnsThatAreNoTokensCountNowhere) {
  auto shape = testing::gpt2_like();
  shape.layers.assign(2, model::LayerKind{});
  std::uint64_t number = 0;
  for (const auto vocabulary : vocabularies) {
    for (const bool tied : {true, false}) {
      for (const auto bias : {HeadBias::none, HeadBias::stored}) {
        SCOPED_TRACE("model " + std::to_string(number));
        stereosweep::testing::draw_from(++number);
        shape.vocabulary = vocabulary;
        shape.tied_head = tied;
        expect_no_other_columns(shape, bias, GetParam());
      }
    }
  }
}

TEST_P(OfDtypes, EncodersWithAnyVocabularyAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto tokenizer = tokenizer::Tokenizer::from_files(testing::letter_files(2));
  query::Fill fill{"a [MASK] b c d e f g h", {}, true, true};
  fill.slots = {{std::nullopt, {7, 8, 9}}};
  for (const std::int64_t vocabulary : {40, 41, 47}) {
    SCOPED_TRACE(vocabulary);
    auto shape = testing::small_encoder();
    shape.vocabulary = vocabulary;
    const auto answers_on = [&](const at::TensorOptions& options) {
      stereosweep::testing::draw_from(static_cast<std::uint64_t>(vocabulary));
      const c10::InferenceMode guard;
      return MaskedEngine(model::make_masked_model(shape, testing::DrawnEncoder(shape, options).weights()), tokenizer,
                          64)
          .answer(std::vector<query::Query>{fill});
    };
    expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
  }
}

// Experts without biases: many rows in groups, few rows densely.
TEST_P(OfDtypes, ExpertsAnswerAsOnTheProcessor) {
  const auto type = GetParam();
  const auto tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  auto shape = testing::mixtral_like();
  shape.layers.assign(2, model::LayerKind{});
  stereosweep::testing::draw_from(3);
  const auto plain = model::testing::without_biases(model::testing::random_model(shape, {}, 0.1));
  std::vector<query::Query> queries;
  for (int i = 0; i < 12; ++i) {
    queries.emplace_back(query::Continue{testing::letters(20, i), {" x", " ab"}});
  }
  for (const std::int64_t batch_tokens : {16, 1024}) {
    const auto answers_on = [&](const at::TensorOptions& options) {
      CausalEngine engine(model::make_causal_model(shape, model::testing::weights_of(plain, options)), tokenizer,
                          CausalSettings{batch_tokens, {}});
      return engine.answer(queries);
    };
    expect_near(answers_on(on_fake(type)), answers_on(at::TensorOptions(type)), most_difference(type));
  }
}

// Launches of one more layer and waits of a whole call with one batch: whoever needs more must say why.
TEST(FakeDevice, BatchesAskLittleOfIt) {
  struct Most {
    std::string name;
    testing::Make make;
    testing::Ask ask;
    std::int64_t launches;
    std::int64_t waits;
  };
  const std::vector<Most> all = {
      {"masked: fill", testing::bert(at::kBFloat16), testing::asks(testing::fills(false)), 8, 1},
      {"masked: SeT", testing::bert(at::kBFloat16), testing::asks(testing::fills(true)), 8, 1},
      {"masked: embed", testing::bert(at::kBFloat16), testing::asks(testing::vectors()), 8, 1},
      {"tree as of LLaMA", testing::decoder(testing::llama_like(), at::kBFloat16), testing::asks(testing::tree()), 20,
       1},
      {"tree as of GPT-2", testing::decoder(testing::gpt2_like(), at::kBFloat16), testing::asks(testing::tree()), 15,
       1}};
  for (const auto& most : all) {
    const auto few = testing::counts_of(most.make, 2, most.ask);
    const auto many = testing::counts_of(most.make, 4, most.ask);
    EXPECT_GT(many.all_launches(), few.all_launches()) << most.name;
    EXPECT_LE(many.all_launches() - few.all_launches(), 2 * most.launches) << most.name;
    EXPECT_LE(many.blocking_copies(), most.waits) << most.name;
    EXPECT_EQ(many.blocking_copies(), few.blocking_copies()) << most.name << ": a layer waits";
  }
}

}  // namespace
}  // namespace stereosweep::engine
