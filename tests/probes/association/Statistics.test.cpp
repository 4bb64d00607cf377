// Statistics of a small job under the fake engine, against the definitions written out as plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/text/Text.hpp"
#include "engine/FakeEngine.hpp"
#include "hdf5/File.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/SmallJob.hpp"
#include "probes/TinyTokenizers.hpp"
#include "probes/association/Association.hpp"
#include "results/Export.hpp"
#include "results/ReadScoreTable.hpp"
#include "results/Reader.hpp"
#include "stats/Summary.hpp"
#include "support/RegisteredProbes.hpp"
#include "support/TemporaryDirectory.hpp"

namespace stereosweep::probes::association {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

/// Of a table of text, whose head and lines end with it.
std::uint64_t sum_of_last_column(const std::string& table) {
  std::uint64_t sum = 0;
  const auto lines = base::split(table, '\n');
  for (std::size_t line = 1; line < lines.size(); ++line) {
    auto number = base::replace_all(std::string(base::trim(lines[line])), ",", "");
    number.erase(0, number.rfind(' ') + 1);
    sum += number.find_first_not_of("0123456789") == std::string::npos && !number.empty() ? std::stoull(number) : 0;
  }
  return sum;
}

class StatisticsTest : public ::testing::Test {
 protected:
  StatisticsTest() : tokenizer_(probes::testing::word_piece()) {
    const auto probe = make_probe(probes::testing::small_job(), tokenizer_);
    engine::FakeEngine engine(tokenizer_, 5);
    const auto source = [&](const sweep::Block& block) -> std::optional<results::RawBlock> {
      Transcript transcript;
      transcript.rounds.push_back(probe->first(block));
      transcript.answers.push_back(engine.answer(transcript.rounds.front().queries));
      return probe->fold(block, transcript);
    };
    results::export_run({"small", "association", &probe->schema(), &probe->blocks(), source, {}, {}}, path_);
    file_ = std::make_unique<results::ResultFile>(path_);
    raw_ = file_->read(0, file_->num_contexts());
  }

  template <class T>
  const std::vector<T>& cube(const std::string& name) const {
    for (std::size_t index = 0; index < file_->schema().cubes.size(); ++index) {
      if (file_->schema().cubes[index].name == name) {
        return std::get<std::vector<T>>(raw_.columns[index]);
      }
    }
    throw std::runtime_error("no cube " + name);
  }

  /// One side of a score of a word in a context, straight from the definitions; NaN where it does not exist.
  double side(const std::string& measure, std::uint64_t context, std::uint64_t word) const {
    const auto num_words = file_->schema().inner_axis("word").labels.size();
    const auto num_subwords = file_->schema().inner_axis("subword").labels.size();
    const auto cell = context * num_words + word;
    const auto n = cube<std::int32_t>("num_subwords")[cell];
    const auto at = [&](const std::string& name, std::size_t subword) {
      return cube<double>(name)[cell * num_subwords + subword];
    };
    if (n <= 0) {
      return NAN;
    }
    if (measure == "ilps_first") {
      return at("logprob", 0);
    }
    if (measure == "ilps_last") {
      return at("logprob", static_cast<std::size_t>(n - 1));
    }
    double sum = 0;
    double hardest = 0;
    double easiest = INFINITY;
    for (std::size_t subword = 0; subword < static_cast<std::size_t>(n); ++subword) {
      if (measure == "ilps_star") {
        sum -= at(subword == 0 ? "log_mass_initial" : "log_mass_continuation", subword);
      }
      sum += at("logprob", subword);
      if (measure.starts_with("set")) {
        const auto d = at(measure.ends_with("plain") ? "set_distance_plain" : "set_distance_bias", subword);
        hardest = std::isnan(d) ? NAN : std::max(hardest, d);
        easiest = std::isnan(d) ? NAN : std::min(easiest, d);
      }
    }
    if (measure.starts_with("ilps")) {
      return sum;
    }
    if (measure.starts_with("set_code")) {
      return hardest < 1 ? std::log(1 - hardest) : NAN;
    }
    const double distance = measure.starts_with("set_hardest") ? hardest : easiest;
    return distance > 0 ? -std::log(distance * distance) : NAN;
  }

  /// Pair score of a group in a sentence; NaN where it does not exist.
  double pair_score(const std::string& measure, std::uint64_t prior, std::uint64_t group, std::uint64_t sentence,
                    const std::string& pair) const {
    const auto& axis = file_->schema().inner_axis("word");
    std::map<std::string, std::vector<double>> sides;
    for (std::uint64_t word = 0; word < axis.labels.size(); ++word) {
      if (axis.coordinates[1].values[word] == pair) {
        const auto score = side(measure, (2 + group) * 8 + sentence, word) - side(measure, prior * 8 + sentence, word);
        if (!std::isnan(score)) {
          sides[axis.coordinates[3].values[word]].push_back(score);
        }
      }
    }
    return stats::median(sides["right"]).value - stats::median(sides["left"]).value;
  }

