// Statistics of a small job under the fake engine, against the definitions written out as plain loops.
#include "probes/association/scores/Statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "engine/FakeEngine.hpp"
#include "findings/agreement/Alignment.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/SmallJob.hpp"
#include "probes/TinyTokenizers.hpp"
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
using ::testing::ThrowsMessage;

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

TEST_F(StatisticsTest, MeanPairScoresFollowTheDefinitions) {
  const auto result = compute_statistics(*file_, {});
  const auto& axes = result.scores.axes;
  ASSERT_EQ(axes.measures.size(), 10U);
  ASSERT_EQ(axes.priors.size(), 2U);
  ASSERT_THAT(axes.pairs, ElementsAre("powerless - powerful", "cold - warm"));
  std::size_t num_defined = 0;
  for (std::size_t measure = 0; measure < 10; ++measure) {
    for (std::size_t prior = 0; prior < 2; ++prior) {
      for (std::size_t group = 0; group < axes.groups.size(); ++group) {
        for (std::size_t pair = 0; pair < 2; ++pair) {
          std::vector<double> defined;
          for (std::uint64_t sentence = 0; sentence < 8; ++sentence) {
            const auto score = pair_score(axes.measures[measure], prior, group, sentence, axes.pairs[pair]);
            if (!std::isnan(score)) {
              defined.push_back(score);
            }
          }
          const auto& ours = result.scores.overall[result.scores.overall_index(measure, prior, group, pair)];
          ASSERT_EQ(ours.count, static_cast<std::int32_t>(defined.size())) << axes.measures[measure];
          if (!defined.empty()) {
            EXPECT_NEAR(ours.value(), stats::mean(defined).value, 1e-12) << axes.measures[measure];
            ++num_defined;
          }
        }
      }
    }
  }
  EXPECT_GT(num_defined, 60U);
}

TEST_F(StatisticsTest, CountsEveryCellAndScore) {
  const auto result = compute_statistics(*file_, {});
  const auto cells = result.scores.axes.groups.size() * 8 * result.scores.axes.words.size();
  std::uint64_t sum = 0;
  for (const auto count : result.scores.cells_by_status) {
    sum += count;
  }
  EXPECT_EQ(sum, cells);
  for (const auto& table : result.scores.scores_by_status) {
    std::uint64_t scores = 0;
    for (const auto count : table) {
      scores += count;
    }
    EXPECT_EQ(scores, cells);
  }
  EXPECT_THAT(status_text(result), HasSubstr("no_form"));  // "the old" have no singular
}

TEST_F(StatisticsTest, OnlySelectedTemplatesCount) {
  StatisticsOptions options;
  options.templates = {"question"};
  const auto result = compute_statistics(*file_, options);
  const auto& mean = result.scores.overall[result.scores.overall_index(2, 0, 0, 1)];
  EXPECT_EQ(mean.count, 2);
  EXPECT_NEAR(mean.value(),
              (pair_score("ilps_chain", 0, 0, 4, "cold - warm") + pair_score("ilps_chain", 0, 0, 5, "cold - warm")) / 2,
              1e-12);
  options.templates = {"questoin"};
  EXPECT_THAT([&] { compute_statistics(*file_, options); },
              ThrowsMessage<base::InputError>(HasSubstr("did you mean 'question'")));
}

TEST_F(StatisticsTest, AgreementIsThatOfTheRatedCells) {
  StatisticsOptions options;
  const auto plain = compute_statistics(*file_, options).scores;
  std::vector<findings::Rating> ratings = {{"robots", "cold - warm", 3}};
  const auto& axes = plain.axes;
  for (std::size_t group = 0; group < axes.groups.size(); ++group) {
    for (std::size_t pair = 0; pair < 2; ++pair) {  // people agree with ilps_chain - the first prior
      const auto score = plain.overall[plain.overall_index(2, 0, group, pair)].value();
      ratings.push_back({axes.groups[group], axes.pairs[pair], 50 + score});
    }
  }
  options.ratings = ratings;
  const auto result = compute_statistics(*file_, options);
  EXPECT_THAT(result.ratings->unmatched_groups, ElementsAre("robots"));
  EXPECT_EQ(result.ratings->rated_groups.size(), axes.groups.size());
  const auto& alignment = result.alignments[2 * 2 + 0];
  EXPECT_DOUBLE_EQ(alignment.pooled.value, 1);
  EXPECT_EQ(alignment.pooled.n, 2 * axes.groups.size());
  EXPECT_DOUBLE_EQ(alignment.mean_tau.value, 1);
  // two trait pairs have two orders, so that no order of them is rare; groups have more
  EXPECT_GT(alignment.pooled_p_items.value, 0.9);
  EXPECT_LT(alignment.pooled_p_groups.value, 1);
  EXPECT_EQ(alignment.mean_precision.reason, stats::Reason::no_values);  // two pairs have no three highest
  ASSERT_TRUE(alignment.choice.has_value());
  EXPECT_LE(alignment.choice->templates.size(), 2U);
  for (const auto& pooled : alignment.pooled_by_template) {
    EXPECT_LE(pooled.value, alignment.choice->pooled.value);
  }
  EXPECT_GE(2 * alignment.choice->pooled.n, alignment.pooled.n);
  EXPECT_THAT(findings::agreement_text(result, 5), HasSubstr("1 rated group not in the result: robots"));
}

