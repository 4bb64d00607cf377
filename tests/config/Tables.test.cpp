#include "config/axes/Tables.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <unordered_set>

#include "config/JobText.hpp"
#include "probes/association/Association.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string published = source_directory() + "/../shared/data/cao2022-abc/";

/// The published data set is not part of this repository; SOURCE.md beside it says where it comes from.
#define STEREOSWEEP_NEEDS_PUBLISHED_DATA()                                             \
  if (!std::filesystem::exists(published + "groups.tsv")) {                            \
    GTEST_SKIP() << "the published data set is not at " << published << " (optional)"; \
  }

TEST(Tables, a_job_loads_the_published_lists) {
  STEREOSWEEP_NEEDS_PUBLISHED_DATA();
  const JobFolder folder;
  const auto job = folder
                       .load(
                           "schema: stereosweep/1\nname: abc\nmodel: m\nprobe: association\naxes:\n"
                           "  groups: {tsv: '" +
                           published + "groups.tsv'}\n  traits: {tsv: '" + published +
                           "traits.tsv'}\n  templates: {tsv: '" + published + "templates.tsv'}\n")
                       .front();
  ASSERT_EQ(job.settings<probes::association::Association>().axes.groups.size(), 51u);
  EXPECT_EQ(job.settings<probes::association::Association>().axes.groups.front().plural, "teenagers");
  EXPECT_EQ(job.settings<probes::association::Association>().axes.groups.back().singular, "Filipino person");
  EXPECT_EQ(job.settings<probes::association::Association>().priors.word_singular, "person");
  EXPECT_EQ(job.settings<probes::association::Association>().priors.word_plural, "people");
  ASSERT_EQ(job.settings<probes::association::Association>().axes.templates.size(), 35u);
  EXPECT_EQ(job.settings<probes::association::Association>().axes.templates[3].text, "{group} are {trait}.");
  EXPECT_EQ(std::count_if(job.settings<probes::association::Association>().axes.templates.begin(),
                          job.settings<probes::association::Association>().axes.templates.end(),
                          [](const auto& t) { return t.form == sweep::NounForm::singular; }),
            3);
  ASSERT_EQ(job.settings<probes::association::Association>().axes.traits.size(), 16u);
  std::size_t num_adjectives = 0;
  std::unordered_set<std::string> poles;
  for (const auto& pair : job.settings<probes::association::Association>().axes.traits) {
    num_adjectives += pair.left.words.size() + pair.right.words.size();
    poles.insert(pair.left.name);
    poles.insert(pair.right.name);
    EXPECT_EQ(pair.left.words.front(), pair.left.name);
    EXPECT_EQ(pair.label, pair.left.name + " - " + pair.right.name);
  }
  EXPECT_EQ(num_adjectives, 118u);
  EXPECT_EQ(poles.size(), 32u);
}

TEST(Tables, generic_row_counts_only_at_the_end) {
  const JobFolder folder;
  base::Problems problems;
  const auto path = folder.write("g.tsv", "plural\tsingular\r\npeople\tperson\r\nwomen\twoman\r\n").string();
  sweep::Priors priors;
  const auto entries = read_group_table(path, priors, problems);
  ASSERT_TRUE(problems.empty());
  EXPECT_EQ(entries.children.size(), 2u);
  EXPECT_EQ(priors, sweep::Priors());
}

TEST(Tables, faults_are_named_with_their_line) {
  const JobFolder folder;
  const auto complaints = [&](const std::string& text) {
    base::Problems problems;
    const auto path = folder.write("t.tsv", text).string();
    sweep::Priors priors;
    read_group_table(path, priors, problems);
    return problems.lines();
  };
  EXPECT_THAT(complaints("singular\tplurals\na\tb\n"), ElementsAre(HasSubstr("Did you mean 'plurals'?")));
  EXPECT_THAT(complaints("singular\tplural\na\tb\nc\n"), ElementsAre(HasSubstr("t.tsv:3: 1 printable cells")));
  EXPECT_THAT(complaints("singular\tplural\n"), ElementsAre(HasSubstr("the table is empty")));
  EXPECT_THAT(complaints(std::string("singular\tplural\na\0b\tc\n", 23)), ElementsAre(HasSubstr("printable")));
  EXPECT_THAT(complaints("singular\tplural\n\xFF\tc\n"), ElementsAre(HasSubstr("invalid UTF-8")));
}

TEST(Tables, what_a_table_holds_is_checked_like_a_list) {
  const JobFolder folder;
  const auto job = [&](const std::string& groups, const std::string& traits) {
    folder.write("jobs/g.tsv", "singular\tplural\n" + groups);
    folder.write("jobs/t.tsv", "dimension\tpair\tpole\ttrait\tadjectives\n" + traits);
    return folder.complaint(
        "schema: stereosweep/1\nname: abc\nmodel: m\nprobe: association\naxes:\n"
        "  groups: {tsv: g.tsv}\n  traits: {tsv: t.tsv}\n  templates: ['{group} are {trait}.']\n");
  };
  const std::string good_traits = "d\ta - b\tleft\ta\ta|c\nd\ta - b\tright\tb\tb\n";
  EXPECT_EQ(job("x\txs\n", good_traits), "");
  EXPECT_THAT(job("x\t[MASK]s\n", good_traits), HasSubstr("'[MASK]'"));
  EXPECT_THAT(job("x\t{group}\n", good_traits), HasSubstr("placeholder"));
  EXPECT_THAT(job("x\t xs\n", good_traits), HasSubstr("white space"));
  EXPECT_THAT(job("x\tprior_word\n", good_traits), HasSubstr("reserved"));
  EXPECT_THAT(job("x\txs\n", "d\ta - b\tleft\ta\ta|a\nd\ta - b\tright\tb\tb\n"), HasSubstr("'a' stands twice"));
  EXPECT_THAT(job("x\txs\n", "d\ta - b\tleft\ta\ta\nd\ta - b\tright\tb\ta\n"), HasSubstr("both poles"));
  EXPECT_THAT(job("x\txs\n", "d\ta - b\tleft\ta\ta\n"),
              HasSubstr("t.tsv:2:traits[0].right: the key 'right' is missing"));
  EXPECT_THAT(job("x\txs\n\t\n", good_traits), HasSubstr("g.tsv:3:groups[1]: neither 'singular' nor 'plural'"));
  EXPECT_THAT(job("x\txs\nx\txs\n", good_traits), HasSubstr("g.tsv:3:groups[1]: the label 'xs' stands twice"));
  EXPECT_THAT(job("x\txs\n", "d\ta - b\tmiddle\ta\ta\n"), HasSubstr("unknown pole"));
}

}  // namespace
}  // namespace stereosweep::config