  stereosweep::testing::TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "association.h5";
  tokenizer::Tokenizer tokenizer_;
  std::unique_ptr<results::ResultFile> file_;
  results::RawBlock raw_;
};

TEST_F(StatisticsTest, AFileIsAResultOfItsOwnProbeAlone) {
  EXPECT_NO_THROW(require_result_of(*file_, "association"));
  EXPECT_THROW(require_result_of(*file_, "rating"), base::InputError);
}

TEST_F(StatisticsTest, CountsEveryCellAndScore) {
  const auto text = status_text(*file_);
  const auto tables = text.find("\n\n");
  ASSERT_NE(tables, std::string::npos);
  const auto num_words = file_->schema().inner_axis("word").labels.size();
  EXPECT_EQ(sum_of_last_column(text.substr(0, tables)), 3 * 8 * num_words);
  std::uint64_t num_undefined = 0;
  const auto axes = score_axes(file_->schema());
  for (const auto& variant : axes.front().labels) {
    const auto measure = variant.substr(0, variant.find(' '));
    const auto prior = variant.ends_with("prior_mask") ? 1U : 0U;
    for (std::uint64_t context = 16; context < file_->num_contexts(); ++context) {
      for (std::uint64_t word = 0; word < num_words; ++word) {
        const auto score = side(measure, context, word) - side(measure, prior * 8 + context % 8, word);
        num_undefined += std::isnan(score) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(num_undefined, 0U);
  EXPECT_EQ(sum_of_last_column(text.substr(tables + 2)), num_undefined);
  EXPECT_THAT(text, HasSubstr("no_form"));  // "the old" have no singular
}

TEST_F(StatisticsTest, TheTableOfScoresHoldsEveryPairScore) {
  write_statistics(*file_, Statistics::Aggregate::median, directory_ / "association.stats.h5");
  const auto table = results::read_score_table(directory_ / "association.stats.h5");
  ASSERT_EQ(table.length(0), 20U);
  EXPECT_EQ(table.axes[0].labels[1], "ilps_first prior_mask");
  EXPECT_THAT(table.axes[5].labels, ElementsAre("powerless - powerful", "cold - warm"));
  std::set<results::ScoreStatus> seen;
  for (std::size_t measure = 0; measure < table.length(0); ++measure) {
    for (std::size_t group = 0; group < table.length(1); ++group) {
      for (std::size_t sentence = 0; sentence < 8; ++sentence) {
        for (std::size_t pair = 0; pair < table.length(5); ++pair) {
          const auto place = table.index({measure, group, sentence / 2, sentence % 2, 0, pair});
          const auto& label = table.axes[0].labels[measure];
          const auto expected =
              pair_score(label.substr(0, label.find(' ')), measure % 2, group, sentence, table.axes[5].labels[pair]);
          const auto status = table.statuses[place];
          seen.insert(status);
          ASSERT_TRUE(std::abs(table.values[place] - expected) < 1e-12 ||
                      (std::isnan(table.values[place]) && std::isnan(expected)));
          ASSERT_EQ(!std::isnan(expected),
                    status == results::ScoreStatus::ok || status == results::ScoreStatus::partial);
        }
      }
    }
  }
  EXPECT_THAT(seen, IsSupersetOf({results::ScoreStatus::ok, results::ScoreStatus::missing}));
}

TEST_F(StatisticsTest, PairsAreDifferencesOfThePolesOfTheFile) {
  const auto path = directory_ / "association.stats.h5";
  write_statistics(*file_, Statistics::Aggregate::median, path);
  const auto table = results::read_score_table(path);
  const auto file = hdf5::File::open(path);
  const auto dataset = file.root().open_dataset(results::pole_score_name);
  std::vector<double> poles(hdf5::product(dataset.shape()));
  dataset.read(0, std::span<double>(poles));
  ASSERT_EQ(poles.size(), 2 * table.values.size());  // left, right of each pair
  for (std::size_t place = 0; place < table.values.size(); ++place) {
    const double expected = poles[2 * place + 1] - poles[2 * place];
    EXPECT_TRUE(table.values[place] == expected || (std::isnan(table.values[place]) && std::isnan(expected)));
  }
  EXPECT_EQ(file.root().text_attribute("source_digest"),
            base::to_hex(results::digest_of_file(results::ResultFile(path_))));
  write_statistics(*file_, Statistics::Aggregate::median, directory_ / "again.stats.h5");
  EXPECT_EQ(base::read_file(path), base::read_file(directory_ / "again.stats.h5"));
}

TEST_F(StatisticsTest, WhatTheJobNamesBecomesAQuestionOfTheScoreTable) {
  auto job = probes::testing::small_job();
  auto& settings = job.settings<Association>();
  settings.statistics.human_ratings = "means.tsv";
  settings.statistics.rating_aliases = {{"ladies", "women"}};
  settings.statistics.templates = {"question"};
  const auto comparison = kind_of(job).comparison(job);
  EXPECT_EQ(comparison.templates, std::vector<std::string>{"question"});
  ASSERT_TRUE(comparison.people && comparison.means);
  EXPECT_EQ(comparison.people->ratings, "means.tsv");
  EXPECT_THAT(comparison.people->aliases,
              IsSupersetOf({std::pair<std::string, std::string>("ladies", "women"), {"woman", "women"}}));
  job.comparison.people.emplace().ratings = "answers.tsv";  // the newer key counts
  EXPECT_EQ(kind_of(job).comparison(job).people->ratings, "answers.tsv");
}

}  // namespace
}  // namespace stereosweep::probes::association
