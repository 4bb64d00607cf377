#include "results/ContextsStatistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "base/Error.hpp"
#include "base/Philox.hpp"
#include "plan/Product.hpp"
#include "probe/ContextsSchema.hpp"
#include "probe/EmbeddingTests.hpp"
#include "results/ContextsText.hpp"
#include "results/Export.hpp"
#include "results/StatisticsText.hpp"
#include "stats/EffectSize.hpp"
#include "stats/Spread.hpp"

namespace stereosweep::results {
namespace {

using Kind = domain::EmbeddingTest::Kind;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> numbered(const std::string& stem, std::size_t count) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < count; ++i) {
    words.push_back(stem + std::to_string(i));
  }
  return words;
}

domain::EmbeddingTest weat(const std::string& label, std::size_t n, std::size_t m) {
  return {label,
          "a test",
          Kind::weat,
          {"x", numbered(label + "x", n)},
          {"y", numbered(label + "y", m)},
          {"a", numbered("a", 3)},
          {"b", numbered("b", 4)}};
}

domain::EmbeddingTest wefat(const std::string& label, std::size_t n) {
  return {label, "", Kind::wefat, {"traits", numbered("t", n)}, {}, {"a", numbered("a", 3)}, {"b", numbered("b", 4)}};
}

/// A result whose associations are random numbers with a shift per set.
class Synthetic {
 public:
  Synthetic(std::vector<domain::EmbeddingTest> tests, std::size_t num_samples)
      : num_samples_(num_samples), folder_(std::filesystem::temp_directory_path() / "stereosweep_contexts") {
    settings_.tests = std::move(tests);
    std::filesystem::create_directories(folder_);
    const auto names = probe::list_words(settings_.tests);
    for (const auto& name : names) {
      words_.push_back({.word = name, .found = 5, .stored = 5, .usable = 5, .digest = {}});
    }
    in_use_ = probe::tests_in_use(settings_, 1, words_);
    schema_ = probe::effects_schema(in_use_, words_, num_samples);
    num_slots_ = schema_.inner_axis("target").labels.size();
    has_wefat_ = schema_.cubes.size() > static_cast<std::size_t>(probe::EffectColumn::association_deviation);
  }
  ~Synthetic() { std::filesystem::remove_all(folder_); }
  Synthetic(const Synthetic&) = delete;
  Synthetic& operator=(const Synthetic&) = delete;

  double association(std::size_t test, std::size_t sample, std::size_t target) const {
    const auto num_x = settings_.tests[test].x.words.size();
    return base::philox_unit({.seed = 4,
                              .test = static_cast<std::uint32_t>(test),
                              .sample = static_cast<std::uint32_t>(sample),
                              .word = static_cast<std::uint32_t>(target)}) -
           0.5 + (target < num_x ? shift_ : 0);
  }
  double deviation(std::size_t test, std::size_t sample) const {
    return 0.5 + 0.1 * static_cast<double>((test + sample) % 3);
  }
  void set_shift(double shift) { shift_ = shift; }
  /// The sample whose associations are all equal.
  void break_sample(std::size_t sample) { broken_ = sample; }
  std::filesystem::path folder() const { return folder_; }

  std::unique_ptr<ResultFile> write() const {
    const plan::BlockPlan blocks(plan::Product({settings_.tests.size(), num_samples_}), num_samples_);
    const auto path = folder_ / "contexts.h5";
    export_run(
        {"synthetic",
         "contexts",
         &schema_,
         &blocks,
         [this](const plan::Block& block) { return std::optional(block_of(block.first_context / num_samples_)); },
         {{"created", "2026-11-21T00:00:00Z"}},
         {}},
        path);
    return std::make_unique<ResultFile>(path);
  }

