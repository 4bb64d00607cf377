#include "probes/contexts/statistics/ContextsStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/text/Text.hpp"
#include "findings/Means.hpp"
#include "findings/Names.hpp"
#include "findings/sharing/Sharing.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/PValues.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"

namespace stereosweep::probes::contexts {
namespace {

using stats::nan;

/// An automatic test is exact up to so many sums of all effects of a test: one effect of 56 words, 8 words of a wefat
/// test with 25 and 25 attributes. A bound of counts, so that a result depends on no machine: about five seconds of one
/// core for each of one to three counts.
constexpr std::uint64_t automatic_exact_sums = std::uint64_t{1} << 29U;

SampleSummary summarise(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return {static_cast<std::int32_t>(values.size()), stats::mean(values).value, stats::standard_deviation(values).value};
}

/// Scores of the words that are relabelled, one per word: target words of a weat test, attribute words of a word of a
/// wefat test. All finite, not all equal.
struct Sides {
  std::vector<double> x;
  std::vector<double> y;
};

/// Ends an interval of d where no sample of sets of these sizes can pass, and so no mean of samples: it holds the
/// expected d as often as the whole one. Its ends are finite numbers, or NaN.
void keep_where_effects_are(auto& interval, std::array<std::size_t, 2> sizes) {
  const double largest = stats::largest_effect_size(sizes[0], sizes[1]);
  interval.low = std::clamp(interval.low, -largest, largest);
  interval.high = std::clamp(interval.high, -largest, largest);
}

/// Effects whose labels are permuted together, over the samples that have one: a weat test (its target words are
/// labelled X or Y), or one word of a wefat test (the attribute words, A or B).
struct Effects {
  std::array<std::size_t, 2> sizes{};  ///< of the two sets of labels
  std::vector<std::size_t> used;       ///< samples
  std::vector<double> values;
  std::vector<double> published;  ///< V of the paper

  void add(std::size_t sample, double effect, double variance) {
    used.push_back(sample);
    values.push_back(effect);
    published.push_back(variance);
  }
  /// V of each sample.
  std::vector<double> variances(EmbeddingStatistics::Variance choice) const {
    auto all = published;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (choice == EmbeddingStatistics::Variance::cohen) {
        all[i] = stats::cohen_variance(values[i], sizes[0], sizes[1]);
      } else if (choice == EmbeddingStatistics::Variance::permutation) {
        all[i] = stats::permutation_variance(sizes[0], sizes[1]);
      }
    }
    return all;
  }
  stats::RandomEffects combined(const EmbeddingStatistics& settings) const {
    auto found = stats::combine_effects(values, variances(settings.variance),
                                        static_cast<stats::TauEstimator>(settings.estimator), settings.confidence);
    keep_where_effects_are(found, sizes);
    return found;
  }
};

Effects effects_of_test(const EmbeddingTest& test, const ContextsSamples& samples) {
  Effects effects{{test.x.words.size(), test.y.words.size()}, {}, {}, {}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.status(i) == 0 && std::isfinite(samples.effect_size(i)) && samples.association_variance(i) > 0) {
      effects.add(i, samples.effect_size(i), samples.association_variance(i));
    }
  }
  return effects;
}

Effects effects_of_word(const EmbeddingTest& test, const ContextsSamples& samples, std::size_t target) {
  Effects effects{{test.a.words.size(), test.b.words.size()}, {}, {}, {}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double association = samples.association(i, target);
    const double deviation = samples.deviation(i, target);
    if (deviation > stats::cosine_rounding && std::isfinite(association)) {
      effects.add(i, association / deviation, deviation * deviation);
    }
  }
  return effects;
}

