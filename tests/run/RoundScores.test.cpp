// The table that grows by rounds is the one that is made of the whole journal, after any part of it.
#include "run/RoundScores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "findings/decisions/Decisions.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/rating/Rating.hpp"
#include "results/Export.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::run {
namespace {

sweep::Job job_in_rounds() {
  sweep::Job job;
  job.name = "rounds";
  job.seed = 5;
  job.execution.contexts_per_block = 4;
  probes::rating::Rating rating;
  rating.identities = {{"women", "", "women", ""}, {"men", "", "men", ""}, {"nurses", "", "nurses", ""}};
  rating.traits = {{"kind", "warmth", probes::rating::RatedTrait::Polarity::positive, ""},
                   {"cold", "warmth", probes::rating::RatedTrait::Polarity::negative, ""}};
  for (int question = 0; question < 13; ++question) {
    rating.questions.push_back({"q" + std::to_string(question), "", "So {identity}: {trait}?"});
  }
  rating.rephrasings.clear();
  for (int wording = 0; wording < 5; ++wording) {
    rating.rephrasings.push_back({"r" + std::to_string(wording), "{prompt}", {}});
  }
  rating.scale = {{"high", 3}, {"middle", 2}, {"low", 1}};
  rating.sampling.runs = 0;
  job.probe = rating;
  sweep::Contrast contrast;
  contrast.name = "each";
  contrast.each = "subject";
  contrast.against = sweep::Contrast::Against::zero;
  job.comparison.contrasts = {contrast};
  job.comparison.decide.emplace().want = {{.claim = sweep::DecideRequest::Want::Claim::sign}};
  return job;
}

/// Any numbers; of some contexts none.
results::RawBlock scored(const probes::Probe& probe, const sweep::Block& block) {
  auto raw = results::unscored_block(results::with_not_scored(probe.schema()), block.num_contexts);
  std::mt19937_64 engine(block.index);
  std::normal_distribution<double> normal;
  for (auto& value : probes::column_named<double>(raw, probe.schema(), "option_logprob")) {
    value = block.index % 7 == 3 ? std::nan("") : -std::abs(normal(engine));
  }
  for (auto& status : probes::column_named<std::uint8_t>(raw, probe.schema(), "option_status")) {
    status = 0;
  }
  return raw;
}

void expect_whole_table(const RoundScores& table, const results::JournalStore& journal, const sweep::Job& job,
                        const probes::Probe& probe, const testing::TemporaryDirectory& directory) {
  results::RunDescription run;
  run.probe = job.probe_name();
  run.schema = &probe.schema();
  run.blocks = &probe.blocks();
  run.source = [&](const sweep::Block& block) { return journal.read_block(block, probe.schema()); };
  results::export_run(run, directory / "whole.h5");
  const results::ResultFile file(directory / "whole.h5");
  const findings::Workers nobody;
  probes::kind_of(job).stats(
      {.file = file, .job = job, .target = directory.path() / "whole.stats.h5", .world = nobody});
  const results::ScoreFile whole(directory / "whole.stats.h5");
  const auto scores = table.scores();
  const auto measures = findings::decided_measures(scores, probes::kind_of(job).asked(job));
  for (std::size_t axis = 0; axis < whole.axes().size(); ++axis) {
    EXPECT_EQ(scores.axes[axis]->labels, whole.axes()[axis].labels);
  }
  std::size_t num_read = 0;
  for (std::size_t measure = 0; measure < measures.size(); ++measure) {
    if (!measures[measure]) {
      continue;
    }
    ++num_read;
    EXPECT_EQ(scores.read_statuses(measure), whole.read_statuses(measure));
    const auto expected = whole.read(measure);
    const auto found = scores.read(measure);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t place = 0; place < found.size(); ++place) {
      EXPECT_TRUE(found[place] == expected[place] || (std::isnan(found[place]) && std::isnan(expected[place])))
          << place;
    }
  }
  EXPECT_GT(num_read, 0U);
}

TEST(RoundScores, are_those_of_the_whole_journal_after_any_part) {
  const auto job = job_in_rounds();
  const auto tokenizer = probes::testing::from_json(probes::testing::word_piece_json(), "[MASK]");
  const auto& kind = probes::kind_of(job);
  const auto probe = kind.make_probe(job, &tokenizer);
  const testing::TemporaryDirectory directory;
  results::JournalWriter writer(directory.path(), {{}, "{}", "{}", "20260101T000000Z-1"});
  RoundScores table(directory.path(), job, *probe);
  std::vector<std::uint64_t> blocks(probe->blocks().num_blocks());
  std::ranges::generate(blocks, [next = std::uint64_t{0}]() mutable { return next++; });
  std::ranges::shuffle(blocks, std::mt19937_64(3));  // as they would come from ranks and broken starts
  for (const std::size_t end : {std::size_t{3}, blocks.size() / 2, blocks.size()}) {
    const auto begin = results::JournalStore::open(directory.path()).records().size();
    for (auto place = begin; place < end; ++place) {
      const auto block = probe->blocks().block(blocks[place]);
      base::ByteWriter out;
      scored(*probe, block).write(out);
      writer.stage({base::sha256(std::to_string(block.index)), block.index, block.num_contexts, {}}, out.bytes());
    }
    writer.commit();
    const auto journal = results::JournalStore::open(directory.path());
    table.add(journal);
    expect_whole_table(table, journal, job, *probe, directory);
  }
}

}  // namespace
}  // namespace stereosweep::run
