#include <gmock/gmock.h>

#include <fstream>

#include "base/Error.hpp"
#include "findings/people/RatingsFile.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::IsNan;

TEST(DimensionMeans, MatchNamesWithoutCaseAndHyphens) {
  const stereosweep::testing::TemporaryDirectory folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "human.tsv") << text;
    return read_dimension_means((folder / "human.tsv").string(), {"old women", "old men"}, {"competence", "warmth"});
  };
  const auto ratings = read("identity\tdimension\tmean\nOld-Women\tWarmth\t3.5\nMartians\twarmth\t1\n");
  EXPECT_THAT(ratings.means, ElementsAre(IsNan(), 3.5, IsNan(), IsNan()));
  EXPECT_THAT(ratings.unmatched, ElementsAre("Martians"));
  EXPECT_THROW(read("identity\tdimension\tmean\nold women\twarmth\t3\nOld women\twarmth\t4\n"), base::InputError);
  EXPECT_THROW(read("identity\tdimension\tmean\nold women\twarmth\tmuch\n"), base::InputError);
  EXPECT_THROW(read("identity\tmean\nold women\t3\n"), base::InputError);
  EXPECT_EQ(read("group\tdimension\tmean\nold women\tcompetence\t3\n").means.front(), 3);
}

}  // namespace
}  // namespace stereosweep::findings