/// One score per word of two sets: the mean over samples of its part of the effect / deviation, weighted as in the
/// combined effect, so that the difference of the sets' means is that effect. The effect is linear in the words of
/// either kind, so the same holds for target words and for attribute words; weights and deviations are held fixed.
/// `part(sample, word)`: association of a target or of an attribute word, cosine of an attribute word. Nothing where
/// there is no effect.
std::optional<Sides> sides_of(const Effects& effects, const EmbeddingStatistics& settings,
                              const stats::RandomEffects& combined, std::array<std::size_t, 2> sizes,
                              const auto& part) {
  if (!combined.defined() || base::contains(sizes, 0U)) {
    return std::nullopt;
  }
  const auto variances = effects.variances(settings.variance);
  std::vector<double> scores(sizes[0] + sizes[1], 0);
  double weights = 0;
  for (std::size_t i = 0; i < effects.used.size(); ++i) {
    const double weight = 1 / (variances[i] + combined.tau_squared);
    weights += weight;
    for (std::size_t word = 0; word < scores.size(); ++word) {
      scores[word] += weight / std::sqrt(effects.published[i]) * part(effects.used[i], word);
    }
  }
  for (auto& score : scores) {
    score /= weights;
  }
  const double rounding = stats::cosine_rounding * stats::largest_magnitude(scores);
  const bool varies = stats::standard_deviation(scores).value > rounding;  // not where one is not finite
  const auto border = scores.begin() + static_cast<std::ptrdiff_t>(sizes[0]);
  return varies ? std::optional(Sides{{scores.begin(), border}, {border, scores.end()}}) : std::nullopt;
}

/// Whether the permutations of a test are counted: `num_effects` words of a wefat test, or the test itself.
bool is_exact(std::size_t pool, std::size_t num_effects, EmbeddingStatistics::Permutation choice) {
  return choice == EmbeddingStatistics::Permutation::exact ||
         (choice == EmbeddingStatistics::Permutation::automatic && pool <= stats::max_exact_pool &&
          num_effects * stats::most_sums(pool) <= automatic_exact_sums);
}

/// Every rank counts its share: integers, whose sum is the same for any number of ranks. Collective; kept.
stats::ReachingPartitions count_reaching(const Sides& sides, const ContextsOptions& options) {
  constexpr std::uint64_t long_count = std::uint64_t{1} << 30U;
  const stats::ExactPermutation exact(sides.x, sides.y, options.num_threads);
  if (options.world.rank() == 0 && exact.num_sums() >= long_count) {
    base::log(base::LogLevel::info,
              "an exact test of " + stats::to_text(exact.num_partitions()) + " partitions: one to three counts of " +
                  base::with_thousands(exact.num_sums()) +
                  " sums, about 100 million a second and core (statistics.permutation: automatic draws partitions)");
  }
  const auto num_shares = static_cast<unsigned>(options.world.size());
  return stats::count_reaching(exact, [&](std::int64_t threshold) {
    const auto count = [&](std::size_t share) {
      return std::vector{exact.count_share(threshold, static_cast<unsigned>(share), num_shares, options.num_threads)};
    };
    const auto counts = base::joined(findings::share<stats::PartitionCount>(options.world, num_shares, count));
    return std::accumulate(counts.begin(), counts.end(), stats::PartitionCount{0});
  });
}

/// One set of labels that is relabelled for one effect.
struct Relabelled {
  EffectSummary* effect = nullptr;  ///< borrowed
  PermutationSummary EffectSummary::*of = nullptr;
  std::optional<Sides> sides;  ///< nothing: no effect
  bool exact = false;          ///< all ways are counted
  std::string name;            ///< of the draws
};

PermutationSummary permute(const Relabelled& way, const ContextsOptions& options) {
  PermutationSummary summary;
  const auto& settings = options.settings;
  const auto& [x, y] = *way.sides;
  const auto pool = x.size() + y.size();
  // with sets of one size, changed places are as far from zero
  const stats::PartitionCount fewest = x.size() == y.size() ? 2 : 1;
  const auto partitions = pool <= stats::max_exact_pool ? stats::num_subsets(pool, x.size()) : 0;
  summary.least = partitions > 0 ? stats::exact_p(fewest, partitions) : 0;
  if (way.exact) {
    const auto count = count_reaching(*way.sides, options);
    summary.relabellings = static_cast<double>(partitions);
    summary.one_sided = stats::exact_p(count.one_sided, partitions);
    summary.two_sided = stats::exact_p(count.two_sided, partitions);
    summary.interval = {summary.two_sided, summary.two_sided};
    return summary;
  }
  if (options.world.rank() > 0) {
    return summary;
  }
  const auto result = stats::monte_carlo_permutation(x, y,
                                                     {.seed = options.seed,
                                                      .test = draw_name(way.name),
                                                      .draws = static_cast<std::uint64_t>(settings.draws),
                                                      .exceedances = static_cast<std::uint64_t>(settings.exceedances),
                                                      .confidence = settings.confidence,
                                                      .num_threads = options.num_threads});
  summary.least = std::max(summary.least, 1 / static_cast<double>(settings.draws + 1));
  summary.relabellings = static_cast<double>(result.two_sided.draws);
  summary.one_sided = result.one_sided.p;
  summary.two_sided = result.two_sided.p;
  summary.interval = result.two_sided.interval;
  return summary;
}