 private:
  probe::RawBlock block_of(std::size_t test) const {
    const auto& sets = settings_.tests[test];
    const auto num_x = sets.x.words.size();
    const auto num_targets = num_x + sets.y.words.size();
    std::vector<double> associations;
    std::vector<double> deviations;
    std::vector<double> effects;
    std::vector<double> variances;
    std::vector<std::uint8_t> status;
    for (std::size_t sample = 0; sample < num_samples_; ++sample) {
      std::vector<double> own;
      for (std::size_t target = 0; target < num_slots_; ++target) {
        const bool exists = target < num_targets;
        own.push_back(!exists ? nan : sample == broken_ ? 0.25 : association(test, sample, target));
        deviations.push_back(exists && sets.kind == Kind::wefat ? deviation(test, sample) : nan);
      }
      associations.insert(associations.end(), own.begin(), own.end());
      const auto border = own.begin() + static_cast<std::ptrdiff_t>(num_x);
      const std::vector<double> x(own.begin(), border);
      const std::vector<double> y(border, own.begin() + static_cast<std::ptrdiff_t>(num_targets));
      const auto effect = stats::effect_size(x, y);
      const bool is_weat = sets.kind == Kind::weat;
      effects.push_back(is_weat ? effect.value : nan);
      variances.push_back(is_weat ? effect.deviation * effect.deviation : nan);
      status.push_back(is_weat && !effect.defined() ? static_cast<std::uint8_t>(probe::EffectStatus::zero_deviation)
                                                    : std::uint8_t{0});
    }
    probe::RawBlock block{{associations, effects, variances, status}};
    if (has_wefat_) {
      block.columns.emplace_back(deviations);
    }
    return block;
  }

  std::size_t num_samples_;
  std::filesystem::path folder_;
  domain::Contexts settings_;
  std::vector<probe::WordVectors> words_;
  std::vector<probe::TestInUse> in_use_;
  probe::RawSchema schema_;
  std::size_t num_slots_ = 0;
  bool has_wefat_ = false;
  double shift_ = 0.2;
  std::size_t broken_ = std::numeric_limits<std::size_t>::max();
};

TEST(ContextsStatistics, CombinesTheSamplesThatHaveAnEffect) {
  Synthetic run({weat("one", 5, 4)}, 12);
  run.break_sample(3);
  const auto file = run.write();
  const auto result = compute_contexts(*file, {});
  const auto& summary = result.summaries.front();
  std::vector<double> effects;
  std::vector<double> variances;
  for (std::size_t sample = 0; sample < 12; ++sample) {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t target = 0; target < 9; ++target) {
      (target < 5 ? x : y).push_back(run.association(0, sample, target));
    }
    if (sample != 3) {
      const auto effect = stats::effect_size(x, y);
      effects.push_back(effect.value);
      variances.push_back(effect.deviation * effect.deviation);
    }
  }
  const auto truth = stats::combine_effects(effects, variances, stats::TauEstimator::dersimonian_laird, 0.95);
  EXPECT_EQ(summary.combined[0].effect, truth.effect);
  EXPECT_EQ(summary.combined[0].log10_p_two_sided, truth.log10_p_two_sided);
  EXPECT_EQ(summary.effect.num_used, 11);
  EXPECT_NEAR(summary.effect.mean, std::accumulate(effects.begin(), effects.end(), 0.0) / 11, 1e-14);
  EXPECT_NEAR(summary.effect.deviation, stats::standard_deviation(effects).value, 1e-14);
  EXPECT_EQ(summary.samples_by_status, (std::vector<std::uint64_t>{11, 0, 1, 0, 0}));
  const auto cohen = summary.combined[3 * static_cast<std::size_t>(domain::EmbeddingStatistics::Variance::cohen)];
  EXPECT_NE(cohen.standard_error, summary.combined[0].standard_error);
}

/// Relabels the target words in all samples together and recomputes the weighted mean effect, weights held fixed.
TEST(ContextsStatistics, RelabelsTheWordsInAllSamplesTogether) {
  const Synthetic run({weat("one", 4, 5)}, 7);
  const auto file = run.write();
  for (const auto variance :
       {domain::EmbeddingStatistics::Variance::paper, domain::EmbeddingStatistics::Variance::cohen}) {
    ContextsOptions options;
    options.settings.variance = variance;
    const auto result = compute_contexts(*file, options);
    const auto& combined = result.summaries.front().combined[result.chosen];
    const auto effect_of = [&](std::size_t sample, unsigned chosen) {
      std::vector<double> x;
      std::vector<double> y;
      for (std::size_t target = 0; target < 9; ++target) {
        ((chosen >> target & 1U) != 0 ? x : y).push_back(run.association(0, sample, target));
      }
      return stats::effect_size(x, y);
    };
    std::vector<double> weights;
    for (std::size_t sample = 0; sample < 7; ++sample) {
      const auto effect = effect_of(sample, 0b1111);
      const double v = variance == domain::EmbeddingStatistics::Variance::paper
                           ? effect.deviation * effect.deviation
                           : stats::cohen_variance(effect.value, 4, 5);
      weights.push_back(1 / (v + combined.tau_squared));
    }
    const auto mean_effect = [&](unsigned chosen) {
      double sum = 0;
      double total = 0;
      for (std::size_t sample = 0; sample < 7; ++sample) {
        sum += weights[sample] * effect_of(sample, chosen).value;
        total += weights[sample];
      }
      return sum / total;
    };
    EXPECT_NEAR(mean_effect(0b1111), combined.effect, 1e-13);
    int count = 0;
    for (unsigned chosen = 0; chosen < 1U << 9U; ++chosen) {
      count += std::popcount(chosen) == 4 && mean_effect(chosen) >= combined.effect - 1e-12 ? 1 : 0;
    }
    const auto& permutation = result.summaries.front().permutation;
    EXPECT_EQ(permutation.method, PermutationSummary::Method::exact);
    EXPECT_EQ(permutation.partitions, "126");
    EXPECT_EQ(permutation.reaching, std::to_string(count));
    EXPECT_EQ(permutation.p, count / 126.0);
    EXPECT_DOUBLE_EQ(permutation.adjusted[0], permutation.p);  // a family of one
    EXPECT_NEAR(permutation.adjusted[3], permutation.p, 0.003);
  }
}

