// What an interview says, in which order it asks, and what it makes of scripted answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "probes/ChangedKeys.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/interview/Interview.hpp"
#include "results/Export.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::interview {
namespace {

const tokenizer::Tokenizer& words() {
  static const auto made = testing::word_piece();
  return made;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RatedItem item(const std::string& label, const std::string& dimension) {
  RatedItem made;
  made.label = made.text = label;
  made.dimension = dimension;
  return made;
}

Turn turn(const std::string& label, Turn::Kind kind, Turn::When when, const std::string& ask) {
  Turn made;
  made.label = label;
  made.kind = kind;
  made.when = when;
  made.ask = ask;
  return made;
}

/// One group; two conversations, of three turns and of one; forms with and without steps; two rounds.
sweep::Job small_interview() {
  sweep::Job job;
  job.name = "small";
  job.seed = 5;
  job.execution.contexts_per_block = 8;  // those of one group
  Interview interview;
  interview.groups.resize(2);
  interview.groups[0].label = interview.groups[0].plural = "nurses";
  interview.groups[1].label = interview.groups[1].plural = "old men";
  Conversation traits;
  traits.label = "traits";
  traits.instructions = "Say what most people think of {group}.";
  traits.turns = {turn("words", Turn::Kind::keywords, Turn::When::with_steps, "{group}: which words?"),
                  turn("why", Turn::Kind::reasons, Turn::When::with_steps, "Why?"),
                  turn("rate", Turn::Kind::ratings, Turn::When::always, "Rate {group} from {scale}.\n{items}")};
  traits.turns[0].most = 2;
  traits.turns[2].items = {item("warm", "warmth"), item("cold", "warmth")};
  traits.turns[2].items[1].polarity = RatedItem::Polarity::negative;
  traits.turns[2].items[1].definition = "not warm";
  traits.scale.low = "least";
  Conversation status;
  status.label = "status";
  status.scale.options = {{"high", 7}, {"low", -1}};
  status.turns = {turn("one", Turn::Kind::rating, Turn::When::always, "Are {group} {item}: {scale}?")};
  status.turns[0].items = {item("rich", "status")};
  interview.conversations = {traits, status};
  interview.forms = {{"full", "{instructions}\n\n{question}", PromptForm::Steps::asked},
                     {"short", "{question} Please.", PromptForm::Steps::left_out}};
  interview.rephrasings = {{"none", "{prompt}", {}}, {"say", "So: {prompt}", {}}};
  interview.sampling.rounds = 2;
  job.probe = interview;
  return job;
}

const std::string& prompt_in(const query::Query& query) { return std::get<query::Generate>(query).prompt; }

query::Answer text(const std::string& words, query::Ending ended = query::Ending::end_token) {
  query::GenerateAnswer answer;
  answer.text = words;
  answer.ids = {1, 2, 3};
  answer.mean_logprob = -0.5;
  answer.ended = ended;
  return answer;
}

template <class T>
const std::vector<T>& column(const InterviewProbe& probe, const results::RawBlock& block, const char* name) {
  return column_named<T>(block, probe.schema(), name);
}

std::string flag(const InterviewProbe& probe, const results::RawBlock& block, const char* name, std::size_t cell) {
  return meanings_of(probe.schema(), name).at(column<std::uint8_t>(probe, block, name).at(cell));
}

TEST(InterviewProbe, fills_places_and_puts_the_form_around_the_first_message) {
  const InterviewProbe probe(small_interview(), &words());
  EXPECT_THAT(probe.messages(0), ElementsAre("Say what most people think of nurses.\n\nNurses: which words?", "Why?",
                                             "Rate nurses from 1 (least) to 5.\n- warm\n- cold: not warm"));
  EXPECT_THAT(probe.messages(1),
              ElementsAre("Say what most people think of nurses.\n\nSo: nurses: which words?", "So: Why?",
                          "So: Rate nurses from 1 (least) to 5.\n- warm\n- cold: not warm"));
  EXPECT_THAT(probe.messages(2), ElementsAre("Rate nurses from 1 (least) to 5.\n- warm\n- cold: not warm Please."))
      << "a form without steps asks the ratings at once";
  EXPECT_THAT(probe.messages(4), ElementsAre("Are nurses rich: high, low?")) << "no instructions, no blank lines";
}

TEST(InterviewProbe, later_turns_hold_the_answers_before_them) {
  const InterviewProbe probe(small_interview(), &words());
  const auto block = probe.blocks().block(0);
  ASSERT_EQ(block.num_contexts, 8U) << "of one group";
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  ASSERT_EQ(transcript.rounds[0].queries.size(), 16U);
  EXPECT_EQ(prompt_in(transcript.rounds[0].queries[0]),
            "Question: Say what most people think of nurses.\n\nNurses: which words?\nAnswer:");
  transcript.answers.emplace_back();
  for (int i = 0; i < 16; ++i) {
    transcript.answers[0].push_back(text(" first " + std::to_string(i) + "\n"));
  }
  const auto second = probe.next(block, transcript);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->queries.size(), 4U) << "only the conversation with steps goes on: two wordings, two rounds";
  EXPECT_EQ(prompt_in(second->queries[1]),
            "Question: Say what most people think of nurses.\n\nNurses: which words?\nAnswer: first 1\n\n"
            "Question: Why?\nAnswer:");
  transcript.rounds.push_back(*second);
  transcript.answers.push_back({text("a"), query::QueryError{"too long", query::QueryFault::too_long}, text("b"),
                                query::QueryError{"broken", query::QueryFault::other}});
  const auto third = probe.next(block, transcript);
  ASSERT_TRUE(third);
  ASSERT_EQ(third->queries.size(), 2U) << "a turn that failed ends its conversation";
  transcript.rounds.push_back(*third);
  transcript.answers.push_back({text("warm: 4, cold: 2"), text("warm 3")});
  EXPECT_FALSE(probe.next(block, transcript));

  const auto raw = probe.fold(block, transcript);
  EXPECT_EQ(flag(probe, raw, "answer_status", 0), "ok");
  EXPECT_EQ(flag(probe, raw, "answer_status", 3 + 1), "too_long") << "round 1, turn 1";
  EXPECT_EQ(flag(probe, raw, "answer_status", 3 + 2), "not_reached");
  EXPECT_EQ(flag(probe, raw, "answer_status", 6 + 3 + 1), "engine_error") << "context 1, round 1, turn 1";
  EXPECT_EQ(flag(probe, raw, "rating_status", 3), "no_text") << "round 1, item warm";
  EXPECT_EQ(flag(probe, raw, "rating_status", 2), "not_asked") << "rich belongs to the other conversation";
  EXPECT_EQ(flag(probe, raw, "answer_status", 12), "not_asked") << "context 2 has no first turn";
  EXPECT_EQ(flag(probe, raw, "answer_status", 14), "ok");
  EXPECT_THAT(column<std::string>(probe, raw, "problem")[0], "too long");
  EXPECT_EQ(column<std::string>(probe, raw, "question")[1], "Why?");
  EXPECT_EQ(column<std::string>(probe, raw, "answer_text")[2], "warm: 4, cold: 2");
  EXPECT_EQ(column<std::int32_t>(probe, raw, "answer_num_tokens")[0], 3);
  EXPECT_EQ(column<std::int32_t>(probe, raw, "answer_num_tokens")[3 + 1], 0);
  EXPECT_EQ(column<double>(probe, raw, "answer_mean_logprob")[0], -0.5);
  EXPECT_EQ(column<double>(probe, raw, "rating")[0], 4);
  EXPECT_EQ(column<double>(probe, raw, "rating")[1], 2) << "negative items are turned in scores, not here";
}

TEST(InterviewProbe, thoughts_that_came_to_their_limit_are_flagged) {
  auto job = small_interview();
  auto& chat = job.model.chat.emplace();
  chat.user = {"U: ", "\n", {}};
  chat.assistant = {"M: ", "\n", {}};
  chat.generation = "M:<think>\n";
  chat.thought = chat::ThoughtMarks{"<think>", "</think>", chat::ThoughtMarks::Begins::inside};
  auto& sampling = job.settings<Interview>().sampling;
  sampling.max_thought_tokens = 30;
  sampling.long_thoughts = TextSampling::LongThoughts::closed;
  EXPECT_EQ(sampled_text(job, sampling, "", 0).thought->opening, "") << "it begins inside";
  const InterviewProbe probe(job, &words());
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  auto closed = text("Kind?\n</think>\n\nkind");
  std::get<query::GenerateAnswer>(closed).closed_thought = true;
  transcript.answers.emplace_back(transcript.rounds[0].queries.size(), text("Warm.</think>warm"));
  transcript.answers[0][0] = closed;
  const auto raw = probe.fold(block, transcript);
  EXPECT_EQ(flag(probe, raw, "answer_thought_end", 0), "closed");
  EXPECT_EQ(flag(probe, raw, "answer_thought_end", 3), "by_the_model");
  EXPECT_EQ(column<std::string>(probe, raw, "answer_text")[0], "kind");
}

TEST(InterviewProbe, thoughts_are_kept_apart_and_what_cannot_be_written_ends_a_conversation) {
  auto job = small_interview();
  auto& chat = job.model.chat.emplace();
  chat.user = {"U: ", "\n", {}};
  chat.assistant = {"M: ", "\n", {}};
  chat.generation = "M:";
  chat.thought = chat::ThoughtMarks{"<think>", "</think>", chat::ThoughtMarks::Begins::before};
  chat.guards = {"<stop>"};
  const InterviewProbe probe(job, &words());
  const auto block = probe.blocks().block(0);
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  const auto count = transcript.rounds[0].queries.size();
  transcript.answers.emplace_back(count, text("ok"));
  transcript.answers[0][0] = text("<think>Kind? warm?</think>\n\nkind");
  transcript.answers[0][1] = text("<think>Kind? warm?");
  transcript.answers[0][2] = text("a <stop> b");
  const auto second = probe.next(block, transcript);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->queries.size(), 2U) << "of four conversations with steps two go on";
  EXPECT_THAT(prompt_in(second->queries[0]), ::testing::HasSubstr("M: kind\nU: ")) << "the thought is not said again";
  transcript.rounds.push_back(*second);
  transcript.answers.emplace_back(2, text("b"));
  const auto third = probe.next(block, transcript);
  ASSERT_TRUE(third);
  transcript.rounds.push_back(*third);
  transcript.answers.emplace_back(third->queries.size(), text("warm: 4"));
  const auto raw = probe.fold(block, transcript);
  EXPECT_EQ(column<std::string>(probe, raw, "answer_text")[0], "kind");
  EXPECT_EQ(column<std::string>(probe, raw, "answer_thought")[0], "Kind? warm?");
  EXPECT_GT(column<std::int32_t>(probe, raw, "answer_num_thought_tokens")[0], 0);
  EXPECT_EQ(flag(probe, raw, "answer_status", 3), "truncated_thought");
  EXPECT_EQ(column<std::string>(probe, raw, "answer_text")[3], "");
  EXPECT_EQ(flag(probe, raw, "answer_status", 3 + 1), "not_reached");
  EXPECT_EQ(flag(probe, raw, "answer_status", 6), "ok");
  EXPECT_EQ(flag(probe, raw, "answer_status", 6 + 1), "not_written");
  std::vector<std::vector<chat::Message>> read;
  probe.each_conversation(block, raw, [&](const auto& messages) { read.push_back(messages); });
  EXPECT_EQ(read.size(), count + 2 + third->queries.size()) << "every prompt once";
  EXPECT_EQ(chat::write_chat(chat, read[1]), prompt_in(second->queries[0]));
}

