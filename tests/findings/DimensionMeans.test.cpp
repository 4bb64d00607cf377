#include "findings/clusters/DimensionMeans.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/Error.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

TEST(DimensionMeans, MatchNamesWithoutCaseAndHyphens) {
  const stereosweep::testing::TemporaryDirectory folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "human.tsv") << text;
    return read_dimension_means((folder / "human.tsv").string(), {"old women", "old men"}, {"competence", "warmth"});
  };
  const auto ratings = read("identity\tdimension\tmean\nOld-Women\tWarmth\t3.5\nMartians\twarmth\t1\n");
  ASSERT_EQ(ratings.rows.size(), 2U);
  EXPECT_EQ(ratings.rows[0].subject, "old women");
  EXPECT_EQ(ratings.rows[0].dimension, "warmth");
  EXPECT_THAT(ratings.unmatched, ::testing::ElementsAre("Martians"));
  EXPECT_THROW(read("identity\tdimension\tmean\nold women\twarmth\t3\nOld women\twarmth\t4\n"), base::InputError);
  EXPECT_THROW(read("identity\tdimension\tmean\nold women\twarmth\tmuch\n"), base::InputError);
  EXPECT_THROW(read("identity\tmean\nold women\t3\n"), base::InputError);
  EXPECT_EQ(read("group\tdimension\tmean\nold women\tcompetence\t3\n").rows[0].subject, "old women");
}

}  // namespace
}  // namespace stereosweep::findings
