// The engine over a model of formulas, against the same formulas applied to each text alone.
#include "engine/causal/CausalEngine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "engine/CausalTokenizer.hpp"
#include "engine/PathModel.hpp"
#include "engine/QueryInput.hpp"
#include "engine/causal/NewText.hpp"
#include "engine/readout/RowSampling.hpp"
#include "query/Sampling.hpp"

namespace stereosweep::engine {
namespace {

using query::TokenId;
using testing::Path;
using testing::PathModel;

class CausalEngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<CausalEngine> engine(std::int64_t batch_tokens) {
    auto made = std::make_unique<PathModel>(shape);
    model = made.get();
    return std::make_unique<CausalEngine>(std::move(made), tokenizer, CausalSettings{batch_tokens, end_tokens});
  }

  std::string words(int number) {
    const std::vector<std::string> list = {" the", " ab", " cd", " x", " a", "b", "\xC3\xA9", " "};
    std::string text;
    for (int i = 0; i < number; ++i) {
      text += list[rng() % list.size()];
    }
    return text;
  }
  std::string prompt() { return std::vector<std::string>{"x the", "x the ab", "y", ""}[rng() % 4] + words(rng() % 4); }

  std::vector<query::Query> random_queries(int count) {
    std::vector<query::Query> queries;
    for (int i = 0; i < count; ++i) {
      switch (rng() % 3) {
        case 0: {
          const auto text = "x" + prompt();
          queries.emplace_back(
              query::Embed{text,
                           {0, text.size()},
                           static_cast<int>(rng() % 4),
                           static_cast<query::Pool>(rng() % 3),
                           rng() % 3 == 0 ? query::VectorSource::input_embedding : query::VectorSource::hidden_state});
          break;
        }
        case 1:
          queries.emplace_back(random_generate());
          break;
        default: {
          query::Continue asked{prompt(), {}};
          for (unsigned j = 0; j <= rng() % 3; ++j) {
            asked.continuations.push_back("z" + words(static_cast<int>(rng() % 3)));
          }
          queries.emplace_back(asked);
        }
      }
    }
    return queries;
  }

  query::Generate random_generate() {
    query::Generate asked;
    asked.prompt = prompt();
    asked.max_new_tokens = static_cast<std::int32_t>(rng() % 12);
    asked.temperature = rng() % 2 == 0 ? 0 : 0.8;
    asked.top_k = rng() % 2 == 0 ? 0 : 20;
    asked.top_p = rng() % 2 == 0 ? 1 : 0.7;
    asked.seed = rng() % 3;
    if (rng() % 3 == 0) {
      asked.stop = {"e", " ab"};
    }
    asked.repetition_penalty = std::vector{1.0, 1.0, 1.3, 0.7}[rng() % 4];
    return asked;
  }

  std::vector<float> logits(const Path& path) const { return PathModel(shape).logits_of_path(path); }

  // One text alone, by the formulas.
  void expect_right(const query::Query& asked, const query::Answer& answer) const {
    if (const auto* embed = std::get_if<query::Embed>(&asked)) {
      InputPlan plan;
      plan_vector(*embed, tokenizer, {.num_layers = PathModel::layers, .ids = 270, .max_tokens = 64}, plan);
      std::vector<std::vector<float>> states;
      for (const auto& row : plan.input_rows) {
        for (const auto id : row.ids) {
          states.push_back(PathModel::state_of({id}, PathModel::input_layer));
        }
      }
      for (const auto& input : plan.sequences) {
        for (const auto& use : input.uses) {
          states.push_back(
              PathModel::state_of(Path(input.ids.begin(), input.ids.begin() + use.position + 1), input.layer));
        }
      }
      std::vector<double> mean(PathModel::width);
      for (const auto& state : states) {
        for (std::size_t i = 0; i < mean.size(); ++i) {
          mean[i] += state[i];
        }
      }
      const auto& vector = std::get<query::EmbedAnswer>(answer).vector;
      for (std::size_t i = 0; i < mean.size(); ++i) {
        EXPECT_EQ(vector.at(i), static_cast<float>(mean[i] / static_cast<double>(states.size())));
      }
    } else if (const auto* generate = std::get_if<query::Generate>(&asked)) {
      expect_right(*generate, std::get<query::GenerateAnswer>(answer));
    } else {
      expect_right(std::get<query::Continue>(asked), std::get<query::ContinueAnswer>(answer));
    }
  }