/// A context whose first turns have these texts, read.
results::RawBlock read(const InterviewProbe& probe, std::size_t conversation, const std::vector<std::string>& texts) {
  auto block = results::unscored_block(probe.schema(), 1);
  for (std::size_t turn = 0; turn < texts.size(); ++turn) {
    column_named<std::string>(block, probe.schema(), "answer_text")[turn] = texts[turn];
    column_named<std::uint8_t>(block, probe.schema(), "answer_status")[turn] =
        static_cast<std::uint8_t>(AnswerStatus::ok);
    column_named<std::uint8_t>(block, probe.schema(), "answer_ending")[turn] =
        static_cast<std::uint8_t>(AnswerEnding::end_token);
  }
  read_texts(block, probe.schema(), small_interview().settings<Interview>().conversations[conversation], 0);
  return block;
}

TEST(InterviewProbe, options_in_words_get_their_values) {
  const InterviewProbe probe(small_interview(), &words());
  const auto block = read(probe, 1, {"Low."});
  EXPECT_EQ(flag(probe, block, "rating_status", 2), "answered") << "behind the items of the first conversation";
  EXPECT_EQ(column<double>(probe, block, "rating")[2], -1);
}

TEST(InterviewProbe, reads_keywords_reasons_and_ratings_of_one_conversation) {
  const InterviewProbe probe(small_interview(), &words());
  const auto block = read(
      probe, 0, {"1. Kind\n2. Busy\n3. Tired", "Kind: they help others.\nBusy: they work long hours.", "- warm: 5\n"});
  EXPECT_EQ(column<std::int32_t>(probe, block, "num_keywords")[0], 2) << "at most two";
  EXPECT_EQ(column<std::string>(probe, block, "keyword")[0], "kind");
  EXPECT_EQ(column<std::string>(probe, block, "keyword")[1], "busy");
  EXPECT_THAT(column<std::string>(probe, block, "reason")[1], ::testing::HasSubstr("long hours"));
  EXPECT_EQ(column<double>(probe, block, "rating")[0], 5);
  EXPECT_EQ(flag(probe, block, "rating_status", 1), "missing");
}

