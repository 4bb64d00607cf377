// What ranks do together: a corpus that they read, exact tests that they count.
#include <gtest/gtest.h>

#include <fstream>

#include "parallel/MpiSession.hpp"
#include "probes/contexts/SyntheticContexts.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "probes/contexts/vectors/ContextSource.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::probes::contexts {
namespace {

class CollectedContexts : public ::testing::Test {
 protected:
  CollectedContexts() {
    ContextualVectors vectors;
    vectors.corpus.files = {(folder / "corpus.txt").string()};
    std::ofstream(vectors.corpus.files.front()) << "a rose\nan ant\n";
    Contexts settings;
    settings.vectors = vectors;
    settings.tests = {{"T", "", EmbeddingTest::Kind::wefat, {"X", {"rose"}}, {}, {"A", {"ant"}}, {"B", {"bee"}}}};
    job.probe = settings;
    job.execution.engine = query::EngineKind::fake;
  }
  StageRequest request() const {
    return {job, world, folder.path(), files, nullptr, [](const std::string&) {}};
  }

  testing::TemporaryDirectory folder;
  sweep::Job job;
  base::FileSet files{"none"};
  parallel::MpiSession session;
  const parallel::Communicator& world = session.world();
};

TEST_F(CollectedContexts, AreTheSameOnAllRanks) {
  const auto source = collect_contexts(request());
  EXPECT_EQ(source.sample->words[0].occurrences, 1U);
  EXPECT_EQ(source.sample->lines, 2U);
}

TEST_F(CollectedContexts, AreRefusedOnAllRanksWhereTheirPartsDoNotBelongTogether) {
  job.seed = world.rank() == 1 ? 2 : 1;
  try {
    collect_contexts(request());
    ADD_FAILURE() << "parts of two corpora";
  } catch (const parallel::SharedError& error) {
    EXPECT_NE(std::string(error.what()).find("do not belong together"), std::string::npos) << error.what();
  }
}

TEST(ContextsRanks, CountTheSameAsOne) {
  const parallel::MpiSession session;
  const testing::TemporaryDirectory own;
  ::setenv("TMPDIR", own.path().c_str(), 1);  // of the result
  const Synthetic run({weat("one", 9, 9), weat("two", 12, 7), weat("drawn", 45, 40), wefat("words", 3)}, 3);
  const auto file = run.write();
  ContextsOptions options;
  options.settings.draws = 1000;
  const auto alone = compute_contexts(*file, options);
  options.world = {session.world()};
  const auto shared = compute_contexts(*file, options);
  const bool leads = session.world().rank() == 0;
  for (std::size_t test = 0; test < 3; ++test) {
    EXPECT_EQ(shared.summaries[test].attributes.two_sided, alone.summaries[test].attributes.two_sided);
    if (test < 2 || leads) {
      EXPECT_EQ(shared.summaries[test].targets.two_sided, alone.summaries[test].targets.two_sided);
      EXPECT_EQ(shared.summaries[test].cited, alone.summaries[test].cited);
    }
  }
  EXPECT_EQ(std::isnan(shared.summaries[2].targets.two_sided), !leads);  // one rank draws partitions
  EXPECT_EQ(shared.summaries[3].words[1].cited, alone.summaries[3].words[1].cited);
}

}  // namespace
}  // namespace stereosweep::probes::contexts
