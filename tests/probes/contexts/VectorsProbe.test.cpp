// Which contexts are asked, in which blocks, and what becomes of the answers.
#include "probes/contexts/vectors/VectorsProbe.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/Error.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"

namespace stereosweep::probes::contexts {
namespace {

std::shared_ptr<const corpus::Sample> sample() {
  corpus::Sample made;
  made.max_contexts = 10;
  made.words = {
      {"rose", 7, {{"a b rose c d", {4, 8}, 1, "f", 0}, {"rose", {0, 4}, 2, "f", 20}, {"my rose", {3, 7}, 3, "f", 30}}},
      {"flea", 0, {}}};
  return std::make_shared<const corpus::Sample>(std::move(made));
}

sweep::Job job_with(std::int64_t window) {
  sweep::Job job;
  Contexts settings;
  ContextualVectors vectors;
  vectors.window = window;
  vectors.layer = 3;
  vectors.pool = ContextualVectors::Pool::last;
  vectors.corpus.max_contexts = 10;
  settings.vectors = vectors;
  job.probe = settings;
  job.execution.contexts_per_block = 2;
  return job;
}

TEST(VectorsProbe, AxisIsTheLongestSampleInWholeBlocks) {
  const VectorsProbe probe(job_with(0), sample(), 2);
  EXPECT_EQ(probe.schema().outer_axes[1].labels.size(), 4U);
  EXPECT_EQ(probe.blocks().num_blocks(), 4U);
  EXPECT_EQ(probe.words()[0].found, 7U);
  EXPECT_EQ(probe.words()[0].stored, 3U);
}

TEST(VectorsProbe, AsksForEveryContextAsTheJobSays) {
  const VectorsProbe whole(job_with(0), sample(), 2);
  const auto round = whole.first(whole.blocks().block(0));
  ASSERT_EQ(round.queries.size(), 2U);
  const auto& asked = std::get<query::Embed>(round.queries[0]);
  EXPECT_EQ(asked.text, "a b rose c d");
  EXPECT_EQ(asked.layer, 3);
  EXPECT_EQ(asked.pool, query::Pool::last);
  const auto cut = VectorsProbe(job_with(1), sample(), 2).query(0);
  EXPECT_EQ(cut->text, "b rose c");
  EXPECT_EQ(cut->text.substr(cut->span.begin, cut->span.end - cut->span.begin), "rose");
  EXPECT_FALSE(whole.query(3).has_value());
  EXPECT_FALSE(whole.query(4).has_value());
}

TEST(VectorsProbe, CutsAsThePublishedCodeWhereTheJobNamesIt) {
  auto job = job_with(0);
  auto settings = job.settings<Contexts>();
  std::get<ContextualVectors>(settings.vectors).window = std::nullopt;
  job.probe = settings;
  corpus::Sample made;
  made.max_contexts = 1;
  made.words = {{"rose", 1, {{"a b c d e rose f g h i", {10, 14}, 1, "f", 0}}}};
  const auto asked = VectorsProbe(job, std::make_shared<const corpus::Sample>(made), 2).query(0);
  EXPECT_EQ(asked->text, "b c d e rose f g h");
  EXPECT_EQ(asked->text.substr(asked->span.begin, asked->span.end - asked->span.begin), "rose");
}

TEST(VectorsProbe, FoldsVectorsAndNamesWhatWentWrong) {
  const VectorsProbe probe(job_with(0), sample(), 2);
  Transcript transcript;
  transcript.answers = {{query::EmbedAnswer{{1.5F, -2}}, query::QueryError{"too long", query::QueryFault::too_long}}};
  auto raw = probe.fold(probe.blocks().block(0), transcript);
  EXPECT_EQ(std::get<std::vector<float>>(raw.columns[0])[1], -2);
  EXPECT_TRUE(std::isnan(std::get<std::vector<float>>(raw.columns[0])[2]));
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(raw.columns[2]), (std::vector<std::uint8_t>{0, 2}));
  EXPECT_EQ(std::get<std::vector<std::string>>(raw.columns[4])[1], "too long");
  transcript.answers = {{query::EmbedAnswer{{INFINITY, 0}}}};
  raw = probe.fold(probe.blocks().block(1), transcript);
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(raw.columns[2]), (std::vector<std::uint8_t>{3, 1}));
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(raw.columns[1]), (std::vector<std::int32_t>{3, 7, -1, -1}));
}

TEST(VectorsProbe, KeysFollowContentAndNotPlace) {
  const VectorsProbe probe(job_with(0), sample(), 2);
  auto with_word = *sample();
  with_word.words.insert(with_word.words.begin(), {"ant", 1, {{"ant", {0, 3}, 5, "f", 9}}});
  const VectorsProbe more(job_with(0), std::make_shared<const corpus::Sample>(with_word), 2);
  EXPECT_EQ(block_key(probe, probe.blocks().block(0), {}), block_key(more, more.blocks().block(2), {}));
  EXPECT_NE(block_key(probe, probe.blocks().block(0), {}), block_key(probe, probe.blocks().block(1), {}));
  const VectorsProbe cut(job_with(1), sample(), 2);
  EXPECT_NE(block_key(probe, probe.blocks().block(0), {}), block_key(cut, cut.blocks().block(0), {}));
}

TEST(VectorsProbe, StaticWordsStandAfterABlank) {
  const StaticTable table = {{"snow drop", {1, 2}}, {"flea", {}}};
  const auto made = static_sample({"snow drop", "flea"}, &table);
  EXPECT_EQ(made.words[0].contexts.front().sentence, " snow drop");
  EXPECT_TRUE(made.words[1].contexts.empty());
  sweep::Job job;
  Contexts settings;
  settings.vectors = StaticVectors{"file", StaticVectors::Format::glove_text};
  job.probe = settings;
  const VectorsProbe probe(job, std::make_shared<const corpus::Sample>(made), 2,
                           std::make_shared<const StaticTable>(table));
  EXPECT_TRUE(probe.first(probe.blocks().block(0)).queries.empty());
  const auto raw = probe.fold(probe.blocks().block(0), {});
  EXPECT_EQ(std::get<std::vector<float>>(raw.columns[0]), (std::vector<float>{1, 2}));
}

TEST(InputStates, AModelsOwnVectorsAreInNoFile) {
  Contexts settings;
  settings.vectors = StaticVectors{"", StaticVectors::Format::model};
  EXPECT_TRUE(input_states(settings).empty());
  settings.vectors = StaticVectors{"/nowhere.txt", StaticVectors::Format::glove_text};
  EXPECT_THROW(input_states(settings), base::InputError);
}

}  // namespace
}  // namespace stereosweep::probes::contexts