  void expect_right(const query::Continue& asked, const query::ContinueAnswer& answer) const {
    const ContinuationBorder border(asked.prompt, tokenizer, query::Framing::tokenizer);
    ASSERT_EQ(answer.logprob.size(), asked.continuations.size());
    for (std::size_t i = 0; i < asked.continuations.size(); ++i) {
      const auto joint = border.join(asked.continuations[i]);
      ASSERT_EQ(answer.logprob[i].size(), joint.ids.size() - joint.begin);
      for (auto place = joint.begin; place < joint.ids.size(); ++place) {
        const auto row = logits(Path(joint.ids.begin(), joint.ids.begin() + static_cast<std::ptrdiff_t>(place)));
        double total = 0;
        for (const double value : row) {
          total += std::exp(value);
        }
        EXPECT_NEAR(answer.logprob[i][place - joint.begin],
                    static_cast<double>(row[static_cast<std::size_t>(joint.ids[place])]) - std::log(total), 1e-6);
      }
    }
  }

  void expect_right(const query::Generate& asked, const query::GenerateAnswer& answer) const {
    const auto prompt = tokenizer.encode(asked.prompt, tokenizer::SpecialTokens::add).ids;
    auto path = prompt;
    NewText text(asked, tokenizer, end_tokens);
    for (std::uint64_t step = 0; !text.is_finished(); ++step) {
      const auto row = logits(path);
      const auto next = next_token(penalized(row, prompt, text.ids(), asked.repetition_penalty),
                                   sampling_of(asked, step, row.size()));
      double total = 0;
      for (const double value : row) {
        total += std::exp(value);
      }
      text.add(next, static_cast<double>(row[static_cast<std::size_t>(next)]) - std::log(total));
      path.push_back(next);
    }
    const auto expected = text.take();
    EXPECT_EQ(answer.ids, expected.ids);
    EXPECT_EQ(answer.text, expected.text);
    EXPECT_EQ(answer.ended, expected.ended);
    if (std::isnan(expected.mean_logprob)) {
      EXPECT_TRUE(std::isnan(answer.mean_logprob));
    } else {
      EXPECT_NEAR(answer.mean_logprob, expected.mean_logprob, 1e-6);
    }
  }

  model::ModelShape shape = PathModel::usual_shape();
  tokenizer::Tokenizer tokenizer = testing::causal_tokenizer(testing::FirstToken::beginning);
  std::vector<TokenId> end_tokens = {1, 60, 61, 62, 63, 64, 65, 66};
  PathModel* model = nullptr;
  std::mt19937 rng{1};
};

TEST_F(CausalEngineTest, AnswersAreThoseOfEachTextAlone) {
  const auto queries = random_queries(300);
  for (const std::int64_t batch_tokens : {1, 30, 100000}) {
    const auto answers = engine(batch_tokens)->answer(queries);
    for (std::size_t i = 0; i < queries.size(); ++i) {
      expect_right(queries[i], answers[i]);
    }
  }
}

bool same_bits(const query::Answer& left, const query::Answer& right) {
  if (const auto* one = std::get_if<query::ContinueAnswer>(&left)) {
    return one->logprob == std::get<query::ContinueAnswer>(right).logprob;
  }
  if (const auto* one = std::get_if<query::EmbedAnswer>(&left)) {
    return one->vector == std::get<query::EmbedAnswer>(right).vector;
  }
  return std::get<query::GenerateAnswer>(left).ids == std::get<query::GenerateAnswer>(right).ids;
}

TEST_F(CausalEngineTest, OrderRepeatsAndEarlierCallsDoNotShow) {
  const auto queries = random_queries(120);
  std::vector<std::size_t> order(2 * queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), rng);
  std::vector<query::Query> mixed;
  for (const auto i : order) {
    mixed.push_back(queries[i % queries.size()]);
  }
  const auto one = engine(50);
  const auto first = one->answer(queries);
  const auto counts = one->counts();
  const auto other = engine(50);
  const auto second = other->answer(mixed);
  for (std::size_t i = 0; i < order.size(); ++i) {
    ASSERT_TRUE(same_bits(second[i], first[order[i] % queries.size()]));
  }
  EXPECT_EQ(other->counts().distinct_tokens, counts.distinct_tokens);
  EXPECT_EQ(other->counts().head_rows, counts.head_rows);
  EXPECT_EQ(other->counts().distinct_sequences, counts.distinct_sequences);
  const auto again = one->answer(queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    ASSERT_TRUE(same_bits(again[i], first[i]));
  }
}

