// The engine on a tiny BERT of seeded weights, against the model's own logits for each sequence alone.
#include "engine/masked/MaskedEngine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "base/Error.hpp"
#include "engine/EngineFactory.hpp"
#include "engine/LetterFiles.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;
using ::testing::HasSubstr;

// Letters are words, "##a" .. "##e" continuations; 36 tokens, so that the last 4 of 40 logit rows have none.
class MaskedEngineTest : public ::testing::Test {
 protected:
  static constexpr TokenId mask = 4;

  std::unique_ptr<query::Engine> engine(std::int64_t batch_tokens = 64,
                                        query::Dtype dtype = query::Dtype::float32) const {
    EngineSettings settings;
    settings.dtype = dtype;
    settings.device = query::Device::cpu;
    settings.batch_tokens = batch_tokens;
    return make_engine(settings, files, tokenizer);
  }

  static query::Fill fill(const std::string& text, std::vector<std::vector<TokenId>> targets) {
    query::Fill made{text, {}, true, true};
    for (auto& ids : targets) {
      made.slots.push_back({std::nullopt, std::move(ids)});
    }
    return made;
  }

  // Texts of 1 to 12 letters with one or two masks, every query several targets.
  static std::vector<query::Query> random_queries(int count, unsigned seed) {
    std::mt19937 rng(seed);
    std::vector<query::Query> queries;
    for (int i = 0; i < count; ++i) {
      std::string text = "[MASK]";
      const auto letters = rng() % 12;
      for (unsigned j = 0; j < letters; ++j) {
        text += std::string(" ") + static_cast<char>('a' + rng() % 26);
      }
      const bool second = rng() % 2 == 0;
      std::vector<std::vector<TokenId>> targets(second ? 2 : 1);
      for (auto& ids : targets) {
        ids = {static_cast<TokenId>(rng() % 40), static_cast<TokenId>(rng() % 40), 39};
      }
      queries.emplace_back(fill(text + (second ? " [MASK]" : ""), targets));
    }
    return queries;
  }

  // Logits of one row of one sequence, by the model alone.
  std::vector<float> logits_of(const std::vector<TokenId>& ids, std::int64_t row) const {
    const auto model = model::MaskedModel::load(files, query::Dtype::float32, query::Device::cpu);
    const model::Packed packed{ids, {static_cast<std::int32_t>(ids.size())}};
    const std::vector<std::int64_t> rows = {row};
    const auto logits = model->logits(model->head_input(model->hidden(packed, model->shape().num_layers, rows)));
    return {logits.const_data_ptr<float>(), logits.const_data_ptr<float>() + logits.numel()};
  }

  base::FileSet files = testing::letter_files();
  tokenizer::Tokenizer tokenizer = tokenizer::Tokenizer::from_files(files);
};

const query::FillAnswer& numbers(const query::Answer& answer) { return std::get<query::FillAnswer>(answer); }

bool same_bits(const query::Answer& left, const query::Answer& right) {
  const auto& a = numbers(left).slots;
  const auto& b = numbers(right).slots;
  bool same = a.size() == b.size();
  for (std::size_t i = 0; same && i < a.size(); ++i) {
    same = a[i].logprob == b[i].logprob && a[i].log_mass_initial == b[i].log_mass_initial &&
           a[i].log_mass_continuation == b[i].log_mass_continuation && a[i].set.size() == b[i].set.size();
    for (std::size_t j = 0; same && j < a[i].set.size(); ++j) {
      same = a[i].set[j].distance_bias == b[i].set[j].distance_bias &&
             a[i].set[j].distance_plain == b[i].set[j].distance_plain;
    }
  }
  return same;
}