TEST(InterviewProbe, asks_the_options_after_the_same_conversation) {
  auto job = small_interview();
  for (auto& conversation : job.settings<Interview>().conversations) {
    conversation.turns.back().asks_options = true;
  }
  job.settings<Interview>().sampling.rounds = 1;
  job.settings<Interview>().rephrasings.resize(1);
  job.execution.contexts_per_block = 4;
  const InterviewProbe probe(job, &words());
  const auto block = probe.blocks().block(0);
  ASSERT_EQ(block.num_contexts, 4U) << "two conversations in two forms";
  Transcript transcript;
  transcript.rounds.push_back(probe.first(block));
  const auto& queries = transcript.rounds[0].queries;
  ASSERT_EQ(queries.size(), 1U + (1 + 2) + (1 + 1) + (1 + 1));
  const auto& of_items = std::get<query::Continue>(queries[3]);
  EXPECT_EQ(of_items.prompt, prompt_in(queries[1]) + " cold:");
  EXPECT_THAT(of_items.continuations, ElementsAre(" 1", " 2", " 3", " 4", " 5"));
  const auto& of_one = std::get<query::Continue>(queries[5]);
  EXPECT_EQ(of_one.prompt, prompt_in(queries[4]));
  EXPECT_THAT(of_one.continuations, ElementsAre(" high", " low"));
  transcript.answers.emplace_back();
  for (const auto& asked : queries) {
    const auto* options = std::get_if<query::Continue>(&asked);
    if (options == nullptr) {
      transcript.answers[0].push_back(query::QueryError{"no", query::QueryFault::other});
    } else {
      query::ContinueAnswer answer;
      for (std::size_t i = 0; i < options->continuations.size(); ++i) {
        answer.logprob.push_back({-1.0, -static_cast<double>(i)});
      }
      transcript.answers[0].push_back(answer);
    }
  }
  EXPECT_FALSE(probe.next(block, transcript)) << "every text failed";
  const auto raw = probe.fold(block, transcript);
  const auto& logprob = column<double>(probe, raw, "option_logprob");  // [context, item, option]
  EXPECT_EQ(flag(probe, raw, "option_status", 0), "not_asked") << "the steps were not passed";
  EXPECT_EQ(flag(probe, raw, "option_status", 3 + 1), "ok");
  EXPECT_EQ(logprob[(3 + 1) * 5 + 4], -5);
  EXPECT_EQ(flag(probe, raw, "option_status", 6 + 2), "ok");
  EXPECT_EQ(logprob[(6 + 2) * 5 + 1], -2);
  EXPECT_TRUE(std::isnan(logprob[(6 + 2) * 5 + 2])) << "two options only";
}

