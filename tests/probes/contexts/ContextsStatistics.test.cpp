#include "probes/contexts/statistics/ContextsStatistics.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "probes/contexts/SyntheticContexts.hpp"
#include "results/ReadScoreTable.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "support/EffectSize.hpp"

namespace stereosweep::probes::contexts {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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
      const auto effect = testing::effect_size(x, y);
      effects.push_back(effect.value);
      variances.push_back(effect.deviation * effect.deviation);
    }
  }
  const auto truth = stats::combine_effects(effects, variances, stats::TauEstimator::dersimonian_laird, 0.95);
  EXPECT_EQ(summary.combined.effect, truth.effect);
  EXPECT_EQ(summary.combined.log10_p_two_sided, truth.log10_p_two_sided);
  EXPECT_EQ(summary.effect.num_used, 11);
  EXPECT_NEAR(summary.effect.mean, std::accumulate(effects.begin(), effects.end(), 0.0) / 11, 1e-14);
  EXPECT_NEAR(summary.effect.deviation, stats::standard_deviation(effects).value, 1e-14);
  EXPECT_EQ(result.samples_by_status, (std::vector<std::uint64_t>{11, 0, 1, 0, 0}));
  ContextsOptions options;
  options.settings.variance = EmbeddingStatistics::Variance::cohen;
  std::vector<double> cohen;
  std::ranges::transform(effects, std::back_inserter(cohen), [](double d) { return stats::cohen_variance(d, 5, 4); });
  EXPECT_EQ(compute_contexts(*file, options).summaries.front().combined.standard_error,
            stats::combine_effects(effects, cohen, stats::TauEstimator::dersimonian_laird, 0.95).standard_error);
}