TEST_F(CausalEngineTest, CountsAreWhatThePlanSays) {
  auto queries = random_queries(200);
  std::erase_if(queries, [](const auto& asked) { return std::holds_alternative<query::Generate>(asked); });
  for (const std::int64_t batch_tokens : {20, 1000}) {
    const auto one = engine(batch_tokens);
    one->answer(queries);
    const auto planned = count_causal(plan_causal(queries, tokenizer, shape), batch_tokens);
    EXPECT_EQ(one->counts().distinct_tokens, planned.tokens);
    EXPECT_EQ(one->counts().head_rows, planned.head_rows);
    EXPECT_EQ(one->counts().distinct_sequences, planned.sequences);
    EXPECT_EQ(one->counts().queries, queries.size());
  }
}

TEST_F(CausalEngineTest, TextsThatGrowAlikeRunOnce) {
  query::Generate asked{"x the", 8, 0, 0, 1, 0, {}, query::Framing::tokenizer};
  end_tokens.clear();
  auto longer = asked;
  longer.prompt = "x the ab";
  auto shorter = asked;
  shorter.max_new_tokens = 5;
  const std::vector<query::Query> queries = {asked, longer, asked, shorter};
  const auto one = engine(1000);
  const auto answers = one->answer(queries);
  const auto& whole = std::get<query::GenerateAnswer>(answers[0]).ids;
  const auto& part = std::get<query::GenerateAnswer>(answers[3]).ids;
  ASSERT_EQ(whole.size(), 8U);
  EXPECT_EQ(part, Path(whole.begin(), whole.begin() + 5));
  EXPECT_EQ(one->counts().distinct_sequences, 3U);  // the repeated one is the same text
  // <s> x the, the once more as a prompt's last token, ab, then 7 tokens of two texts: the last one drawn is not run,
  // the shorter text shares the other's
  EXPECT_EQ(one->counts().distinct_tokens, 3U + 1 + 1 + 7 + 7);
  EXPECT_EQ(one->counts().head_rows, 8U + 8);
}

TEST_F(CausalEngineTest, FieldsOutOfRangeSpoilTheirQueryOnly) {
  query::Generate good{"x the", 3, 0.5, 0, 1, 0, {}, query::Framing::tokenizer};
  std::vector<query::Query> queries(6, good);
  std::get<query::Generate>(queries[0]).repetition_penalty = 0;
  std::get<query::Generate>(queries[1]).repetition_penalty = std::numeric_limits<double>::quiet_NaN();
  std::get<query::Generate>(queries[2]).top_p = 0;
  std::get<query::Generate>(queries[3]).temperature = std::numeric_limits<double>::infinity();
  std::get<query::Generate>(queries[4]).max_new_tokens = -1;
  const auto answers = engine(1000)->answer(queries);
  for (const std::size_t i : {0, 1}) {
    EXPECT_THAT(std::get<query::QueryError>(answers[i]).message, ::testing::HasSubstr("repetition_penalty"));
  }
  for (const std::size_t i : {2, 3, 4}) {
    EXPECT_THAT(std::get<query::QueryError>(answers[i]).message, ::testing::HasSubstr("out of range"));
  }
  expect_right(queries[5], answers[5]);
}