TEST(InterviewProbe, draws_depend_on_prompt_round_and_turn_alone) {
  const auto seeds = [](const sweep::Job& job, std::uint64_t index) {
    const InterviewProbe probe(job, &words());
    std::vector<std::uint64_t> all;
    for (const auto& query : probe.first(probe.blocks().block(index)).queries) {
      all.push_back(std::get<query::Generate>(query).seed);
    }
    return all;
  };
  const auto job = small_interview();
  const auto of_old_men = seeds(job, 1);
  EXPECT_EQ(std::set(of_old_men.begin(), of_old_men.end()).size(), 16U);
  auto wide = job;
  wide.execution.contexts_per_block = 17;
  auto of_all = seeds(job, 0);
  of_all.insert(of_all.end(), of_old_men.begin(), of_old_men.end());
  EXPECT_EQ(seeds(wide, 0), of_all) << "a block with room for both groups holds them";
  auto other = job;
  other.settings<Interview>().groups.erase(other.settings<Interview>().groups.begin());
  EXPECT_EQ(seeds(other, 0), of_old_men);
  other.execution.contexts_per_block = 3;
  const auto of_three = seeds(other, 0);
  EXPECT_TRUE(std::equal(of_three.begin(), of_three.end(), of_old_men.begin()));
  other.seed = 6;
  EXPECT_NE(seeds(other, 0).front(), of_old_men.front());
}