std::string refusal(const Synthetic& run) {
  const auto file = run.write();
  try {
    compute_contexts(*file, {});
    return "no fault";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

std::string& text_of_test(Synthetic& run, const std::string& name, std::size_t test) {
  auto& coordinates = run.schema().outer_axes.front().coordinates;
  return std::ranges::find(coordinates, name, &results::AxisSchema::Coordinate::name)->values.at(test);
}

TEST(ContextsStatistics, RefusesFilesWhoseTestsDoNotFitTheirCubes) {
  Synthetic many({weat("one", 3, 3)}, 2);
  text_of_test(many, "a_words", 0) = R"(["a0","a1","a2","a0","a1","a2","a0","a1","a2"])";
  EXPECT_THAT(refusal(many), ::testing::HasSubstr("more words than the axis 'weat_attribute'"));
  Synthetic unknown({weat("one", 3, 3)}, 2);
  text_of_test(unknown, "b_words", 0) = R"(["b0","b1","b2","elsewhere"])";
  EXPECT_THAT(refusal(unknown), ::testing::HasSubstr("'elsewhere'"));
  Synthetic halved({weat("one", 3, 3), wefat("two", 3)}, 2);
  text_of_test(halved, "kind", 1) = "weat";
  halved.schema().cubes.at(halved.schema().find_cube("association_deviation").value()).name = "another";
  EXPECT_THAT(refusal(halved), ::testing::HasSubstr("no cube 'association_deviation' of this version"));
  Synthetic flat({weat("one", 3, 3)}, 1);
  flat.schema().outer_axes.pop_back();
  EXPECT_THAT(refusal(flat), ::testing::HasSubstr("its contexts are not samples of tests"));
}

/// Relabels the target words in all samples together and recomputes the weighted mean effect, weights held fixed.
TEST(ContextsStatistics, RelabelsTheWordsInAllSamplesTogether) {
  const Synthetic run({weat("one", 4, 5)}, 7);
  const auto file = run.write();
  for (const auto variance : {EmbeddingStatistics::Variance::paper, EmbeddingStatistics::Variance::cohen}) {
    ContextsOptions options;
    options.settings.variance = variance;
    const auto result = compute_contexts(*file, options);
    const auto& combined = result.summaries.front().combined;
    const auto effect_of = [&](std::size_t sample, unsigned chosen) {
      std::vector<double> x;
      std::vector<double> y;
      for (std::size_t target = 0; target < 9; ++target) {
        ((chosen >> target & 1U) != 0 ? x : y).push_back(run.association(0, sample, target));
      }
      return testing::effect_size(x, y);
    };
    std::vector<double> weights;
    for (std::size_t sample = 0; sample < 7; ++sample) {
      const auto effect = effect_of(sample, 0b1111);
      const double v = variance == EmbeddingStatistics::Variance::paper ? effect.deviation * effect.deviation
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
    // A and B relabelled in all samples together; weights and deviations stay
    const auto by_attributes = [&](unsigned chosen) {
      double sum = 0;
      double total = 0;
      for (std::size_t sample = 0; sample < 7; ++sample) {
        std::array<double, 2> sums{};
        const auto scores = run.attribute_associations(0, sample);
        for (std::size_t i = 0; i < scores.size(); ++i) {
          sums[(chosen >> i & 1U) != 0 ? 0 : 1] += scores[i];
        }
        sum += weights[sample] * (sums[0] / 3 - sums[1] / 4) / effect_of(sample, 0b1111).deviation;
        total += weights[sample];
      }
      return sum / total;
    };
    EXPECT_NEAR(by_attributes(0b111), combined.effect, 1e-13);
    const auto& summary = result.summaries.front();
    const auto check = [&](const PermutationSummary& permutation, const auto& effect, unsigned words, int chosen_words,
                           int partitions) {
      int above = 0;
      int far = 0;
      for (unsigned chosen = 0; chosen < 1U << words; ++chosen) {
        if (std::popcount(chosen) == chosen_words) {
          above += effect(chosen) >= combined.effect - 1e-12 ? 1 : 0;
          far += std::abs(effect(chosen)) >= std::abs(combined.effect) - 1e-12 ? 1 : 0;
        }
      }
      EXPECT_EQ(permutation.relabellings, partitions);
      EXPECT_EQ(permutation.one_sided, above / static_cast<double>(partitions));
      EXPECT_EQ(permutation.interval.low, permutation.two_sided);
      EXPECT_EQ(permutation.two_sided, far / static_cast<double>(partitions));
      EXPECT_EQ(permutation.least, 1 / static_cast<double>(partitions));
    };
    check(summary.targets, mean_effect, 9, 4, 126);
    check(summary.attributes, by_attributes, 7, 3, 35);
    EXPECT_EQ(summary.cited, std::max({summary.targets.two_sided, summary.attributes.two_sided, summary.crossed.p}));
    EXPECT_EQ(summary.least, 1 / 35.0);
    EXPECT_DOUBLE_EQ(summary.adjusted[0], summary.cited);  // a family of one
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
  const auto holm = by_holm({all[0].cited, all[3].cited});
  EXPECT_DOUBLE_EQ(all[0].adjusted[0], holm[0]);
  EXPECT_DOUBLE_EQ(all[3].adjusted[0], holm[1]);
  for (const auto p : all[1].adjusted) {
    EXPECT_DOUBLE_EQ(p, all[1].cited);  // a family of one
  }
  for (const double p : all[4].adjusted) {
    EXPECT_TRUE(std::isnan(p));
  }
  EXPECT_FALSE(std::isnan(all[4].cited));
  const auto notes = findings_of(result, Detail::main).front().notes;
  EXPECT_TRUE(notes.ends_with("Families: first (2 effects), second (1 effect); in none, not adjusted: out.")) << notes;
  const auto written = hdf5::File::open(target);
  EXPECT_TRUE(written.root().contains("weat_test_family") && written.root().contains("weat_family_size"));

  options.settings.families = {{"first", {"three", "one", "two", "out"}}};
  const auto declared = compute_contexts(*file, options);
  options.settings.families.clear();
  const auto plain = compute_contexts(*file, options);
  EXPECT_EQ(plain.families.front().label, "all");
  for (const std::size_t test : {0U, 1U, 3U, 4U}) {
    EXPECT_EQ(plain.summaries[test].adjusted, declared.summaries[test].adjusted);
  }
  options.settings.families = {{"f", {"one"}}, {"g", {"one"}}};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
}

/// By one rule with weat tests: all of a kind, unless the job names families.
TEST(ContextsStatistics, WordsOfAllTestsAreOneFamilyUnlessDeclared) {
  const Synthetic run({wefat("traits", 6), wefat("others", 3), weat("sets", 4, 4)}, 5);
  const auto file = run.write();
  const auto check = [](const std::vector<const TestSummary*>& tests) {
    std::vector<const EffectSummary*> words;
    std::vector<double> cited;
    for (const auto* test : tests) {
      for (const auto& word : test->words) {
        words.push_back(&word);
        cited.push_back(word.cited);
      }
    }
    const auto holm = by_holm(cited);
    for (std::size_t word = 0; word < words.size(); ++word) {
      EXPECT_NEAR(words[word]->adjusted[0], holm[word], 1e-12);
      EXPECT_GE(words[word]->adjusted[2], words[word]->adjusted[1]);
    }
  };
  ContextsOptions options;
  options.settings.draws = 2000;
  const auto together = compute_contexts(*file, options);
  ASSERT_EQ(together.families.size(), 2U);
  EXPECT_EQ(together.families[1].label, "all words");
  EXPECT_EQ(together.families[1].num_effects, 9U);
  check({&together.summaries[0], &together.summaries[1]});
  options.settings.families = {{"one", {"traits"}}, {"two", {"others"}}};
  const auto apart = compute_contexts(*file, options);
  EXPECT_EQ(apart.families.back().label, "all");  // of the weat test
  check({&apart.summaries[0]});
  check({&apart.summaries[1]});
}

/// Relabels the attribute words in all samples together, weights held fixed.
TEST(ContextsStatistics, RelabelsTheAttributesOfEveryWord) {
  const Synthetic run({wefat("traits", 6)}, 5);
  const auto result = compute_contexts(*run.write(), {});
  std::vector<double> two_sided;
  for (std::size_t word = 0; word < 6; ++word) {
    const auto& combined = result.summaries[0].words[word].combined;
    const auto mean_effect = [&](unsigned chosen) {
      double sum = 0;
      double total = 0;
      for (std::size_t sample = 0; sample < 5; ++sample) {
        const auto cosines = run.cosines(0, sample, word);
        std::vector<double> a;
        std::vector<double> b;
        for (std::size_t i = 0; i < cosines.size(); ++i) {
          ((chosen >> i & 1U) != 0 ? a : b).push_back(cosines[i]);
        }
        const auto found = testing::effect_size(a, b);
        const double weight = 1 / (found.deviation * found.deviation + combined.tau_squared);
        sum += weight * found.value;
        total += weight;
      }
      return sum / total;
    };
    const double observed = mean_effect(0b111);
    EXPECT_NEAR(observed, combined.effect, 1e-6);
    int above = 0;
    int far = 0;
    for (unsigned chosen = 0; chosen < 1U << 7U; ++chosen) {
      if (std::popcount(chosen) == 3) {
        above += mean_effect(chosen) >= observed - 1e-12 ? 1 : 0;
        far += std::abs(mean_effect(chosen)) >= std::abs(observed) - 1e-12 ? 1 : 0;
      }
    }
    const auto& permutation = result.summaries[0].words[word].attributes;
    EXPECT_EQ(permutation.relabellings, 35);
    EXPECT_EQ(permutation.one_sided, above / 35.0);
    EXPECT_EQ(permutation.two_sided, far / 35.0);
    EXPECT_EQ(result.summaries[0].words[word].cited, permutation.two_sided);
    two_sided.push_back(permutation.two_sided);
  }
  const auto holm = by_holm(two_sided);
  for (std::size_t word = 0; word < 6; ++word) {
    EXPECT_NEAR(result.summaries[0].words[word].adjusted[0], holm[word], 1e-12);
  }
}

TEST(ContextsStatistics, NoAdjustedPIsBelowThePlainOne) {
  std::vector<EmbeddingTest> tests;
  TestFamily pair{"pair", {}};
  TestFamily many{"many", {}};
  std::vector<TestFamily> families;
  for (std::size_t i = 0; i < 14; ++i) {
    const auto label = "t" + std::to_string(i);
    tests.push_back(weat(label, 4 + i % 5, 4 + i % 3));
    if (i < 5) {
      families.push_back({"only " + label, {label}});
    } else {
      (i < 7 ? pair : many).tests.push_back(label);
    }
  }
  families.push_back(pair);
  families.push_back(many);
  tests.push_back(wefat("words", 9));
  tests.push_back(wefat("one word", 1));
  const Synthetic run(tests, 4);
  const auto file = run.write();
  std::size_t compared = 0;
  const auto check = [&](const EffectSummary& effect, const std::string& what) {
    for (std::size_t method = 0; method < adjustment_names.size(); ++method) {
      EXPECT_FALSE(effect.adjusted[method] < effect.cited) << what << " " << adjustment_names[method];
      compared += std::isnan(effect.adjusted[method]) ? 0 : 1;
    }
  };
  for (const auto choice :
       {EmbeddingStatistics::Permutation::automatic, EmbeddingStatistics::Permutation::monte_carlo}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      ContextsOptions options;
      options.seed = seed;
      options.settings.permutation = choice;
      options.settings.draws = 300;
      options.settings.exceedances = seed % 2 == 0 ? 0 : 10;
      options.settings.families = families;
      for (const auto& summary : compute_contexts(*file, options).summaries) {
        check(summary, "test");
        for (const auto& word : summary.words) {
          check(word, word.word);
        }
      }
    }
  }
  EXPECT_EQ(compared, 2U * 20 * 3 * (14 + 10));  // also where draws end early
}

TEST(ContextsStatistics, OneSampleHasNoZ) {
  const Synthetic run({weat("one", 4, 4), wefat("traits", 5)}, 1);
  const auto file = run.write();
  const auto target = run.folder() / "contexts.stats.h5";
  const auto result = write_contexts(*file, {}, target);
  const auto& word = result.summaries[1].words[0];
  EXPECT_TRUE(std::isfinite(result.summaries[0].combined.effect) && std::isfinite(word.combined.effect));
  EXPECT_TRUE(std::isnan(result.summaries[0].combined.z) && std::isnan(word.combined.log10_p_two_sided));
  EXPECT_TRUE(std::isfinite(result.summaries[0].cited) && std::isfinite(word.cited));
  const auto written = hdf5::File::open(target);
  EXPECT_TRUE(written.root().contains("weat") && written.root().contains("wefat"));
  EXPECT_FALSE(written.root().contains("weat_sampling_z"));
}

/// The p of both kinds of words, from its definition, and early ends that leave a p to cite.
TEST(ContextsStatistics, CitesTheLargestOfThree) {
  Synthetic run({weat("one", 6, 5)}, 1);
  run.set_shift(0.6);
  const auto file = run.write();
  ContextsOptions options;
  options.settings.permutation = EmbeddingStatistics::Permutation::monte_carlo;
  for (const std::int64_t exceedances : {0, 5}) {
    options.settings.exceedances = exceedances;
    const auto found = compute_contexts(*file, options).summaries.front();
    std::vector<std::vector<double>> sets(4);
    for (std::size_t target = 0; target < 11; ++target) {
      sets[target < 6 ? 0 : 1].push_back(run.association(0, 0, target));
    }
    const auto attributes = run.attribute_associations(0, 0);
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      sets[i < 3 ? 2 : 3].push_back(attributes[i]);
    }
    const auto variance_with = [&](const std::vector<double>* raised) {  // and its degrees, by Satterthwaite
      std::pair<double, double> sums;
      for (const auto& set : sets) {
        const auto degrees = static_cast<double>(set.size()) - 1;
        const double factor =
            &set == raised ? degrees / boost::math::quantile(boost::math::chi_squared(degrees), 0.25) : 1;
        const double part =
            factor * std::pow(stats::standard_deviation(set).value, 2) / static_cast<double>(set.size());
        sums.first += part;
        sums.second += part * part / degrees;
      }
      return std::pair(sums.first, sums.first * sums.first / sums.second);
    };
    auto [variance, fewest] = variance_with(nullptr);
    for (const auto& set : sets) {  // few values may hide a large variance
      fewest = std::min(fewest, variance_with(&set).second);
    }
    const double t = (stats::mean(sets[0]).value - stats::mean(sets[1]).value) / std::sqrt(variance);
    const boost::math::students_t distribution(fewest);
    EXPECT_NEAR(found.crossed.p, 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t))), 1e-9);
    const double reach = boost::math::quantile(distribution, 0.975) * std::sqrt(variance) /
                         testing::effect_size(sets[0], sets[1]).deviation;
    const double largest = stats::largest_effect_size(sets[0].size(), sets[1].size());
    EXPECT_NEAR(found.crossed.low, std::max(found.combined.effect - reach, -largest), 1e-9);
    EXPECT_NEAR(found.crossed.high, std::min(found.combined.effect + reach, largest), 1e-9);
    EXPECT_GT(found.combined.effect + reach, largest);
    EXPECT_EQ(found.cited, std::max({found.targets.two_sided, found.attributes.two_sided, found.crossed.p}));
    EXPECT_LE(found.targets.interval.low, found.targets.two_sided);
    EXPECT_GE(found.targets.interval.high, found.targets.two_sided);
    EXPECT_EQ(found.targets.relabellings == 1'000'000, exceedances == 0);
  }
}