TEST_F(CausalEngineTest, AThoughtWhoseClosingTextHasNoTokensSpoilsItsQueryOnly) {
  const auto files = testing::causal_tokenizer_files(testing::FirstToken::beginning);
  auto json = base::parse_json(files.at("tokenizer.json").text(), "tokenizer.json");
  json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "</t>"}}}, {"content", ""}};
  base::FileSet dropping("tiny");
  dropping.add("tokenizer.json", base::to_shared(json.dump()));
  tokenizer = tokenizer::Tokenizer::from_files(dropping);
  query::Generate asked{"x the", 3, 0.5, 0, 1, 0, {}, query::Framing::tokenizer};
  std::vector<query::Query> queries(2, asked);
  query::limit_thought(std::get<query::Generate>(queries[0]), {2, 0, "", "</t>", "</t>"});
  const auto answers = engine(1000)->answer(queries);
  EXPECT_THAT(std::get<query::QueryError>(answers[0]).message, ::testing::HasSubstr("\"</t>\" has no tokens"));
  expect_right(queries[1], answers[1]);
}

TEST_F(CausalEngineTest, MemoryOfKeysAndValuesIsBounded) {
  std::vector<query::Query> queries;
  for (int i = 0; i < 60; ++i) {
    queries.emplace_back(query::Generate{
        "x " + std::to_string(i), 20, 0.9, 0, 1, static_cast<std::uint64_t>(i), {}, query::Framing::tokenizer});
  }
  end_tokens.clear();
  const auto one = engine(10);
  const auto answers = one->answer(queries);
  EXPECT_LE(model->largest_memory, 160);
  EXPECT_GT(model->largest_memory, 100);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    expect_right(queries[i], answers[i]);
  }
}

// A block remembers 160 rows: three texts of up to 40 tokens and their prompts.
TEST_F(CausalEngineTest, TheNextTextEntersWhereOneEnds) {
  end_tokens.clear();
  std::vector<query::Query> queries;
  std::size_t tokens = 0;
  for (int i = 0; i < 40; ++i) {
    const std::int32_t length = i % 3 == 0 ? 40 : 4;
    tokens += static_cast<std::size_t>(length);
    queries.emplace_back(query::Generate{i % 2 == 0 ? "x the ab cd" : "x the " + std::to_string(i),
                                         length,
                                         0.9,
                                         0,
                                         1,
                                         static_cast<std::uint64_t>(i),
                                         {},
                                         query::Framing::tokenizer});
  }
  const auto one = engine(10);
  const auto answers = one->answer(queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    expect_right(queries[i], answers[i]);
  }
  EXPECT_LE(model->largest_memory, 160);
  // Three at a time take a third of the tokens as passes; in turns that wait for the longest one it would be more.
  EXPECT_LT(model->passes, static_cast<int>(tokens / 2));
  // Prompts that begin alike run their beginnings once while a text holds them: a few tokens of each run alone.
  EXPECT_LT(one->counts().distinct_tokens, tokens + 40 * 6);
}