TEST(InterviewProbe, hash_has_everything_that_a_number_depends_on) {
  const auto key = [](const sweep::Job& job) {
    const InterviewProbe probe(job, &words());
    return block_key(probe, probe.blocks().block(0), {});
  };
  const auto job = small_interview();
  auto same = job;
  same.settings<Interview>().groups.pop_back();
  EXPECT_EQ(key(same), key(job)) << "another group changes no other block";
  const std::vector<std::function<void(Interview&)>> changes = {
      [](auto& interview) { interview.sampling.rounds = 3; },
      [](auto& interview) { interview.sampling.temperature = 0.5; },
      [](auto& interview) { interview.sampling.top_p = 0.5; },
      [](auto& interview) { interview.sampling.top_k = 2; },
      [](auto& interview) { interview.sampling.repetition_penalty = 1.5; },
      [](auto& interview) { interview.conversations[0].turns[2].asks_options = true; },
      [](auto& interview) { interview.sampling.max_new_tokens = 7; },
      [](auto& interview) { interview.sampling.stop = {"."}; },
      [](auto& interview) { interview.groups[0].plural = "doctors"; },
      [](auto& interview) { interview.conversations[0].instructions = "Go."; },
      [](auto& interview) { interview.conversations[0].turns[0].most = 1; },
      [](auto& interview) { interview.conversations[0].turns[1].ask = "How so?"; },
      [](auto& interview) { interview.conversations[0].scale.to = 7; },
      [](auto& interview) { interview.conversations[1].scale.options[0].value = 9; },
      [](auto& interview) { interview.conversations[0].turns[0].when = Turn::When::always; },
      [](auto& interview) { interview.conversations.push_back(interview.conversations[1]); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto changed = job;
    changes[i](changed.settings<Interview>());
    EXPECT_NE(key(changed), key(job)) << "change " << i;
  }
  auto seeded = job;
  seeded.seed = 9;
  EXPECT_NE(key(seeded), key(job));
  auto chat = job;
  chat.model.chat = chat::ChatTemplate();
  EXPECT_NE(key(chat), key(job));
}

/// A value that no block's key depends on changes no raw number: each is listed here.
TEST(InterviewProbe, every_setting_is_in_the_keys_of_its_blocks) {
  const auto job = small_interview();
  const auto changed = testing::KeyChanger(job, [](const sweep::Job& other) {
                         return testing::keys_of(InterviewProbe(other, &words()));
                       }).change({"axes", "sampling"});
  EXPECT_THAT(changed.seen, ::testing::IsSupersetOf(std::vector<std::string>{"sampling.rounds"}));
  EXPECT_THAT(changed.unseen, ::testing::UnorderedElementsAre("axes.groups[].label", "axes.rephrasings[].label",
                                                              "axes.templates[].label"));
}

}  // namespace
}  // namespace stereosweep::probes::interview