// A test without its permutations. Each returns what these relabel, in a fixed order: target and attribute words of the
// test, or the attribute words of each of its words; `summary` is borrowed by it.

std::vector<Relabelled> summarise_weat(const EmbeddingTest& test, const ContextsSamples& samples,
                                       const EmbeddingStatistics& settings, TestSummary& summary) {
  const auto effects = effects_of_test(test, samples);
  summary.effect = summarise(effects.values);
  summary.combined = effects.combined(settings);
  const auto target = [&](auto sample, auto word) { return samples.association(sample, word); };
  const auto attribute = [&](auto sample, auto word) { return samples.attribute_association(sample, word); };
  return {{&summary, &EffectSummary::targets, sides_of(effects, settings, summary.combined, effects.sizes, target),
           is_exact(test.num_targets(), 1, settings.permutation), test.label},
          {&summary, &EffectSummary::attributes,
           sides_of(effects, settings, summary.combined, {test.a.words.size(), test.b.words.size()}, attribute),
           is_exact(test.num_attributes(), 1, settings.permutation), test.label + "\nattributes"}};
}

std::vector<Relabelled> summarise_wefat(const EmbeddingTest& test, const ContextsSamples& samples,
                                        const EmbeddingStatistics& settings, TestSummary& summary) {
  std::vector<Relabelled> relabelled;
  const auto num_targets = test.num_targets();
  std::vector<double> means(samples.size(), 0);
  summary.words.resize(num_targets);
  for (std::size_t target = 0; target < num_targets; ++target) {
    const auto effects = effects_of_word(test, samples, target);
    std::vector<double> associations;
    std::vector<double> of_samples(means.size(), nan);
    for (std::size_t i = 0; i < effects.used.size(); ++i) {
      of_samples[effects.used[i]] = effects.values[i];
    }
    for (std::size_t sample = 0; sample < means.size(); ++sample) {
      associations.push_back(samples.association(sample, target));
      means[sample] += of_samples[sample] / static_cast<double>(num_targets);
    }
    auto& word = summary.words[target];
    word.word = test.x.words[target];
    word.association = summarise(associations).mean;
    word.effect = summarise(effects.values);
    word.combined = effects.combined(settings);
    const auto part = [&](auto sample, auto attribute) { return samples.cosine(sample, target, attribute); };
    relabelled.push_back(
        {&word, &EffectSummary::attributes, sides_of(effects, settings, word.combined, effects.sizes, part),
         is_exact(test.num_attributes(), num_targets, settings.permutation), test.label + "\n" + word.word});
  }
  summary.effect = num_targets > 0 ? summarise(means) : SampleSummary{};
  return relabelled;
}

/// Cites of every effect the largest p, and the largest of their smallest.
void test_effects(const std::vector<Relabelled>& relabelled, const ContextsOptions& options) {
  for (const auto& way : relabelled) {
    const auto& found = way.effect->*way.of = permute(way, options);
    way.effect->cited = std::fmax(way.effect->cited, found.two_sided);
    way.effect->least = std::fmax(way.effect->least, found.least);
  }
  if (relabelled.size() == 2 && relabelled[0].effect == relabelled[1].effect) {  // a weat test: both kinds are samples
    auto& effect = *relabelled[0].effect;
    const auto& [targets, attributes] = std::tie(*relabelled[0].sides, *relabelled[1].sides);
    const auto error = stats::error_of_group_means(std::vector{targets.x, targets.y, attributes.x, attributes.y});
    effect.crossed = stats::test_mean(effect.combined.effect, error, options.settings.confidence);
    keep_where_effects_are(effect.crossed, {targets.x.size(), targets.y.size()});
    effect.cited = std::fmax(effect.cited, effect.crossed.p);
  }
}

