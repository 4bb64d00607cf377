// What ranks do together.
#include <gtest/gtest.h>

#include <fstream>

#include "parallel/MpiSession.hpp"
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

}  // namespace
}  // namespace stereosweep::probes::contexts