TEST(ContextsStatistics, OneRankUsesTheProcessorsThatItMayRunOn) {
  cpu_set_t granted;
  ASSERT_EQ(::sched_getaffinity(0, sizeof granted, &granted), 0);
  EXPECT_EQ(threads_of(1), static_cast<unsigned>(CPU_COUNT(&granted)));
  EXPECT_EQ(threads_of(2), 1U);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(threads_of(1), 1U);
  ASSERT_EQ(::sched_setaffinity(0, sizeof granted, &granted), 0);
}

TEST(ContextsStatistics, MonteCarloDoesNotDependOnThreadsOrOtherTests) {
  const Synthetic alone({weat("one", 6, 6)}, 2);
  const Synthetic first({weat("one", 6, 6), weat("two", 3, 3)}, 2);
  ContextsOptions options;
  options.settings.permutation = EmbeddingStatistics::Permutation::monte_carlo;
  options.settings.draws = 5000;
  const auto one = compute_contexts(*alone.write(), options);
  options.num_threads = 3;
  const auto both = compute_contexts(*first.write(), options);
  EXPECT_EQ(one.summaries[0].cited, both.summaries[0].cited);
  EXPECT_EQ(one.summaries[0].targets.relabellings, 5000);
  EXPECT_LE(one.summaries[0].targets.interval.low, one.summaries[0].targets.two_sided);
  EXPECT_GE(both.summaries[0].adjusted[0], both.summaries[0].cited);
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
  EXPECT_TRUE(std::isnan(summary.targets.two_sided));
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
  ASSERT_EQ(result.detections.size(), 2U);  // of the intersection, and emergent
  const auto& detection = result.detections.front();
  EXPECT_EQ(detection.words, words);
  EXPECT_EQ(detection.curve.area, 1);  // the validated words are those with the largest scores
  EXPECT_EQ(detection.curve.chance, 3.0 / 8);
  EXPECT_EQ(result.detections.back().unknown, std::vector<std::string>{"unheard"});
  for (const auto& point : detection.curve.points) {
    const auto above =
        std::count_if(words.begin(), words.end(), [&](const auto& word) { return largest[word] > point.threshold; });
    EXPECT_EQ(point.true_positives + point.false_positives, static_cast<std::size_t>(above));
  }
  options.settings.detections.front().single_axis = {"nowhere"};
  EXPECT_THROW(compute_contexts(*file, options), base::InputError);
}