/// Holm's adjustment, from its definition: p_(i) times how many are left, never below an earlier one.
std::vector<double> by_holm(std::vector<double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto left, auto right) { return p[left] < p[right]; });
  double earlier = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    earlier = std::max(earlier, std::min(1.0, p[order[place]] * static_cast<double>(order.size() - place)));
    p[order[place]] = earlier;
  }
  return p;
}

TEST(ContextsStatistics, AdjustsInDeclaredFamilies) {
  const Synthetic run(
      {weat("one", 4, 4), weat("two", 5, 4), wefat("traits", 6), weat("three", 4, 3), weat("out", 3, 4)}, 6);
  const auto file = run.write();
  ContextsOptions options;
  options.settings.draws = 20'000;
  options.settings.families = {{"first", {"three", "one"}}, {"second", {"two"}}};
  const auto target = run.folder() / "contexts.stats.h5";
  const auto result = write_contexts(*file, options, target);
  const auto& all = result.summaries;
  const auto holm = by_holm({all[0].permutation.p, all[3].permutation.p});
  EXPECT_DOUBLE_EQ(all[0].permutation.adjusted[0], holm[0]);
  EXPECT_DOUBLE_EQ(all[3].permutation.adjusted[0], holm[1]);
  for (const auto p : all[1].permutation.adjusted) {
    EXPECT_NEAR(p, all[1].permutation.p, 0.01);  // a family of one
  }
  EXPECT_EQ(all[1].adjusted_log10_p.values[2], all[1].combined[result.chosen].log10_p_two_sided);
  for (std::size_t method = 0; method < 4; ++method) {
    EXPECT_TRUE(std::isnan(all[4].permutation.adjusted[method]));
    EXPECT_TRUE(std::isnan(all[4].adjusted_log10_p.values[method % 3]));
  }
  EXPECT_FALSE(std::isnan(all[4].permutation.p));
  const auto text = contexts_tests_text(result);
  EXPECT_NE(text.find("first (2 tests), second (1 test); in none, not adjusted: out."), std::string::npos) << text;
  const auto written = hdf5::File::open(target);
  EXPECT_TRUE(written.root().contains("test_family") && written.root().contains("family_size"));
  auto without = result;
  without.summaries[3].combined[without.chosen] = {};
  for (auto& word : without.summaries[2].words) {
    word.combined = {};
  }
  EXPECT_NE(contexts_tests_text(without).find("first (2 tests, 1 without p)"), std::string::npos);
  EXPECT_EQ(contexts_words_text(without, 3), "traits: no word of 'traits' has an effect\n\n");

  options.settings.families = {{"first", {"three", "one", "two", "out"}}};
  const auto declared = compute_contexts(*file, options);
  options.settings.families.clear();
  const auto plain = compute_contexts(*file, options);
  EXPECT_EQ(plain.families.front().label, "all");
  for (const std::size_t test : {0U, 1U, 3U, 4U}) {
    EXPECT_EQ(plain.summaries[test].permutation.adjusted, declared.summaries[test].permutation.adjusted);
  }
  options.settings.families = {{"f", {"one"}}, {"g", {"one"}}};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
  options.settings.families = {{"f", {"traits"}}};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
}