TEST_F(StatisticsTest, UnusableRatingsAreRefused) {
  StatisticsOptions options;
  options.ratings = std::vector<findings::Rating>{{"woman", "cold - warm", 1}};
  EXPECT_THAT([&] { compute_statistics(*file_, options); },
              ThrowsMessage<base::InputError>(HasSubstr("did you mean 'women'")));
  options.ratings = std::vector<findings::Rating>{{"women", "cold - warm", 1}, {"women", "cold - warm", 2}};
  EXPECT_THAT([&] { compute_statistics(*file_, options); }, ThrowsMessage<base::InputError>(HasSubstr("rated twice")));
}

TEST_F(StatisticsTest, TheTableOfScoresHoldsEveryPairScore) {
  write_statistics(*file_, {}, directory_ / "association.stats.h5");
  const auto table = results::read_score_table(directory_ / "association.stats.h5");
  const auto reference = compute_statistics(*file_, {});
  const auto& axes = reference.scores.axes;
  ASSERT_EQ(table.length(0), axes.measures.size() * axes.priors.size());
  EXPECT_EQ(table.axes[0].labels[1], "ilps_first prior_mask");
  EXPECT_EQ(table.axes[1].labels, axes.groups);
  EXPECT_EQ(table.axes[5].labels, axes.pairs);
  std::set<results::ScoreStatus> seen;
  for (std::size_t measure = 0; measure < table.length(0); ++measure) {
    for (std::size_t group = 0; group < table.length(1); ++group) {
      for (std::size_t sentence = 0; sentence < 8; ++sentence) {
        for (std::size_t pair = 0; pair < table.length(5); ++pair) {
          const auto place = table.index({measure, group, sentence / 2, sentence % 2, 0, pair});
          const auto expected = pair_score(axes.measures[measure / 2], measure % 2, group, sentence, axes.pairs[pair]);
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

TEST_F(StatisticsTest, TheFileHoldsTheSameNumbers) {
  StatisticsOptions options;
  options.ratings = std::vector<findings::Rating>{{"women", "cold - warm", 70}, {"doctors", "cold - warm", 30}};
  options.ratings_source = "here";
  const auto result = write_statistics(*file_, options, directory_ / "association.stats.h5");
  const auto file = hdf5::File::open(directory_ / "association.stats.h5");
  const auto read = [&](const std::string& name) {
    const auto dataset = file.root().open_dataset(name);
    std::uint64_t count = 1;
    for (const auto length : dataset.shape()) {
      count *= length;
    }
    std::vector<double> values(count);
    dataset.read(dataset.all(), std::span<double>(values));
    return std::pair(dataset.shape(), values);
  };
  const auto [shape, pair_scores] = read("pair_score");
  EXPECT_THAT(shape, ElementsAre(3, 4, 2, 10, 2, 2));
  std::size_t index = 0;
  for (std::uint64_t group = 0; group < 3; ++group) {
    for (std::uint64_t sentence = 0; sentence < 8; ++sentence) {
      for (const auto& measure : result.scores.axes.measures) {
        for (std::uint64_t prior = 0; prior < 2; ++prior) {
          for (const auto& pair : result.scores.axes.pairs) {
            const auto expected = pair_score(measure, prior, group, sentence, pair);
            const auto ours = pair_scores[index++];
            ASSERT_TRUE(std::abs(ours - expected) < 1e-12 || (std::isnan(ours) && std::isnan(expected)))
                << measure << " " << group << " " << sentence << " " << ours << " " << expected;
          }
        }
      }
    }
  }
  EXPECT_EQ(read("tau_pooled").second[4], result.alignments[4].pooled.value);
  EXPECT_EQ(read("tau_pooled_p_groups").second[4], result.alignments[4].pooled_p_groups.value);
  EXPECT_EQ(file.root().text_attribute("source_digest"),
            base::to_hex(results::digest_of_file(results::ResultFile(path_))));
  EXPECT_EQ(file.root().text_attribute("human_ratings"), "here");
  write_statistics(*file_, options, directory_ / "again.stats.h5");
  EXPECT_EQ(base::read_file(directory_ / "association.stats.h5"), base::read_file(directory_ / "again.stats.h5"));
}

}  // namespace
}  // namespace stereosweep::probes::association