TEST(ContextsStatistics, MeanEffectsOfWordsAreThoseOfTheScoreTable) {
  const Synthetic run({wefat("cold - warm", 6), weat("one", 4, 4), wefat("poor - rich", 6)}, 5);
  const auto target = run.folder() / "contexts.stats.h5";
  const auto result = write_contexts(*run.write(), {}, target);
  const auto table = results::read_score_table(target);
  for (const std::size_t test : {0U, 2U}) {
    for (const auto& word : result.summaries[test].words) {
      const auto subject = results::place_of(table.axes[1].labels, word.word);
      ASSERT_TRUE(subject.has_value());
      std::vector<double> effects;
      for (std::size_t sample = 0; sample < table.length(4); ++sample) {
        effects.push_back(table.values[table.index({0, *subject, 0, 0, sample, test})]);
      }
      std::erase_if(effects, [](double effect) { return std::isnan(effect); });
      EXPECT_EQ(stats::mean(effects).value, word.effect.mean);
    }
  }
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
  const auto text_of = [](const ContextsResult& found, Detail detail) {
    const auto text = contexts_text(found, detail, 3);
    return text.found.text() + text.details.text();
  };
  const auto text = text_of(result, Detail::main);
  for (const auto* part : {"one", "4 and 4 words, 3 and 4 attributes", "p Holm", "p attributes", "p both", "traits",
                           "EIBD", "20 words have fewer than 20 contexts: a0 5"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("p of z"), std::string::npos);
  auto rare = result;
  rare.word_contexts["a0"] = 1;
  EXPECT_NE(text_of(rare, Detail::status_only).find("WARNING: 1 word has fewer than 2 contexts: a0 1"),
            std::string::npos);
  const auto all = text_of(result, Detail::everything);
  for (const auto* part : {"How far the samples", "log10 p of z"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
  }
  auto effects = result;
  effects.depth = ContextsDepth::effects;
  EXPECT_EQ(text_of(effects, Detail::everything).find("p Holm"), std::string::npos);
  for (const auto& whole : {text, all}) {
    for (const auto& line : base::split(whole, '\n')) {
      EXPECT_LE(line.size(), 100U) << line;
    }
  }
}

}  // namespace
}  // namespace stereosweep::probes::contexts