TEST(ContextsStatistics, WordsOfOneTestAreAFamily) {
  const Synthetic run({wefat("traits", 6), wefat("others", 3)}, 5);
  const auto result = compute_contexts(*run.write(), {});
  EXPECT_TRUE(result.families.empty());
  for (const auto& summary : result.summaries) {
    std::vector<double> p;
    for (const auto& word : summary.words) {
      p.push_back(std::pow(10, word.combined.log10_p_two_sided));
    }
    const auto holm = by_holm(p);
    for (std::size_t word = 0; word < p.size(); ++word) {
      EXPECT_NEAR(std::pow(10, summary.words[word].adjusted.values[0]), holm[word], 1e-12 * holm[word]);
      EXPECT_GE(summary.words[word].adjusted.values[2], summary.words[word].adjusted.values[1]);
    }
  }
}

TEST(ContextsStatistics, SharesOfRanksGiveTheSameCounts) {
  const Synthetic run({weat("one", 9, 9), weat("two", 12, 7)}, 3);
  const auto file = run.write();
  ContextsOptions options;
  options.settings.draws = 1000;
  const auto whole = compute_contexts(*file, options);
  std::vector<std::string> counted;
  options.count = [&](const stats::ExactPermutation& exact, std::int64_t threshold) {
    stats::PartitionCount sum = 0;
    for (unsigned rank = 0; rank < 3; ++rank) {
      sum += exact.count_share(threshold, rank, 3, 1);
    }
    counted.push_back(stats::to_text(sum));
    return sum;
  };
  const auto shared = compute_contexts(*file, options);
  for (std::size_t test = 0; test < 2; ++test) {
    EXPECT_EQ(shared.summaries[test].permutation.reaching, whole.summaries[test].permutation.reaching);
    EXPECT_EQ(shared.summaries[test].permutation.p, whole.summaries[test].permutation.p);
  }
  const auto by_rank_zero = counted;
  counted.clear();
  assist_contexts(*file, options);  // the same calls, in the same order, with the same scores
  EXPECT_EQ(counted, by_rank_zero);
}

TEST(ContextsStatistics, MonteCarloDoesNotDependOnThreadsOrOtherTests) {
  const Synthetic alone({weat("one", 6, 6)}, 2);
  const Synthetic first({weat("one", 6, 6), weat("two", 3, 3)}, 2);
  ContextsOptions options;
  options.settings.permutation = domain::EmbeddingStatistics::Permutation::monte_carlo;
  options.settings.draws = 5000;
  const auto one = compute_contexts(*alone.write(), options);
  options.num_threads = 3;
  const auto both = compute_contexts(*first.write(), options);
  EXPECT_EQ(one.summaries[0].permutation.p, both.summaries[0].permutation.p);
  EXPECT_EQ(one.summaries[0].permutation.draws, 5000);
  EXPECT_LE(one.summaries[0].permutation.interval.low, one.summaries[0].permutation.p);
  EXPECT_GE(both.summaries[0].permutation.adjusted[0], both.summaries[0].permutation.p);
  EXPECT_GE(both.summaries[0].permutation.adjusted[3], 0.8 * both.summaries[0].permutation.p);
}

TEST(ContextsStatistics, WordsHaveEffectsOfTheirOwn) {
  const Synthetic run({wefat("traits", 6)}, 5);
  const auto result = compute_contexts(*run.write(), {});
  const auto& summary = result.summaries.front();
  ASSERT_EQ(summary.words.size(), 6U);
  double total = 0;
  for (std::size_t word = 0; word < 6; ++word) {
    double sum = 0;
    for (std::size_t sample = 0; sample < 5; ++sample) {
      sum += run.association(0, sample, word) / run.deviation(0, sample) / 5;
    }
    EXPECT_NEAR(summary.words[word].effect.mean, sum, 1e-14);
    EXPECT_EQ(summary.words[word].effect.num_used, 5);
    EXPECT_TRUE(summary.words[word].combined.defined());
    total += sum / 6;
  }
  EXPECT_NEAR(summary.effect.mean, total, 1e-14);
  EXPECT_EQ(summary.permutation.method, PermutationSummary::Method::none);
}