TEST_F(MaskedEngineTest, NumbersEqualTheModelsOwnLogits) {
  const std::vector<query::Query> queries = {fill("a [MASK] b [MASK].", {{7, 33, 39}, {8}}), fill("[MASK]", {{5}})};
  const auto answers = engine()->answer(queries);
  // [CLS] a [MASK] b [MASK] [UNK] [SEP]
  const std::vector<TokenId> ids = {2, 5, mask, 6, mask, 1, 3};
  const auto logits = logits_of(ids, 2);
  double total = 0;
  double continuation = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    total += std::exp(static_cast<double>(logits[i]));
    continuation += i >= 31 ? std::exp(static_cast<double>(logits[i])) : 0;  // "##x" and rows without a token
  }
  const auto& slot = numbers(answers[0]).slots[0];
  ASSERT_EQ(slot.logprob.size(), 3U);
  EXPECT_NEAR(slot.logprob[1], static_cast<double>(logits[33]) - std::log(total), 1e-5);
  EXPECT_NEAR(slot.log_mass_continuation, std::log(continuation / total), 1e-5);
  EXPECT_NEAR(slot.log_mass_initial, std::log1p(-continuation / total), 1e-5);
  ASSERT_EQ(slot.set.size(), 3U);
  for (const auto& set : slot.set) {
    EXPECT_NE(set.status_bias, query::SetStatus::not_certified);
    EXPECT_LT(set.distance_bias, set.distance_plain * 2 + 1);
    EXPECT_GE(set.distance_plain, 0);
  }
}

TEST_F(MaskedEngineTest, BitsDependOnTheSetOfQueriesAlone) {
  for (const auto dtype : {query::Dtype::float32, query::Dtype::bfloat16, query::Dtype::float16}) {
    const auto queries = random_queries(150, 1);
    auto shuffled = queries;
    shuffled.insert(shuffled.end(), queries.begin(), queries.end());
    std::mt19937 rng(2);
    std::vector<std::size_t> order(shuffled.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), rng);
    std::vector<query::Query> mixed;
    for (const auto i : order) {
      mixed.push_back(shuffled[i]);
    }
    const auto plain = engine(64, dtype);
    const auto first = plain->answer(queries);
    const auto second = engine(64, dtype)->answer(mixed);
    const auto again = plain->answer(queries);  // earlier calls leave no trace
    for (std::size_t i = 0; i < order.size(); ++i) {
      ASSERT_TRUE(same_bits(second[i], first[order[i] % queries.size()]));
    }
    for (std::size_t i = 0; i < queries.size(); ++i) {
      ASSERT_TRUE(same_bits(first[i], again[i]));
    }
  }
}

TEST_F(MaskedEngineTest, BatchesOfAnySizeAgreeWithOneQueryACall) {
  const auto queries = random_queries(80, 3);
  const auto alone = engine();
  for (const std::int64_t budget : {1, 30, 100, 100000}) {
    const auto packed = engine(budget)->answer(queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto single = alone->answer({&queries[i], 1});
      for (std::size_t slot = 0; slot < numbers(packed[i]).slots.size(); ++slot) {
        const auto& left = numbers(packed[i]).slots[slot];
        const auto& right = numbers(single[0]).slots[slot];
        for (std::size_t j = 0; j < left.logprob.size(); ++j) {
          ASSERT_NEAR(left.logprob[j], right.logprob[j], 1e-4);
          ASSERT_NEAR(left.set[j].distance_bias, right.set[j].distance_bias, 1e-4);
        }
      }
    }
  }
}

TEST_F(MaskedEngineTest, CountsDistinctWorkOnly) {
  const auto plain = engine();
  auto filled = fill("[MASK] [MASK]", {{}, {9}});
  filled.slots[0].filled = 7;
  const std::vector<query::Query> queries = {
      fill("a [MASK]", {{5}}), fill("a [MASK]", {{6, 7}}), fill("A [MASK]", {{8}}), fill("[MASK]", {{}}), filled,
      fill("c [MASK]", {{9}})};
  plain->answer(queries);
  EXPECT_EQ(plain->counts().queries, 6U);
  // "A" is lower-cased; "c [MASK]" is what the filled one becomes; nobody reads "[MASK]"
  EXPECT_EQ(plain->counts().distinct_sequences, 2U);
  EXPECT_EQ(plain->counts().distinct_tokens, 8U);
  EXPECT_EQ(plain->counts().head_rows, 2U);
}

TEST_F(MaskedEngineTest, AFilledSlotReplacesItsMask) {
  auto filled = fill("a [MASK] [MASK]", {{}, {9, 10}});
  filled.slots[0].filled = 5 + 25;  // "z"
  const auto answers = engine()->answer(std::vector<query::Query>{filled, fill("a z [MASK]", {{9, 10}})});
  EXPECT_EQ(numbers(answers[0]).slots[1].logprob, numbers(answers[1]).slots[0].logprob);
  EXPECT_TRUE(numbers(answers[0]).slots[0].logprob.empty());
}

