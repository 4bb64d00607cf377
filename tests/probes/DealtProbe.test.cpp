// A probe whose contexts ask different numbers of rounds, in blocks of rounds of a sweep: each context keeps its
// queries, answers and numbers.
#include "probes/DealtProbe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/Error.hpp"

namespace stereosweep::probes {
namespace {

/// Context c asks c % 3 + 1 times; what it got stands in the columns.
class Asking : public Probe {
 public:
  explicit Asking(const char* inner_axis = "rephrasing") : blocks_(sweep::Product({2, 4, 3}), 5) {
    schema_.outer_axes = {numbered_axis("group", "who", 2), numbered_axis("template", "sentence", 4),
                          numbered_axis(inner_axis, "wording", 3)};
    schema_.cubes = {cube("number", results::ElementType::float64, {}, "1", "context"),
                     cube("texts", results::ElementType::text, {}, "", "answers")};
  }
  const results::RawSchema& schema() const override { return schema_; }
  const sweep::BlockPlan& blocks() const override { return blocks_; }
  bool asks_again() const override { return true; }
  Round first(const sweep::Block& block) const override { return *round(block, 0); }
  std::optional<Round> next(const sweep::Block& block, const Transcript& transcript) const override {
    return round(block, transcript.rounds.size());
  }
  results::RawBlock fold(const sweep::Block& block, const Transcript& transcript) const override {
    std::vector<double> numbers;
    std::vector<std::string> texts(block.num_contexts);
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      numbers.push_back(static_cast<double>(block.first_context + i));
    }
    for (std::size_t round = 0; round < transcript.rounds.size(); ++round) {
      std::size_t answer = 0;
      for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
        if ((block.first_context + i) % 3 >= round) {
          texts[i] += std::get<query::QueryError>(transcript.answers[round].at(answer++)).message + ";";
        }
      }
    }
    return {{numbers, texts}};
  }
  void hash_content(const sweep::Block& block, base::Sha256& hash) const override {
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      hash.number(block.first_context + i);
    }
  }
  void each_conversation(const sweep::Block& block, const results::RawBlock& raw,
                         const ConversationVisitor& visit) const override {
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      visit({{.content = std::get<std::vector<std::string>>(raw.columns[1]).at(i)}});
    }
  }

 private:
  std::optional<Round> round(const sweep::Block& block, std::size_t number) const {
    Round round;
    for (std::uint64_t i = 0; i < block.num_contexts; ++i) {
      if ((block.first_context + i) % 3 >= number) {
        round.queries.emplace_back(query::Continue{
            .prompt = std::to_string(block.first_context + i) + "." + std::to_string(number), .continuations = {}});
      }
    }
    return round.queries.empty() ? std::nullopt : std::optional(round);
  }
  results::RawSchema schema_;
  sweep::BlockPlan blocks_;
};

/// As the scorer asks; the answer to a query is its own text.
results::RawBlock score(const Probe& probe, const sweep::Block& block) {
  Transcript transcript;
  for (std::optional<Round> round = probe.first(block); round; round = probe.next(block, transcript)) {
    std::vector<query::Answer> answers;
    for (const auto& query : round->queries) {
      answers.emplace_back(query::QueryError{.message = std::get<query::Continue>(query).prompt});
    }
    transcript.rounds.push_back(*round);
    transcript.answers.push_back(answers);
  }
  return probe.fold(block, transcript);
}

TEST(DealtProbe, KeepsWhatEachContextAsksAndGets) {
  const auto plain = std::make_shared<const Asking>();
  const std::vector<std::uint8_t> rounds = {0, 1, 2, 2, 0, 1, 1, 2, 0, 255, 255, 0};
  const auto probe = dealt(plain, rounds);
  std::vector<double> numbers(24, -1);
  for (std::uint64_t index = 0; index < probe->blocks().num_blocks(); ++index) {
    const auto block = probe->blocks().block(index);
    const auto raw = score(*probe, block);
    for (std::uint64_t place = 0; place < block.num_contexts; ++place) {
      const auto context = probe->blocks().context(block, place);
      EXPECT_EQ(std::get<std::vector<double>>(raw.columns[0]).at(place), static_cast<double>(context));
      std::string expected;
      for (std::uint64_t round = 0; round <= context % 3; ++round) {
        expected += std::to_string(context) + "." + std::to_string(round) + ";";
      }
      EXPECT_EQ(std::get<std::vector<std::string>>(raw.columns[1]).at(place), expected);
      EXPECT_EQ(place_of(*probe, block, probe->schema().cubes[0], place),
                "group " + std::to_string(context / 12) + ", template " + std::to_string(context % 12 / 3) +
                    ", rephrasing " + std::to_string(context % 3));
      numbers.at(context) = static_cast<double>(context);
    }
    std::vector<std::string> visited;
    probe->each_conversation(block, raw, [&](const auto& messages) { visited.push_back(messages.front().content); });
    EXPECT_EQ(visited, std::get<std::vector<std::string>>(raw.columns[1]));
  }
  EXPECT_THAT(numbers, testing::Each(testing::Ge(0)));
}

TEST(DealtProbe, KeysDependOnWhichContextsABlockHolds) {
  const auto plain = std::make_shared<const Asking>();
  const std::vector<std::uint8_t> one = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<std::uint8_t> other = {1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
  const auto key = [&](const std::vector<std::uint8_t>& rounds) {
    const auto probe = dealt(plain, rounds);
    return block_key(*probe, probe->blocks().block(0), {});
  };
  EXPECT_EQ(key(one), key(one));
  EXPECT_NE(key(one), key(other));
}

TEST(DealtProbe, RefusesAProbeWithoutRephrasings) {
  EXPECT_THROW(dealt(std::make_shared<const Asking>("sample"), std::vector<std::uint8_t>(12)), base::InputError);
}

}  // namespace
}  // namespace stereosweep::probes