/// What is told of the effects beside their numbers.
void describe_effects(const EmbeddingTest& test, const ContextsAxes& axes, TestSummary& summary) {
  const auto contexts = base::mapped(list_words({test}), [&](const auto& word) { return axes.word_contexts.at(word); });
  summary.contexts = contexts.empty() ? 0 : std::ranges::min(contexts);
  auto& words = summary.words;
  const auto ranks =
      findings::evidence_ranks(base::mapped(words, &EffectSummary::cited),
                               base::mapped(words, [](const auto& word) { return word.combined.effect; }));
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].contexts = axes.word_contexts.at(words[i].word);
    words[i].rank = ranks[i];
  }
}

/// Effects of the words of one wefat test.
using WordEffects = std::map<std::string, double>;

WordEffects effects_of(const ContextsResult& result, const std::string& detection, const std::string& label) {
  WordEffects effects;
  const auto test = std::ranges::find(result.tests, label, &EmbeddingTest::label);
  base::refuse_if(test == result.tests.end() || test->is_weat(),
                  "the detection '" + detection + "' names a test that the result does not have",
                  "no wefat test is called '" + label + "'");
  for (const auto& word : result.summaries[static_cast<std::size_t>(test - result.tests.begin())].words) {
    if (word.combined.defined()) {
      effects.emplace(word.word, word.combined.effect);
    }
  }
  return effects;
}

/// Detects the words that every named test has an effect of: IBD, then EIBD.
std::vector<DetectionSummary> detect(const ContextsResult& result, const BiasDetection& detection) {
  std::vector<WordEffects> tests;
  for (const auto* labels : {&detection.against, &detection.single_axis}) {
    for (const auto& label : *labels) {
      tests.push_back(effects_of(result, detection.label, label));
    }
  }
  std::vector<std::string> words;
  for (const auto& [word, effect] : tests.front()) {
    if (std::ranges::all_of(tests, [&](const auto& effects) { return effects.contains(word); })) {
      words.push_back(word);
    }
  }
  stats::DetectionScores scores{words.size(), {}, {}};
  for (std::size_t test = 0; test < tests.size(); ++test) {
    auto& rows = test < detection.against.size() ? scores.against : scores.single_axis;
    rows.push_back(base::mapped(words, [&](const auto& word) { return tests[test].at(word); }));
  }
  std::vector<DetectionSummary> both;
  for (const auto kind : {stats::DetectionKind::intersectional, stats::DetectionKind::emergent}) {
    auto& summary = both.emplace_back(DetectionSummary{.label = detection.label, .kind = kind, .words = words});
    const auto& truth = summary.is_intersectional() ? detection.intersectional : detection.emergent;
    const auto validated =
        base::mapped(words, [&](const auto& word) { return static_cast<std::uint8_t>(base::contains(truth, word)); });
    std::ranges::copy_if(truth, std::back_inserter(summary.unknown),
                         [&](const auto& word) { return !std::ranges::binary_search(words, word); });
    summary.curve = stats::detection_curve(scores, kind, validated, stats::published_thresholds());
    summary.used = both.front().curve.most_accurate;
    if (summary.exists()) {
      summary.detected = base::mapped(stats::detect(scores, kind, summary.point().threshold),
                                      [&](std::size_t word) { return words[word]; });
    }
  }
  return both;
}