TEST_F(MaskedEngineTest, AQueryAtFaultSpoilsNoOther) {
  const auto good = fill("a b [MASK]", {{9}});
  std::string longest = "[MASK]";
  for (int i = 0; i < 21; ++i) {
    longest += " a";  // 24 tokens with the special ones: all that the model allows
  }
  auto bad_filling = good;
  bad_filling.slots[0].filled = 40;
  std::vector<query::Query> queries = {good,
                                       fill("a b", {{9}}),
                                       fill("a b", {}),
                                       fill("[MASK]", {{40}}),
                                       fill("[MASK]", {{-1}}),
                                       bad_filling,
                                       fill("\xff [MASK]", {{9}}),
                                       fill(longest + " a", {{9}}),
                                       query::Continue{"a", {"b"}},
                                       query::Generate{"a", 1, 0, 0, 1, 0, {}},
                                       query::Embed{"a b", {1, 1}, -1, query::Pool::mean},
                                       query::Embed{"a b", {0, 1}, 3, query::Pool::mean},
                                       query::Embed{"a b", {0, 1}, -4, query::Pool::mean}};
  const std::vector<std::string> reasons = {"",
                                            "1 id list for 0 masks",
                                            "the text holds no mask",
                                            "outside the vocabulary",
                                            "outside",
                                            "outside",
                                            "UTF-8",
                                            "too long",
                                            "continue",
                                            "generate",
                                            "no token overlaps",
                                            "layer 3",
                                            "layer -4"};
  const auto plain = engine();
  const auto answers = plain->answer(queries);
  for (std::size_t i = 1; i < queries.size(); ++i) {
    const auto* error = std::get_if<query::QueryError>(&answers[i]);
    ASSERT_NE(error, nullptr) << i;
    EXPECT_THAT(error->message, HasSubstr(reasons[i]));
    EXPECT_EQ(error->fault == query::QueryFault::too_long, i == 7);
  }
  const std::vector<query::Query> only = {good};
  EXPECT_TRUE(same_bits(answers[0], plain->answer(only)[0]));
  const std::vector<query::Query> fits = {fill(longest, {{9}})};
  EXPECT_TRUE(std::holds_alternative<query::FillAnswer>(plain->answer(fits)[0]));
}

TEST_F(MaskedEngineTest, PoolsAreMeansOfTheTokensOfTheSpan) {
  // "ab" is two pieces: a ##b
  const auto ask = [](query::Pool pool, base::Span span) { return query::Embed{"c ab d", span, 1, pool}; };
  const std::vector<query::Query> queries = {ask(query::Pool::mean, {2, 4}), ask(query::Pool::first, {2, 4}),
                                             ask(query::Pool::last, {2, 4}), ask(query::Pool::mean, {2, 3}),
                                             ask(query::Pool::mean, {3, 4})};
  const auto answers = engine()->answer(queries);
  const auto vector = [&](std::size_t i) { return std::get<query::EmbedAnswer>(answers[i]).vector; };
  EXPECT_EQ(vector(1), vector(3));
  EXPECT_EQ(vector(2), vector(4));
  for (std::size_t i = 0; i < vector(0).size(); ++i) {
    EXPECT_NEAR(vector(0)[i], (vector(1)[i] + vector(2)[i]) / 2, 1e-6);
  }
}

TEST_F(MaskedEngineTest, VectorsOfMixedLengthsAndLayersAreThoseOfEachTextAlone) {
  std::mt19937 rng(3);
  std::vector<query::Query> queries;
  std::set<std::pair<int, std::string>> inputs;  // however many spans are asked
  for (int i = 0; i < 40; ++i) {
    std::string text = "q";
    for (auto letters = rng() % 12; letters > 0; --letters) {
      text += std::string(" ") + static_cast<char>('a' + rng() % 26);
    }
    const auto layer = static_cast<int>(rng() % 3);
    inputs.insert({{layer, text}, {2, text}});
    const auto start = 2 * (rng() % (text.size() / 2 + 1));
    queries.emplace_back(query::Embed{text, {start, start + 1}, layer, query::Pool::mean});
    queries.emplace_back(query::Embed{text, {0, text.size()}, -1, static_cast<query::Pool>(rng() % 3)});
    queries.emplace_back(query::Embed{text, {start, text.size()}, 2, query::Pool::mean});
  }
  const auto engine_alone = engine();
  for (const std::int64_t batch_tokens : {7, 64, 4096}) {
    const auto all = engine(batch_tokens);
    const auto answers = all->answer(queries);
    EXPECT_EQ(all->counts().distinct_sequences, inputs.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto alone = std::get<query::EmbedAnswer>(engine_alone->answer(std::span(queries).subspan(i, 1))[0]).vector;
      const auto& vector = std::get<query::EmbedAnswer>(answers[i]).vector;
      ASSERT_EQ(vector.size(), alone.size());
      for (std::size_t j = 0; j < vector.size(); ++j) {
        ASSERT_NEAR(vector[j], alone[j], 1e-5) << i;
      }
    }
  }
}

