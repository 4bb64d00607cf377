// What `plan` counts, against the queries that are really asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/SmallJob.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::probes::association {
namespace {

class AuditTest : public ::testing::Test {
 protected:
  const tokenizer::Tokenizer tokenizer_ = testing::word_piece();
};

TEST_F(AuditTest, CountsWhatTheProbeAsks) {
  sweep::Job job = testing::small_job();
  job.execution.contexts_per_block = 3;
  const AssociationProbe probe(job, tokenizer_);
  std::uint64_t queries = 0;
  std::uint64_t numbers = 0;
  std::uint64_t tokens = 0;
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < probe.blocks().num_blocks(); ++i) {
    for (const auto& asked : probe.first(probe.blocks().block(i)).queries) {
      const auto& fill = std::get<query::Fill>(asked);
      const auto length = tokenizer_.encode(fill.text, tokenizer::SpecialTokens::add).ids.size();
      ++queries;
      tokens += length;
      longest = std::max<std::uint64_t>(longest, length);
      for (const auto& slot : fill.slots) {
        numbers += slot.targets.size();
      }
    }
  }
  const Audit counted = audit(probe, tokenizer_, longest - 1, 1000);
  EXPECT_TRUE(counted.is_exact());
  EXPECT_EQ(counted.queries, queries);
  EXPECT_EQ(counted.numbers, numbers);
  EXPECT_EQ(counted.tokens, tokens);
  EXPECT_EQ(counted.longest, longest);
  EXPECT_GT(counted.too_long, 0u);
  EXPECT_EQ(audit(probe, tokenizer_, longest, 1000).too_long, 0u);
  // "the old" has no singular: one template in two rephrasings. One of the eight words is unknown.
  EXPECT_EQ(counted.cells_by_status[static_cast<int>(CellStatus::no_form)], 2u * 8);
  EXPECT_EQ(counted.cells_by_status[static_cast<int>(CellStatus::unknown_token)], 38u);
  EXPECT_EQ(counted.cells_by_status[static_cast<int>(CellStatus::ok)], 38u * 7);
  // Per context: powerless 2, unkind 2, powerful 2 (in two poles), cold 1, warm 1, self-kindness 4.
  EXPECT_EQ(counted.forwards_alone, 38u * (2 + 2 + 2 + 1 + 1 + 4 + 2));
  ASSERT_EQ(counted.problems.size(), 1u);
  EXPECT_THAT(counted.problems.begin()->first, ::testing::HasSubstr("the old"));
}

TEST_F(AuditTest, NamesWordsThatDoNotStandAsOneToken) {
  sweep::Job job = testing::small_job();
  job.settings<probes::association::Association>().axes.templates.push_back(
      {"glued", "glued", "The {group} are war{trait}.", sweep::NounForm::plural});
  job.settings<probes::association::Association>().axes.traits[0].left.words.push_back("m");
  const Audit counted = audit(AssociationProbe(job, tokenizer_), tokenizer_, 0, 1000);
  EXPECT_THAT(counted.splits.at("powerless"), ::testing::Contains("power ##less"));
  EXPECT_THAT(counted.splits.at("self-kindness"), ::testing::Contains("self - kind ##ness"));
  EXPECT_FALSE(counted.splits.contains("warm"));
  EXPECT_THAT(counted.joins.at("m"), ::testing::Contains(::testing::HasSubstr("war{trait}")));
  EXPECT_TRUE(counted.unknown.contains("zealous"));
  EXPECT_GT(counted.cells_by_status[static_cast<int>(CellStatus::joins)], 0u);
}

TEST_F(AuditTest, SamplesHugeProductsAllOverTheirBlocks) {
  sweep::Job job = testing::small_job();
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "women" + std::to_string(i);
    job.settings<probes::association::Association>().axes.groups.push_back(
        testing::group(name.c_str(), "bench", name.c_str(), name.c_str()));
  }
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{16}, std::int64_t{1} << 40}) {
    job.execution.contexts_per_block = size;
    const AssociationProbe probe(job, tokenizer_);
    const Audit sampled = audit(probe, tokenizer_, 0, 2000);
    const Audit whole = audit(probe, tokenizer_, 0, 1'000'000);
    EXPECT_FALSE(sampled.is_exact());
    EXPECT_TRUE(whole.is_exact());
    EXPECT_EQ(sampled.num_contexts, 5005u * 8);
    EXPECT_LE(sampled.contexts_read, 2000u + 8);
    EXPECT_GE(sampled.contexts_read, 1000u);
    const double estimate = static_cast<double>(sampled.queries) * sampled.scale();
    EXPECT_NEAR(estimate / static_cast<double>(whole.queries), 1, 0.05) << size;
  }
}

}  // namespace
}  // namespace stereosweep::probes::association