// 320 rows: not two texts of the 200 tokens that each may have; most end much earlier.
TEST_F(CausalEngineTest, TextsEnterBeforeAllTheirRoomIsThere) {
  shape.max_tokens = 512;
  end_tokens = {1, 60, 61, 62};
  std::vector<query::Query> queries;
  for (int i = 0; i < 40; ++i) {
    queries.emplace_back(query::Generate{
        "x the " + std::to_string(i), 200, 0.9, 0, 1, static_cast<std::uint64_t>(i), {}, query::Framing::tokenizer});
  }
  const auto one = engine(20);
  const auto answers = one->answer(queries);
  const auto passes = model->passes;
  EXPECT_LE(model->largest_memory, 320);
  std::size_t tokens = 0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    expect_right(queries[i], answers[i]);
    const auto length = std::get<query::GenerateAnswer>(answers[i]).ids.size();
    tokens += length + 1;
    longest = std::max(longest, length);
  }
  EXPECT_GT(longest, 64U) << "texts must outgrow what they enter with";
  EXPECT_LT(passes, static_cast<int>(tokens / 2)) << "one at a time would take all of them";
  const auto roomy = engine(100000);
  roomy->answer(queries);
  EXPECT_GT(one->counts().distinct_tokens, roomy->counts().distinct_tokens) << "no text has waited";
  EXPECT_LT(one->counts().distinct_tokens, roomy->counts().distinct_tokens + tokens / 2);
  EXPECT_EQ(one->counts().distinct_sequences, queries.size());
  std::ranges::reverse(queries);
  const auto again = engine(20)->answer(queries);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    EXPECT_EQ(std::get<query::GenerateAnswer>(again[i]).mean_logprob,
              std::get<query::GenerateAnswer>(answers[queries.size() - 1 - i]).mean_logprob);
  }
}

TEST_F(CausalEngineTest, ASessionForgetsTextsWhereRoomRunsOut) {
  shape.max_tokens = 2048;
  std::uint64_t spared = 0;
  for (int conversation = 0; conversation < 10; ++conversation) {
    const auto one = engine(40);
    const auto other = engine(40);
    const auto session = one->begin_session();
    std::vector<std::string> prompts(4 + rng() % 9);
    std::ranges::generate(prompts, [&] { return prompt(); });
    for (int turn = 0; turn < 4; ++turn) {
      std::vector<query::Query> queries;
      for (std::size_t i = 0; i < prompts.size(); ++i) {
        queries.emplace_back(query::Generate{prompts[i], 150, 0.9, 0, 1, i, {}, query::Framing::tokenizer});
      }
      const auto call = session->plan(queries);
      call->run();
      const auto answers = call->read();
      other->answer(queries);
      for (std::size_t i = 0; i < queries.size(); ++i) {
        expect_right(queries[i], answers[i]);
        prompts[i] += std::get<query::GenerateAnswer>(answers[i]).text + words(3);
      }
      spared +=
          other->counts().distinct_tokens - std::min(other->counts().distinct_tokens, call->cost().distinct_tokens);
    }
  }
  EXPECT_GT(spared, 1000U);
}

TEST_F(CausalEngineTest, ProjectionsOfWideVocabulariesAreBounded) {
  shape.vocabulary = 400000;
  std::vector<query::Query> queries;
  for (char letter = 'a'; letter <= 'p'; ++letter) {
    for (const auto* continuation : {"z", "zz", "z a", "za cd"}) {
      queries.emplace_back(query::Continue{std::string("x ") + letter, {continuation}});
    }
  }
  const auto answers = engine(1000)->answer(queries);
  EXPECT_LE(model->largest_product * 4, std::int64_t{256} << 20U);
  expect_right(queries[5], answers[5]);
}

TEST_F(CausalEngineTest, NumbersThatAreNotFiniteSpoilTheirQueryOnly) {
  const std::vector<query::Query> queries = {
      query::Continue{"x the", {" ab", " cd"}},
      query::Continue{"x Q", {" ab"}},
      query::Continue{"x the", {" ab", " Q", " Qx"}},  // what comes after a Q is NaN, the Q itself is not
      query::Embed{"x the Q", {6, 7}, -1, query::Pool::mean},
      query::Embed{"x the Q", {0, 5}, -1, query::Pool::mean},
      query::Generate{"x Q", 3, 0, 0, 1, 0, {}, query::Framing::tokenizer},
      query::Generate{"x the", 3, 0, 0, 1, 0, {}, query::Framing::tokenizer}};
  const auto answers = engine(1000)->answer(queries);
  for (const std::size_t i : {1, 2, 3, 5}) {
    const auto* error = std::get_if<query::QueryError>(&answers[i]);
    ASSERT_NE(error, nullptr) << i;
    EXPECT_THAT(error->message, ::testing::HasSubstr("not finite"));
  }
  for (const std::size_t i : {0, 4, 6}) {
    expect_right(queries[i], answers[i]);
  }
}

