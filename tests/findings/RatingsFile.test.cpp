#include "findings/people/RatingsFile.hpp"

#include <gmock/gmock.h>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/JobText.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/association/Association.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::findings {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::string> known_subjects = {"Black people", "trans people"};
const results::AxisSchema known_items = {
    "item",
    "",
    {"low-status - high-status", "egotistic - altruistic", "cold - warm"},
    {{"left", "", {"low-status", "egotistic", "cold"}}, {"right", "", {"high-status", "altruistic", "warm"}}}};

Ratings read(const std::filesystem::path& table, std::vector<std::pair<std::string, std::string>> aliases = {}) {
  return read_ratings({.ratings = table.string(), .aliases = std::move(aliases)}, known_subjects, known_items);
}

std::vector<std::string> lines_of(const Ratings& ratings) {
  std::vector<std::string> lines;
  for (const auto& row : ratings.rows) {
    lines.push_back((row.subject ? known_subjects.at(*row.subject) : "?") + "|" +
                    (row.item ? known_items.labels.at(*row.item) : "?") + "|" + base::format_double(row.mean));
  }
  return lines;
}

TEST(Ratings, names_are_those_of_the_job) {
  const config::JobFolder folder;
  const Ratings ratings = read(folder.write("r.tsv",
                                            "group\tpair\tn\tmean\n"
                                            "BLACK  people\tlow status - high status\t3\t40\n"
                                            "Black person\tegoistic - altruistic\t3\t61.5\n"
                                            "trans-people\twarm - cold\t3\t30\n"
                                            "everyone\tcold - warm\t3\t1\n"
                                            "transgender people\tcold - hot\t3\t2\n"),
                               {{"Transgender People", "trans people"}, {"Black person", "Black people"}});
  EXPECT_THAT(lines_of(ratings),
              ElementsAre("Black people|low-status - high-status|40", "Black people|egotistic - altruistic|61.5",
                          "trans people|cold - warm|70", "?|cold - warm|1", "trans people|?|2"));
  EXPECT_THAT(ratings.unmatched_groups, ElementsAre("everyone"));
  EXPECT_THAT(ratings.unmatched_pairs, ElementsAre("cold - hot"));
  EXPECT_THAT(ratings.notes, ElementsAre(HasSubstr("'egoistic - altruistic' is taken for"), HasSubstr("turned round")));
}

TEST(Ratings, a_pole_can_have_an_alias) {
  const config::JobFolder folder;
  const auto table = folder.write("r.tsv", "group\tpair\tmean\nBlack people\tcold - hot\t2\n");
  EXPECT_THAT(lines_of(read(table, {{"hot", "warm"}})), ElementsAre("Black people|cold - warm|2"));
}

TEST(Ratings, separators_and_quotes_as_spreadsheets_write_them) {
  const config::JobFolder folder;
  const std::vector<std::string> wanted = {"Black people|cold - warm|40", "trans people|cold - warm|71"};
  for (const std::string table :
       {"group,pair,mean\n\"Black people\",cold - warm,40\n\ntrans people,\"cold - warm\",\"71\"\n",
        "\xEF\xBB\xBFgroup;pair;mean\r\nBlack people;cold - warm;40\r\n\"trans people\";cold - warm;71\r\n",
        "\"group\"\t\"pair\"\t\"mean\"\nBlack people\tcold - warm\t40\ntrans people\tcold - warm\t71"}) {
    EXPECT_EQ(lines_of(read(folder.write("r.csv", table))), wanted) << table;
  }
  const auto table = folder.write("r.csv", "group,pair,mean\n\"the \"\"Black\"\" people, all\",cold - warm,40\n");
  EXPECT_THAT(read(table).unmatched_groups, ElementsAre("the \"Black\" people, all"));
}

TEST(Ratings, another_scale_is_noticed) {
  const config::JobFolder folder;
  const auto notes = [&](const std::string& first, const std::string& second) {
    return read(folder.write("r.tsv", "group\tpair\tmean\nBlack people\tcold - warm\t" + first +
                                          "\ntrans people\tcold - warm\t" + second + "\n"))
        .notes;
  };
  EXPECT_THAT(notes("1.5", "4.5"), ElementsAre(HasSubstr("no mean is above 50")));
  EXPECT_THAT(notes("51", "99"), ElementsAre(HasSubstr("no mean is below 50")));
  EXPECT_THAT(notes("49", "51"), IsEmpty());
}

TEST(Ratings, bad_rows_are_named) {
  const config::JobFolder folder;
  const auto complaint = [&](const std::string& text) {
    try {
      read_ratings({.ratings = folder.write("r.tsv", text).string()}, {}, {});
      return std::string();
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(complaint("group\tpair\tmean\na\tb\tx\na\tb\t101\na\tb\tnan\n"),
              ::testing::AllOf(HasSubstr(":2:mean: 'x'"), HasSubstr(":3:mean: '101'"), HasSubstr(":4:mean: 'nan'")));
  EXPECT_THAT(complaint("group\tpair\tmean\na\tb\t" + std::string(39, 'x') + "\u00e9\n"),
              HasSubstr("'" + std::string(39, 'x') + "...' is no mean"))
      << "characters are shown whole";
  EXPECT_THAT(complaint("group\tpair\tmean\n\na\tb\t1\n\na\tb\t2\n"), HasSubstr(":5:mean: 'a' is rated twice"));
  EXPECT_THAT(complaint("people\tpair\tmean\na\tb\t1\n"), HasSubstr("the column 'group' is missing"));
  EXPECT_THAT(complaint("group\tpairs\tmeen\na\tb\t1\n"), HasSubstr("the column 'pair' is missing"));
}

TEST(Ratings, the_published_means_match_the_shipped_pieces) {
  const std::string table = source_directory() + "/../shared/data/cao2022-abc/human_means.tsv";
  if (!std::filesystem::exists(table)) {
    GTEST_SKIP() << "the published data set is not at " << table << " (optional)";
  }
  const auto job = config::load_jobs(source_directory() + "/jobs/01_example.yaml",
                                     {"sweep={}", "axes.traits=abc_traits", "statistics.human_ratings=" + table})
                       .front();
  const auto& axes = job.settings<probes::association::Association>().axes;
  const auto labels = base::mapped(axes.groups, [](const auto& group) { return group.label; });
  const auto each = [&](auto read) { return base::mapped(axes.traits, read); };
  const results::AxisSchema pairs{"item",
                                  "",
                                  each([](const auto& pair) { return pair.label; }),
                                  {{"left", "", each([](const auto& pair) { return pair.left.name; })},
                                   {"right", "", each([](const auto& pair) { return pair.right.name; })}}};
  const Ratings ratings = read_ratings(*probes::kind_of(job).comparison(job).people, labels, pairs);
  EXPECT_EQ(ratings.rows.size(), 26u * 16u);
  EXPECT_THAT(ratings.unmatched_groups, ElementsAre("average people"));
  EXPECT_THAT(ratings.unmatched_pairs, IsEmpty());
  EXPECT_THAT(ratings.notes, ElementsAre(HasSubstr("'egoistic - altruistic' is taken for 'egotistic - altruistic'")));
}

}  // namespace
}  // namespace stereosweep::findings
