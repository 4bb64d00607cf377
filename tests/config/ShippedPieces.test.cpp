// The files under configs/ and jobs/ load, hold what they claim, and every one is used.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "config/JobText.hpp"
#include "probes/association/Association.hpp"
#include "probes/coreference/Coreference.hpp"
#include "support/Places.hpp"
#include "support/RegisteredProbes.hpp"

namespace stereosweep::config {
namespace {

const std::filesystem::path source = source_directory();

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") {
      names.insert(entry.path().stem().string());
    }
  }
  return names;
}

sweep::Job load_with(const std::vector<std::string>& overrides) {
  std::vector<std::string> all = {"sweep={}", "statistics={}", "axes.templates=abc_templates"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return load_jobs(source / "jobs" / "01_example.yaml", all).front();
}

TEST(ShippedPieces, every_piece_loads) {
  for (const auto& kind : {"groups", "intersections", "traits", "templates", "rephrasings"}) {
    const auto names = files_in(source / "configs" / kind);
    EXPECT_FALSE(names.empty()) << kind;
    for (const auto& name : names) {
      EXPECT_NO_THROW(load_with({"axes." + std::string(kind) + "=" + name})) << kind << '/' << name;
    }
  }
}

TEST(ShippedPieces, every_piece_of_a_coreference_job_loads) {
  for (const auto& kind : {"sentences", "markers", "questions"}) {
    const auto names = files_in(source / "configs" / kind);
    EXPECT_FALSE(names.empty()) << kind;
    for (const auto& name : names) {
      EXPECT_NO_THROW(load_jobs(source / "jobs" / "40_winoidentity.yaml", {"axes." + std::string(kind) + "=" + name}))
          << kind << '/' << name;
    }
  }
  const auto settings =
      load_jobs(source / "jobs" / "40_winoidentity.yaml").front().settings<probes::coreference::Coreference>();
  EXPECT_EQ(settings.markers.size(), 25u);
  std::set<std::string> attributes;
  for (const auto& marker : settings.markers) {
    attributes.insert(marker.attribute);
  }
  EXPECT_EQ(attributes.size(), 10u);
  EXPECT_EQ(settings.sentences.size(), 40u);
  for (const auto& sentence : settings.sentences) {
    EXPECT_THAT(sentence.notes, ::testing::IsEmpty()) << sentence.text;
  }
}

TEST(ShippedPieces, every_job_loads) {
  const auto names = files_in(source / "jobs");
  EXPECT_TRUE(names.contains("00_smoke"));
  for (const auto& name : names) {
    EXPECT_FALSE(load_jobs(source / "jobs" / (name + ".yaml")).empty()) << name;
  }
}

TEST(ShippedPieces, lists_have_the_published_sizes) {
  const auto job = load_with({"axes.traits=abc_traits"});
  EXPECT_EQ(job.settings<probes::association::Association>().axes.groups.size(), 51u);
  EXPECT_EQ(job.settings<probes::association::Association>().axes.traits.size(), 16u);
  std::size_t num_words = 0;
  for (const auto& pair : job.settings<probes::association::Association>().axes.traits) {
    num_words += pair.left.words.size() + pair.right.words.size();
  }
  EXPECT_EQ(num_words, 118u);
  EXPECT_GE(job.settings<probes::association::Association>().axes.templates.size(), 20u);
  std::set<std::string> kinds;
  for (const auto& sentence : job.settings<probes::association::Association>().axes.templates) {
    kinds.insert(sentence.kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"singular", "plural", "question", "adverb", "belief", "expectation",
                                          "trait_first", "comparative"}));
}

TEST(ShippedPieces, groups_and_traits_are_the_published_ones) {
  const auto data = source / ".." / "shared" / "data" / "cao2022-abc";
  if (!std::filesystem::exists(data / "groups.tsv")) {
    GTEST_SKIP() << "the published data set is not at " << data << " (optional)";
  }
  const auto ours = load_with({"axes.traits=abc_traits"});
  const auto theirs = load_with({"axes.groups={tsv: '" + (data / "groups.tsv").string() + "'}",
                                 "axes.traits={tsv: '" + (data / "traits.tsv").string() + "'}"});
  for (std::size_t i = 0; i < ours.settings<probes::association::Association>().axes.groups.size(); ++i) {
    EXPECT_EQ(ours.settings<probes::association::Association>().axes.groups[i].label,
              theirs.settings<probes::association::Association>().axes.groups[i].label);
    EXPECT_EQ(ours.settings<probes::association::Association>().axes.groups[i].singular,
              theirs.settings<probes::association::Association>().axes.groups[i].singular);
  }
  std::vector<std::string> spelt_otherwise;
  for (std::size_t i = 0; i < ours.settings<probes::association::Association>().axes.traits.size(); ++i) {
    EXPECT_EQ(ours.settings<probes::association::Association>().axes.traits[i].label,
              theirs.settings<probes::association::Association>().axes.traits[i].label);
    EXPECT_EQ(ours.settings<probes::association::Association>().axes.traits[i].left,
              theirs.settings<probes::association::Association>().axes.traits[i].left);
    for (std::size_t k = 0; k < ours.settings<probes::association::Association>().axes.traits[i].right.words.size();
         ++k) {
      if (ours.settings<probes::association::Association>().axes.traits[i].right.words[k] !=
          theirs.settings<probes::association::Association>().axes.traits[i].right.words.at(k)) {
        spelt_otherwise.push_back(ours.settings<probes::association::Association>().axes.traits[i].right.words[k]);
      }
    }
  }
  EXPECT_THAT(spelt_otherwise, ::testing::ElementsAre("atheistic", "avant-garde"));
}

TEST(ShippedPieces, intersections_follow_the_rule) {
  const auto list = probes::association::list_subjects(
      load_with({"axes.intersections=abc_pairs"}).settings<probes::association::Association>());
  std::set<std::string> plurals;
  for (const auto& subject : list.subjects) {
    if (subject.kind == sweep::SubjectKind::intersection) {
      EXPECT_NE(subject.domains[0], subject.domains[1]) << subject.label;
      EXPECT_TRUE(plurals.insert(subject.plural).second) << subject.plural;
    }
  }
  for (const auto* present :
       {"Catholic teenagers", "teenage Catholic people", "Latinas", "female doctors", "Cuban people with disabilities",
        "unemployed Italian people", "Hispanic unemployed people", "trans Republicans", "gay men with disabilities",
        "Democrat teenagers", "teenage Democrats", "immigrant women", "female immigrants", "refugee teenagers"}) {
    EXPECT_TRUE(plurals.contains(present)) << present;
  }
  for (const auto* absent : {"teenage veterans", "doctor elderly people", "immigrant blind people", "Hispanic women"}) {
    EXPECT_FALSE(plurals.contains(absent)) << absent;
  }
  EXPECT_GT(plurals.size(), 1500u);
}

}  // namespace
}  // namespace stereosweep::config
