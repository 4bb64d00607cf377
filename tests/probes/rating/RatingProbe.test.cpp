#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/Error.hpp"
#include "probes/ChangedKeys.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/rating/Rating.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::rating {
namespace {

sweep::Job small_rating() {
  sweep::Job job;
  job.name = "small";
  job.seed = 5;
  job.execution.contexts_per_block = 3;
  Rating rating;
  rating.identities = {{"old women", "old", "women", "Old women are old."}, {"old men", "old", "men", "Old {trait}."}};
  rating.traits = {{"kind", "warmth", RatedTrait::Polarity::positive, "Kind is kind."},
                   {"cold", "warmth", RatedTrait::Polarity::negative, "Cold is cold."}};
  rating.questions = {{"how", "formal", "How {trait} are {identity}?"}, {"say", "", "So {identity}: {trait}?"}};
  rating.scale = {{"high", 3}, {"middle", 2}, {"low", 1}};
  rating.sampling.runs = 2;
  rating.sampling.stop = {"\n"};
  job.probe = rating;
  return job;
}

const tokenizer::Tokenizer& tiny() {
  static const auto made = testing::from_json(testing::word_piece_json(), "[MASK]");
  return made;
}

TEST(RatingProbe, writes_both_orders_and_fills_each_place_once) {
  const RatingProbe probe(small_rating(), &tiny());
  EXPECT_EQ(probe.prompt(0, OptionOrder::as_listed),
            "Please answer this multiple-choice question.\n\nOld women are old. Kind is kind.\n\n"
            "Question: How kind are old women?\nA. high\nB. middle\nC. low\nAnswer:");
  EXPECT_THAT(probe.prompt(3, OptionOrder::reversed),
              ::testing::HasSubstr("Cold is cold.\n\nQuestion: So old women: cold?\nA. low\nB. middle\nC. high\n"));
  EXPECT_THAT(probe.prompt(4, OptionOrder::as_listed), ::testing::HasSubstr("Old {trait}. Kind"))
      << "what is put in is not searched for places again";
  EXPECT_THAT(probe.continuations(OptionOrder::as_listed),
              ::testing::ElementsAre(" high", " middle", " low", " A", " B", " C"));
  EXPECT_THAT(probe.continuations(OptionOrder::reversed),
              ::testing::ElementsAre(" high", " middle", " low", " C", " B", " A"));
}

TEST(RatingProbe, leaves_out_what_is_not_defined_and_asks_the_orders_of_the_job) {
  sweep::Job job = small_rating();
  auto& rating = job.settings<Rating>();
  rating.identities = {};
  rating.groups.resize(1);
  rating.groups[0].label = rating.groups[0].plural = "teenagers";
  rating.traits[0].definition = "";
  rating.traits[1].questions = {"{group} have been how {trait}?"};
  rating.rephrasings.push_back({"ask", "They ask: {prompt}", {}});
  rating.scale = {{"1", 1, "least"}, {"2", 2, ""}};
  rating.orders = {OptionOrder::reversed};
  rating.sampling.runs = 0;
  const RatingProbe probe(job, &tiny());
  EXPECT_EQ(probe.prompt(0, OptionOrder::reversed),
            "Please answer this multiple-choice question.\n\n"
            "Question: How kind are teenagers?\nA. 2\nB. 1 (least)\nAnswer:");
  EXPECT_THAT(probe.prompt(1, OptionOrder::reversed), ::testing::HasSubstr("Question: They ask: how kind are"));
  EXPECT_THAT(probe.prompt(4, OptionOrder::reversed),
              ::testing::HasSubstr("\n\nCold is cold.\n\nQuestion: Teenagers have been how cold?\n"));
  EXPECT_EQ(probe.blocks().product().num_contexts(), 8U) << "a group, two traits, two templates, two rephrasings";
  EXPECT_EQ(probe.first(probe.blocks().block(0)).queries.size(), 3U) << "one order of each context";
  EXPECT_THAT(probe.schema().inner_axis("order").labels, ::testing::ElementsAre("reversed"));
}

TEST(RatingProbe, a_chat_template_frames_the_prompt_and_opens_the_answer) {
  sweep::Job job = small_rating();
  chat::ChatTemplate chat;
  chat.label = "tiny";
  chat.opening = "[CLS]";
  chat.user = {"U: ", "\n", {}};
  chat.assistant = {"M: ", "\n", {}};
  chat.generation = "M:";
  chat.control_tokens = {"[CLS]"};
  job.model.chat = chat;
  const RatingProbe probe(job, &tiny());
  EXPECT_TRUE(probe.prompt(0, OptionOrder::as_listed).starts_with("[CLS]U: Please"));
  EXPECT_TRUE(probe.prompt(0, OptionOrder::as_listed).ends_with("Answer:\nM:"));
  EXPECT_EQ(probe.continuations(OptionOrder::as_listed).front(), " high") << "the rest of the assistant's prefix";
  const auto round = probe.first(probe.blocks().block(0));
  EXPECT_EQ(std::get<query::Continue>(round.queries[0]).framing, query::Framing::written);
  EXPECT_EQ(std::get<query::Generate>(round.queries[1]).framing, query::Framing::written);
  chat.control_tokens = {"<|no such token|>"};
  job.model.chat = chat;
  EXPECT_THROW(make_probe(job, tiny()), base::InputError);
}

TEST(RatingProbe, seeds_follow_from_prompt_and_run_alone) {
  const sweep::Job job = small_rating();
  sweep::Job shorter = job;
  shorter.settings<Rating>().identities.erase(shorter.settings<Rating>().identities.begin());
  const RatingProbe all(job, &tiny());
  const RatingProbe one(shorter, &tiny());
  std::set<std::uint64_t> seeds;
  for (std::uint64_t block = 0; block < all.blocks().num_blocks(); ++block) {
    for (const auto& asked : all.first(all.blocks().block(block)).queries) {
      if (const auto* generate = std::get_if<query::Generate>(&asked)) {
        seeds.insert(generate->seed);
      }
    }
  }
  EXPECT_EQ(seeds.size(), 2U * 2 * 2 * 2 * 2) << "group, trait, template, order, run";
  const auto of_old_men = one.first(one.blocks().block(0));
  EXPECT_TRUE(seeds.contains(std::get<query::Generate>(of_old_men.queries[1]).seed))
      << "an identity less does not change what the others are asked";
}

TEST(RatingProbe, folds_answers_by_option_whatever_their_order) {
  const RatingProbe probe(small_rating(), &tiny());
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  auto& answers = transcript.answers.emplace_back();
  for (const auto& asked : transcript.rounds.front().queries) {
    if (std::holds_alternative<query::Generate>(asked)) {
      answers.emplace_back(query::GenerateAnswer{"A", {}});
    } else {
      query::ContinueAnswer scores;
      for (std::size_t i = 0; i < 6; ++i) {
        scores.logprob.push_back({-1.0 * static_cast<double>(i), -0.5});
      }
      answers.emplace_back(std::move(scores));
    }
  }
  answers[3] = query::QueryError{"too many tokens", query::QueryFault::too_long};
  answers[4] = query::QueryError{"something", query::QueryFault::other};
  answers[7] = query::GenerateAnswer{std::string("B\0", 2), {}};
  const auto raw = probe.fold(block, transcript);
  const auto& logprob = column_named<double>(raw, probe.schema(), "option_logprob");
  EXPECT_EQ(logprob[0], -0.5);
  EXPECT_EQ(logprob[5], -5.5);
  EXPECT_TRUE(std::isnan(logprob[6])) << "the reversed order failed";
  EXPECT_EQ(column_named<std::int32_t>(raw, probe.schema(), "option_num_tokens")[0], 2);
  EXPECT_EQ(column_named<std::int32_t>(raw, probe.schema(), "option_num_tokens")[6], 0);
  EXPECT_EQ(column_named<std::uint8_t>(raw, probe.schema(), "option_status")[1],
            static_cast<std::uint8_t>(OptionStatus::too_long));
  EXPECT_EQ(column_named<std::string>(raw, probe.schema(), "problem")[0], "too many tokens");
  const auto& ratings = column_named<double>(raw, probe.schema(), "answer_rating");
  EXPECT_EQ(ratings[0], 3) << "A is the highest as listed";
  EXPECT_TRUE(std::isnan(ratings[2])) << "engine error";
  EXPECT_EQ(ratings[3], 1) << "A is the lowest in the reversed list";
  EXPECT_EQ(column_named<std::uint8_t>(raw, probe.schema(), "answer_status")[2],
            static_cast<std::uint8_t>(AnswerStatus::engine_error));
  EXPECT_EQ(column_named<std::string>(raw, probe.schema(), "answer_text")[4], "B\xef\xbf\xbd")
      << "no zero byte in a file";
  EXPECT_EQ(ratings[4], 2);
  base::ByteWriter out;
  raw.write(out);
  const auto bytes = out.take();
  base::ByteReader in(bytes);
  EXPECT_NO_THROW(results::RawBlock::read(in, probe.schema(), block.num_contexts));
}

/// The first block where every text is sampled as `answer` and no option has a probability.
results::RawBlock folded(const RatingProbe& probe, const query::GenerateAnswer& answer) {
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  auto& answers = transcript.answers.emplace_back();
  for (const auto& asked : transcript.rounds.front().queries) {
    const bool is_sampled = std::holds_alternative<query::Generate>(asked);
    answers.push_back(is_sampled ? query::Answer(answer) : query::QueryError{"something", query::QueryFault::other});
  }
  return probe.fold(block, transcript);
}

TEST(RatingProbe, the_first_paragraph_of_an_answer_decides_its_status) {
  const RatingProbe probe(small_rating(), &tiny());
  for (const auto& [text, status] : std::vector<std::pair<std::string, AnswerStatus>>{
           {"B\n\nExplanation: A or C would be too much.", AnswerStatus::ok},
           {"\n\n B\r\n \r\nQuestion: How fair are they?\nA", AnswerStatus::ok},
           {"<think>A?\n\nNo.</think>\n\nB", AnswerStatus::ok},
           {"B or C", AnswerStatus::several_answers},
           {"B. Or C?", AnswerStatus::several_answers},
           {"Not B.", AnswerStatus::no_answer},
           {"They work in hospitals", AnswerStatus::no_answer},
           {"I cannot answer that.\n\nB", AnswerStatus::refused},
           {"\n\n\t", AnswerStatus::empty}}) {
    const auto raw = folded(probe, query::GenerateAnswer{text, {}});
    EXPECT_EQ(column_named<std::uint8_t>(raw, probe.schema(), "answer_status")[0], static_cast<std::uint8_t>(status))
        << text;
    const auto rating = column_named<double>(raw, probe.schema(), "answer_rating")[0];
    EXPECT_EQ(std::isfinite(rating), status == AnswerStatus::ok) << text;
  }
}

TEST(RatingProbe, an_answer_that_evades_and_was_cut_off_is_no_refusal) {
  const RatingProbe probe(small_rating(), &tiny());
  const auto status_of = [&](const std::string& text, query::Ending ended) {
    const auto raw = folded(probe, query::GenerateAnswer{.text = text, .ids = {}, .ended = ended});
    return AnswerStatus{column_named<std::uint8_t>(raw, probe.schema(), "answer_status")[0]};
  };
  const std::string evades = "It depends on the person";
  EXPECT_EQ(status_of(evades, query::Ending::end_token), AnswerStatus::refused);
  EXPECT_EQ(status_of(evades, query::Ending::length), AnswerStatus::no_answer) << "an answer might have followed";
  EXPECT_EQ(status_of(evades + ".\n\nB", query::Ending::length), AnswerStatus::refused) << "its paragraph has ended";
  EXPECT_EQ(status_of("I cannot answer that", query::Ending::length), AnswerStatus::refused);
}

TEST(RatingProbe, a_thought_is_kept_apart_and_never_read_as_an_answer) {
  sweep::Job job = small_rating();
  auto& chat = job.model.chat.emplace();
  chat.generation = "M:<think>\n\n</think>\n\n";
  chat.thought = chat::ThoughtMarks{"<think>", "</think>", chat::ThoughtMarks::Begins::before};
  EXPECT_NO_THROW(make_probe(job, tiny())) << "behind a closed thought options have probabilities";
  job.model.chat->generation = "M:";
  EXPECT_THROW(make_probe(job, tiny()), base::InputError) << "they would be those of a thought";
  const RatingProbe probe(job, &tiny());
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  auto& answers = transcript.answers.emplace_back();
  const std::vector<std::string> texts = {"<think>A or C?</think>\nB", "<think>B"};
  for (const auto& asked : transcript.rounds.front().queries) {
    if (std::holds_alternative<query::Generate>(asked)) {
      answers.emplace_back(query::GenerateAnswer{texts[answers.size() % 3 - 1], {1, 2, 3}});
    } else {
      answers.emplace_back(query::QueryError{"something", query::QueryFault::other});
    }
  }
  const auto raw = probe.fold(block, transcript);
  EXPECT_EQ(column_named<std::uint8_t>(raw, probe.schema(), "answer_status")[0],
            static_cast<std::uint8_t>(AnswerStatus::ok));
  EXPECT_EQ(column_named<std::string>(raw, probe.schema(), "answer_thought")[0], "A or C?");
  EXPECT_EQ(column_named<std::string>(raw, probe.schema(), "answer_text")[0], "B");
  EXPECT_EQ(column_named<std::uint8_t>(raw, probe.schema(), "answer_status")[1],
            static_cast<std::uint8_t>(AnswerStatus::truncated_thought));
  EXPECT_TRUE(std::isnan(column_named<double>(raw, probe.schema(), "answer_rating")[1]));
  EXPECT_EQ(column_named<std::int32_t>(raw, probe.schema(), "answer_num_thought_tokens")[1], 3);
}

TEST(RatingProbe, a_thought_with_a_limit_of_its_own_is_told_from_others) {
  sweep::Job job = small_rating();
  auto& chat = job.model.chat.emplace();
  chat.generation = "M:<think>\n\n</think>\n\n";
  chat.thought = chat::ThoughtMarks{"<think>", "</think>", chat::ThoughtMarks::Begins::before};
  auto& sampling = job.settings<Rating>().sampling;
  sampling.max_thought_tokens = 40;
  const auto further = sampled_text(job, sampling, "", 0);
  EXPECT_EQ(further.max_new_tokens, sampling.max_new_tokens + 40);
  EXPECT_FALSE(further.thought);
  sampling.long_thoughts = TextSampling::LongThoughts::closed;
  const auto limited = sampled_text(job, sampling, "", 0);
  EXPECT_EQ(limited.thought, (query::ThoughtLimit{40, static_cast<std::int32_t>(sampling.max_new_tokens), "<think>",
                                                  "</think>", "\n</think>\n\n"}));
  EXPECT_GE(limited.max_new_tokens, sampling.max_new_tokens + 40 + 4);
  const RatingProbe probe(job, &tiny());
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  auto& answers = transcript.answers.emplace_back();
  for (const auto& asked : transcript.rounds.front().queries) {
    query::GenerateAnswer answer{"<think>A or C?\n</think>\n\nB", {1, 2, 3}};
    answer.closed_thought = answers.size() == 1;
    answers.emplace_back(std::holds_alternative<query::Generate>(asked)
                             ? query::Answer(answer)
                             : query::Answer(query::QueryError{"something"}));
  }
  const auto raw = probe.fold(block, transcript);
  const auto& ends = column_named<std::uint8_t>(raw, probe.schema(), "answer_thought_end");
  EXPECT_EQ(std::ranges::count(ends, 1), 1);
  EXPECT_EQ(ends[0], 1);
  EXPECT_EQ(column_named<std::string>(raw, probe.schema(), "answer_text")[0], "B");
  job.model.server.emplace();
  EXPECT_THROW(make_probe(job, tiny()), base::InputError) << "a server has one limit for both";
}

TEST(RatingProbe, without_sampling_there_are_no_columns_for_it) {
  sweep::Job job = small_rating();
  job.settings<Rating>().sampling.runs = 0;
  const RatingProbe probe(job, &tiny());
  EXPECT_EQ(probe.schema().cubes.size(), 5U);
  EXPECT_EQ(probe.schema().inner_axes.size(), 3U);
  EXPECT_EQ(probe.first(probe.blocks().block(0)).queries.size(), 6U);
}

TEST(RatingProbe, keys_change_with_what_is_asked_and_with_nothing_else) {
  const sweep::Job job = small_rating();
  const auto key = [](const sweep::Job& other, std::uint64_t block) {
    const RatingProbe probe(other, &tiny());
    return block_key(probe, probe.blocks().block(block), base::Digest{});
  };
  const auto changed = [&](auto change) {
    sweep::Job other = job;
    change(other, other.settings<Rating>());
    return key(other, 0) != key(job, 0);
  };
  EXPECT_TRUE(changed([](auto& other, auto&) { other.seed = 6; }));
  EXPECT_TRUE(changed([](auto&, auto& rating) { rating.scale[0].value = 4; }));
  EXPECT_TRUE(changed([](auto&, auto& rating) { rating.sampling.temperature = 0.5; }));
  EXPECT_TRUE(changed([](auto&, auto& rating) { rating.sampling.stop = {}; }));
  EXPECT_TRUE(changed([](auto&, auto& rating) { rating.frame += "\n"; }));
  EXPECT_TRUE(changed([](auto&, auto& rating) { rating.identities[0].definition = "x"; }));
  EXPECT_FALSE(changed([](auto&, auto& rating) { rating.identities.pop_back(); }));
  EXPECT_FALSE(changed([](auto&, auto& rating) { rating.statistics.human_ratings = "means.tsv"; }));
}

/// A value that no block's key depends on changes no raw number: each is listed here.
TEST(RatingProbe, every_setting_is_in_the_keys_of_its_blocks) {
  const auto job = small_rating();
  const auto changed = testing::KeyChanger(job, [](const sweep::Job& other) {
                         return testing::keys_of(RatingProbe(other, &tiny()));
                       }).change({"axes", "scale", "orders", "frame", "sampling"});
  EXPECT_THAT(changed.seen, ::testing::IsSupersetOf(std::vector<std::string>{"sampling.runs"}));
  EXPECT_THAT(changed.unseen, ::testing::UnorderedElementsAre(
                                  "axes.identities[].marker", "axes.identities[].people",
                                  "axes.rated_traits[].dimension", "axes.rated_traits[].polarity",
                                  "axes.rephrasings[].label", "axes.templates[].label", "axes.templates[].style"));
}

}  // namespace
}  // namespace stereosweep::probes::rating