/// The declared families, which are disjoint; of a kind of tests of which none is declared, one of all its tests.
/// Throws InputError if a family names a test that is not among `tests`.
std::vector<FamilyInUse> families_in_use(const std::vector<EmbeddingTest>& tests,
                                         const std::vector<TestFamily>& declared) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    places.emplace(tests[i].label, i);
  }
  std::vector<FamilyInUse> families;
  std::set<EmbeddingTest::Kind> kinds;
  for (const auto& family : declared) {
    for (const auto& label : family.tests) {
      const auto found = places.find(label);
      base::refuse_if(found == places.end(),
                      "the family '" + family.label + "' names a test that the result does not have",
                      "no test is called '" + label + "', or two families name it");
      kinds.insert(tests[found->second].kind);
      places.erase(found);
    }
    families.push_back({family.label, base::places_where(tests.size(), [&](std::size_t test) {
                          return base::contains(family.tests, tests[test].label);
                        })});
  }
  for (const auto& [kind, label] :
       {std::pair{EmbeddingTest::Kind::weat, "all"}, std::pair{EmbeddingTest::Kind::wefat, "all words"}}) {
    FamilyInUse all{label,
                    base::places_where(tests.size(), [&, kind = kind](auto i) { return tests[i].kind == kind; })};
    if (!all.tests.empty() && !kinds.contains(kind)) {
      families.push_back(std::move(all));
    }
  }
  return families;
}

/// Adjusts the cited p in every family: of its weat tests, and of the words of its wefat tests.
void adjust_tests(ContextsResult& result) {
  for (auto& family : result.families) {
    std::vector<EffectSummary*> members;
    for (const auto test : family.tests) {
      auto& summary = result.summaries[test];
      summary.family = family.label;  // of a wefat test, too, which is no effect of its own
      if (result.tests[test].is_weat()) {
        members.push_back(&summary);
      }
      std::ranges::transform(summary.words, std::back_inserter(members), [](auto& word) { return &word; });
    }
    family.num_effects = members.size();
    for (auto* member : members) {
      std::tie(member->family, member->family_size) = std::tie(family.label, family.num_effects);
    }
    for (std::size_t method = 0; method < adjustment_names.size(); ++method) {
      const auto adjusted = [&](EffectSummary* member) -> double& { return member->adjusted[method]; };
      stats::adjust_rows(members, &EffectSummary::cited, adjusted, static_cast<stats::Adjustment>(method));
    }
  }
}

}  // namespace

ContextsResult compute_contexts(const results::ResultFile& file, const ContextsOptions& options) {
  const ContextsReader reader(file, options.settings.samples);
  ContextsResult result{reader, options.depth, options.settings, {}, {}, {}, {}};
  result.families = families_in_use(result.tests, options.settings.families);
  result.summaries.resize(result.tests.size());
  result.samples_by_status.resize(result.status_names.size());
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto samples = reader.read(i);
    auto& summary = result.summaries[i];
    const auto& test = result.tests[i];
    auto relabelled = (test.is_weat() ? summarise_weat : summarise_wefat)(test, samples, options.settings, summary);
    std::erase_if(relabelled, [](const auto& way) { return !way.sides; });
    for (const auto status : samples.status.values) {
      ++result.samples_by_status.at(status);
    }
    if (options.depth == ContextsDepth::everything) {
      test_effects(relabelled, options);
    }
    describe_effects(test, result, summary);
  }
  adjust_tests(result);
  if (options.depth == ContextsDepth::everything) {
    result.detections = base::joined(
        base::mapped(options.settings.detections, [&](const auto& detection) { return detect(result, detection); }));
  }
  return result;
}

ContextsResult write_contexts(const results::ResultFile& file, const ContextsOptions& options,
                              const results::StatisticsTarget& target) {
  auto result = compute_contexts(file, options);
  results::StatisticsFile written(file, "contexts", target);
  auto& root = written.root();
  root.write_attribute("variance", variance_names.at(static_cast<std::size_t>(options.settings.variance)));
  root.write_attribute("estimator", estimator_names.at(static_cast<std::size_t>(options.settings.estimator)));
  root.write_attribute("confidence", options.settings.confidence);
  root.write_attribute("draws", options.settings.draws);
  root.write_attribute("exceedances", options.settings.exceedances);
  root.write_attribute("permutation_seed", std::to_string(options.seed));
  written.layout().add_axis(file.schema().outer_axes.front());  // all tests, with their words
  for (const auto& finding : findings_of(result, Detail::main)) {
    findings::write(written.layout(), finding);
  }
  write_score_table(written.layout(), ContextsReader(file, options.settings.samples),
                    options.job == nullptr ? Contexts() : *options.job);
  written.commit();
  return result;
}

}  // namespace stereosweep::probes::contexts