TEST_F(CausalEngineTest, IdsWithoutAnEmbeddingAreErrors) {
  shape.ids = 120;  // bytes up to 'u'
  const std::vector<query::Query> queries = {query::Continue{"a", {"x"}}, query::Continue{"a", {"bc"}},
                                             query::Generate{"a", 40, 5, 0, 1, 3, {}, query::Framing::tokenizer}};
  const auto answers = engine(1000)->answer(queries);
  EXPECT_THAT(std::get<query::QueryError>(answers[0]).message, ::testing::HasSubstr("id 122"));
  EXPECT_TRUE(std::holds_alternative<query::QueryError>(answers[1]));  // "ab" is a token of its own
  EXPECT_THAT(std::get<query::QueryError>(answers[2]).message, ::testing::HasSubstr("the model chose id"));
}

// Conversations: each prompt of a turn holds the one before, mostly with its answer; some end, some are new, some say
// something else than was answered.
TEST_F(CausalEngineTest, TurnsOfASessionAreThoseOfEachTextAlone) {
  shape.max_tokens = 512;
  std::uint64_t spared = 0;
  for (const std::int64_t batch_tokens : {4, 40, 100000}) {
    for (int conversation = 0; conversation < 10; ++conversation) {
      const auto one = engine(batch_tokens);
      const auto other = engine(batch_tokens);
      const auto session = one->begin_session();
      std::vector<std::string> prompts(1 + rng() % 12);
      std::ranges::generate(prompts, [&] { return prompt(); });
      for (int turn = 0; turn < 5; ++turn) {
        std::vector<query::Query> queries;
        for (const auto& text : prompts) {
          auto asked = random_generate();
          asked.prompt = text;
          queries.emplace_back(asked);
        }
        const auto call = session->plan(queries);
        call->run();
        const auto answers = call->read();
        other->answer(queries);
        for (std::size_t i = 0; i < queries.size(); ++i) {
          expect_right(queries[i], answers[i]);
          const auto& said = std::get<query::GenerateAnswer>(answers[i]).text;
          prompts[i] = rng() % 8 == 0 ? prompt() : prompts[i] + (rng() % 4 == 0 ? words(1) : said) + words(3);
        }
        EXPECT_LE(call->cost().distinct_tokens, other->counts().distinct_tokens);
        spared += other->counts().distinct_tokens - call->cost().distinct_tokens;
        prompts.resize(prompts.size() - (prompts.size() > 1 && rng() % 3 == 0 ? 1 : 0));
      }
    }
  }
  EXPECT_GT(spared, 10000U);
}

TEST_F(CausalEngineTest, ASessionRunsOnlyWhatIsNew) {
  end_tokens.clear();
  const auto one = engine(1000);
  const auto session = one->begin_session();
  query::Generate asked{"x the ab", 2, 4, 0, 1, 0, {}, query::Framing::tokenizer};
  const auto reads_back = [&] {  // the prompt that holds the answer has the answer's ids
    const auto said = std::get<query::GenerateAnswer>(engine(1000)->answer(std::vector<query::Query>{asked}).front());
    return tokenizer.encode(asked.prompt + said.text, tokenizer::SpecialTokens::add).ids.size() == 6;
  };
  while (!reads_back()) {
    ++asked.seed;
  }
  const auto run = [&] {
    const std::vector<query::Query> queries = {asked};
    const auto call = session->plan(queries);
    call->run();
    return std::pair(std::get<query::GenerateAnswer>(call->read().front()).text, call->cost().distinct_tokens);
  };
  const auto [said, tokens] = run();
  EXPECT_EQ(tokens, 4U + 1);  // <s> x the ab, and all but the last new token
  asked.prompt += said + " the ab";
  EXPECT_EQ(run().second, 1U + 2 + 1);  // the last answer's last token, two more, all but the last new token
}

}  // namespace
}  // namespace stereosweep::engine