TEST_F(MaskedEngineTest, InputVectorsAreRowsOfTheStoredMatrix) {
  const auto bytes = model::testing::tiny_checkpoint("bert").tensors.at("bert.embeddings.word_embeddings.weight").bytes;
  std::vector<float> matrix(bytes.size() / sizeof(float));
  std::memcpy(matrix.data(), bytes.data(), bytes.size());
  std::string longer_than_the_model;
  for (int i = 0; i < 40; ++i) {
    longer_than_the_model += "a ";
  }
  const auto ask = [](const std::string& text, base::Span span, query::Pool pool) {
    return query::Embed{text, span, 99, pool, query::VectorSource::input_embedding};
  };
  const std::vector<query::Query> queries = {
      ask("c ab d", {2, 4}, query::Pool::mean), ask("c ab d", {2, 4}, query::Pool::first),
      ask("c ab d", {2, 4}, query::Pool::last), ask(longer_than_the_model + "z", {80, 81}, query::Pool::mean),
      ask("c", {1, 1}, query::Pool::mean)};
  const auto plain = engine();
  const auto answers = plain->answer(queries);
  EXPECT_EQ(plain->counts().distinct_tokens, 0U);
  const auto row = [&](std::int64_t id, std::int64_t i) { return matrix[id * model::testing::tiny_hidden + i]; };
  const std::int64_t a = 5;
  const std::int64_t z = a + 25;
  const std::int64_t following_b = z + 2;  // "##b"
  for (std::int64_t i = 0; i < model::testing::tiny_hidden; ++i) {
    const auto number = [&](std::size_t query) {
      return std::get<query::EmbedAnswer>(answers[query]).vector.at(static_cast<std::size_t>(i));
    };
    EXPECT_FLOAT_EQ(number(0), (row(a, i) + row(following_b, i)) / 2);
    EXPECT_EQ(number(1), row(a, i));
    EXPECT_EQ(number(2), row(following_b, i));
    EXPECT_EQ(number(3), row(z, i));
  }
  EXPECT_THAT(std::get<query::QueryError>(answers[4]).message, HasSubstr("no token overlaps"));
}

TEST_F(MaskedEngineTest, SaysWhatTheCheckpointCannotPredict) {
  EXPECT_EQ(engine()->lacks(query::Prediction::masked), std::nullopt);
  EXPECT_THAT(engine()->lacks(query::Prediction::next).value_or(""), HasSubstr("masked model"));
  auto checkpoint = model::testing::tiny_checkpoint("bert");
  std::erase_if(checkpoint.tensors, [](const auto& tensor) { return tensor.first.starts_with("cls."); });
  auto headless = checkpoint.files();
  headless.add("vocab.txt", *files.find("vocab.txt"));
  const auto vectors_only = make_engine({.device = query::Device::cpu}, headless, tokenizer);
  EXPECT_THAT(vectors_only->lacks(query::Prediction::masked).value_or(""), HasSubstr("no masked-language-model head"));
}

TEST_F(MaskedEngineTest, SettingsAreChecked) {
  EngineSettings settings;
  settings.threads = 0;
  EXPECT_THROW(make_engine(settings, files, tokenizer), base::InputError);
  settings.threads = 1;
  settings.batch_tokens = 0;
  EXPECT_THROW(make_engine(settings, files, tokenizer), base::InputError);
  EXPECT_EQ(device_description({.kind = query::EngineKind::fake}, base::FileSet("")), "fake");
  EXPECT_FALSE(device_description({.device = query::Device::cpu}, base::FileSet("")).empty());
}

}  // namespace
}  // namespace stereosweep::engine