TEST(ContextsStatistics, DetectsWordsAndComparesThemWithValidatedOnes) {
  const Synthetic run({wefat("group against one", 8), wefat("group against two", 8), wefat("axis", 8)}, 1);
  ContextsOptions options;
  const auto words = numbered("t", 8);
  std::map<std::string, double> largest;
  for (std::size_t word = 0; word < 8; ++word) {
    largest[words[word]] =
        std::max(run.association(0, 0, word) / run.deviation(0, 0), run.association(1, 0, word) / run.deviation(1, 0));
  }
  std::vector<std::string> highest = words;
  std::sort(highest.begin(), highest.end(),
            [&](const auto& left, const auto& right) { return largest[left] > largest[right]; });
  highest.resize(3);
  options.settings.detections = {
      {"group", {"group against one", "group against two"}, {"axis"}, highest, {highest[0], "unheard"}}};
  const auto file = run.write();
  const auto result = compute_contexts(*file, options);
  ASSERT_EQ(result.detections.size(), 1U);
  const auto& detection = result.detections.front();
  EXPECT_EQ(detection.words, words);
  EXPECT_EQ(detection.area.value, 1);  // the validated words are those with the largest scores
  EXPECT_EQ(detection.curves[0].chance, 3.0 / 8);
  EXPECT_EQ(detection.unknown[1], std::vector<std::string>{"unheard"});
  for (const auto& point : detection.curves[0].points) {
    const auto above =
        std::count_if(words.begin(), words.end(), [&](const auto& word) { return largest[word] > point.threshold; });
    EXPECT_EQ(point.true_positives + point.false_positives, static_cast<std::size_t>(above));
  }
  options.settings.detections.front().single_axis = {"nowhere"};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
}

TEST(ContextsStatistics, WordsAgreeWithPeopleWhoRatedThem) {
  const Synthetic run({wefat("cold - warm", 6), weat("one", 4, 4), wefat("poor - rich", 6)}, 5);
  const auto file = run.write();
  const auto plain = compute_contexts(*file, {});
  ContextsOptions options;
  options.ratings.emplace();
  for (const std::size_t test : {0U, 2U}) {
    for (const auto& word : plain.summaries[test].words) {  // people agree with the mean effects, word t5 is unknown
      if (word.word != "t5") {
        options.ratings->push_back({word.word, plain.tests[test].label, 50 + 10 * word.effect.mean});
      }
    }
  }
  const auto target = run.folder() / "contexts.stats.h5";
  const auto result = write_contexts(*file, options, target);
  ASSERT_TRUE(result.agreement.has_value());
  const auto& scores = result.agreement->scores;
  EXPECT_EQ(scores.axes.groups, numbered("t", 6));
  EXPECT_EQ(scores.axes.pairs, (std::vector<std::string>{"cold - warm", "poor - rich"}));
  EXPECT_EQ(scores.overall[scores.overall_index(0, 0, 3, 1)].value(), plain.summaries[2].words[3].effect.mean);
  EXPECT_EQ(scores.overall[scores.overall_index(1, 0, 3, 1)].value(), plain.summaries[2].words[3].combined.effect);
  EXPECT_DOUBLE_EQ(result.agreement->alignments.at(0).pooled.value, 1);
  EXPECT_EQ(result.agreement->alignments.at(0).pooled.n, 10U);
  EXPECT_LT(result.agreement->alignments.at(1).pooled.value, 1.0 + 1e-12);
  EXPECT_NE(agreement_text(*result.agreement).find("ceat_mean - none"), std::string::npos);
  const auto written = hdf5::File::open(target);
  EXPECT_TRUE(written.root().contains("tau_pooled") && written.root().contains("mean_pair_score"));
  options.ratings = std::vector<Rating>{{"t1", "one", 3}};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
  const Synthetic without({weat("one", 4, 4)}, 3);
  EXPECT_THROW(compute_contexts(*without.write(), options), base::InputError);
}

TEST(ContextsStatistics, WritesAndPrints) {
  const Synthetic run({weat("one", 4, 4), wefat("traits", 5)}, 3);
  ContextsOptions options;
  options.settings.draws = 2000;
  options.settings.detections = {{"group", {"traits"}, {"traits"}, {"t0"}, {"t1"}}};
  const auto file = run.write();
  const auto target = run.folder() / "contexts.stats.h5";
  const auto result = write_contexts(*file, options, target);
  const auto written = hdf5::File::open(target);
  EXPECT_EQ(written.root().text_attribute("schema"), "stereosweep-statistics/contexts");
  const auto text = contexts_status_text(result) + contexts_effects_text(result) + contexts_tests_text(result) +
                    contexts_words_text(result, 3) + contexts_detections_text(result);
  for (const auto* part : {"one", "4/4/3/4", "p permutation", "of 70", "traits", "EIBD"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(ContextsText, KeepsProbabilitiesBelowTheSmallestDouble) {
  EXPECT_EQ(p_of_log10(-2173.5705128733703), "2.7e-2174");
  EXPECT_EQ(p_of_log10(-400.0000001), "1.0e-400");
  EXPECT_EQ(p_of_log10(std::log10(0.25)), "0.250");
  EXPECT_EQ(p_of_log10(nan), "-");
}

}  // namespace
}  // namespace stereosweep::results
