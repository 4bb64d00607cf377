#include "probes/contexts/statistics/ContextsStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "stats/PValues.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "stats/permutation/RandomPermutation.hpp"

namespace stereosweep::probes::contexts {
namespace {

using Kind = EmbeddingTest::Kind;
using stats::nan;

/// An automatic test is exact up to this many words, the largest published test (32 and 32): about a minute of one
/// core, a second up to 52. It does not depend on the number of ranks.
constexpr std::size_t automatic_exact_pool = 64;
/// And where it has many effects, the words of a wefat test, up to this many subset sums of half a pool: 128 words with
/// 25 and 25 attributes, about half a minute of one core.
constexpr std::size_t automatic_exact_sums = std::size_t{1} << 32;

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
  std::vector<double> variances(std::size_t choice) const {
    auto all = published;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (choice == static_cast<std::size_t>(EmbeddingStatistics::Variance::cohen)) {
        all[i] = stats::cohen_variance(values[i], sizes[0], sizes[1]);
      } else if (choice == static_cast<std::size_t>(EmbeddingStatistics::Variance::permutation)) {
        all[i] = stats::permutation_variance(sizes[0], sizes[1]);
      }
    }
    return all;
  }
  stats::RandomEffects combined(std::size_t combination, double confidence) const {
    return stats::combine_effects(values, variances(combination / estimator_names.size()),
                                  static_cast<stats::TauEstimator>(combination % estimator_names.size()), confidence);
  }
};

Effects effects_of_test(const ContextsTest& test, const ContextsSamples& samples) {
  Effects effects{{test.words[0].size(), test.words[1].size()}, {}, {}, {}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.status(i) == 0 && std::isfinite(samples.effect_size(i)) && samples.association_variance(i) > 0) {
      effects.add(i, samples.effect_size(i), samples.association_variance(i));
    }
  }
  return effects;
}

Effects effects_of_word(const ContextsTest& test, const ContextsSamples& samples, std::size_t target) {
  Effects effects{{test.words[2].size(), test.words[3].size()}, {}, {}, {}};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double association = samples.association(i, target);
    const double deviation = samples.deviation(i, target);
    if (deviation > stats::cosine_rounding && std::isfinite(association)) {
      effects.add(i, association / deviation, deviation * deviation);
    }
  }
  return effects;
}

std::size_t chosen_combination(const EmbeddingStatistics& settings) {
  return static_cast<std::size_t>(settings.variance) * estimator_names.size() +
         static_cast<std::size_t>(settings.estimator);
}

/// One score per word of two sets: the mean over samples of its part of the effect / deviation, weighted as in the
/// combined effect, so that the difference of the sets' means is that effect. The effect is linear in the words of
/// either kind, so the same holds for target words and for attribute words; weights and deviations are held fixed.
/// `part(sample, word)`: association of a target or of an attribute word, cosine of an attribute word. Nothing where
/// there is no effect.
template <class Part>
std::optional<Sides> sides_of(const Effects& effects, const EmbeddingStatistics& settings,
                              const stats::RandomEffects& combined, std::array<std::size_t, 2> sizes,
                              const Part& part) {
  if (!combined.defined()) {
    return std::nullopt;
  }
  const auto variances = effects.variances(chosen_combination(settings) / estimator_names.size());
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
  const auto border = scores.begin() + static_cast<std::ptrdiff_t>(sizes[0]);
  Sides sides{{scores.begin(), border}, {border, scores.end()}};
  return stats::effect_size(sides.x, sides.y).defined() ? std::optional(sides) : std::nullopt;
}

/// Whether the permutations of a test are counted: `num_effects` words of a wefat test, or the test itself.
bool is_exact(std::size_t pool, std::size_t num_effects, EmbeddingStatistics::Permutation choice) {
  return choice == EmbeddingStatistics::Permutation::exact ||
         (choice == EmbeddingStatistics::Permutation::automatic && pool <= automatic_exact_pool &&
          (num_effects == 1 || num_effects << pool / 2 <= automatic_exact_sums));
}

stats::ReachingPartitions count_reaching(const Sides& sides, const ContextsOptions& options) {
  const stats::ExactPermutation exact(sides.x, sides.y, options.num_threads);
  return stats::count_reaching(exact, [&](std::int64_t threshold) {
    return options.count ? options.count(exact, threshold) : exact.count_share(threshold, 0, 1, options.num_threads);
  });
}

/// `name`: of the draws.
PermutationSummary permute(const Sides& sides, bool exact, const std::string& name, const ContextsOptions& options) {
  PermutationSummary summary;
  const auto& settings = options.settings;
  const auto pool = sides.x.size() + sides.y.size();
  const auto partitions = stats::num_subsets(pool, sides.x.size());
  summary.least = 0;
  if (pool <= stats::max_exact_pool) {
    summary.partitions = stats::to_text(partitions);
    // with sets of one size, changed places are as far from zero
    summary.least = stats::exact_p(sides.x.size() == sides.y.size() ? 2 : 1, partitions);
  }
  if (exact) {
    const auto count = count_reaching(sides, options);
    summary.method = PermutationSummary::Method::exact;
    summary.reaching = stats::to_text(count.one_sided);
    summary.two_sided_reaching = stats::to_text(count.two_sided);
    summary.p = stats::exact_p(count.one_sided, partitions);
    summary.two_sided = stats::exact_p(count.two_sided, partitions);
    summary.interval = {summary.p, summary.p};
    return summary;
  }
  const auto result = stats::monte_carlo_permutation(sides.x, sides.y,
                                                     {.seed = options.seed,
                                                      .test = draw_name(name),
                                                      .draws = static_cast<std::uint64_t>(settings.draws),
                                                      .exceedances = static_cast<std::uint64_t>(settings.exceedances),
                                                      .confidence = settings.confidence,
                                                      .num_threads = options.num_threads});
  summary.method = result.end == stats::MonteCarloResult::End::exceedances
                       ? PermutationSummary::Method::monte_carlo_early_end
                       : PermutationSummary::Method::monte_carlo;
  summary.least = std::max(summary.least, 1 / static_cast<double>(settings.draws + 1));
  summary.reaching = std::to_string(result.exceedances);
  summary.draws = static_cast<std::int64_t>(result.draws);
  summary.p = result.p;
  summary.two_sided = result.two_sided;
  if (result.end == stats::MonteCarloResult::End::all_draws) {
    summary.two_sided_reaching = std::to_string(result.two_sided_exceedances);
  }
  summary.interval = result.interval;
  return summary;
}

/// One set of labels that is relabelled for one effect.
struct Relabelled {
  EffectSummary* effect = nullptr;  ///< borrowed
  PermutationSummary EffectSummary::*of = nullptr;
  std::optional<Sides> sides;  ///< nothing: no effect
  bool exact = false;          ///< all ways are counted
  std::string name;            ///< of the draws
  std::uint32_t pool = 0;
};

/// Tests about the same words share a pool, whatever the others.
std::uint32_t pool_of(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  return draw_name(base::join(first, "\n") + "\n\n" + base::join(second, "\n"));
}

std::vector<Relabelled> summarise_weat(const ContextsTest& test, const ContextsSamples& samples,
                                       const EmbeddingStatistics& settings, TestSummary& summary) {
  const auto effects = effects_of_test(test, samples);
  for (std::size_t i = 0; i < summary.combinations.size(); ++i) {
    summary.combinations[i] = effects.combined(i, settings.confidence);
  }
  summary.effect = summarise(effects.values);
  summary.combined = summary.combinations[chosen_combination(settings)];
  const auto& words = test.words;
  const auto target = [&](auto sample, auto word) { return samples.association(sample, word); };
  const auto attribute = [&](auto sample, auto word) { return samples.attribute_association(sample, word); };
  return {{&summary, &EffectSummary::targets,
           sides_of(effects, settings, summary.combined, {words[0].size(), words[1].size()}, target),
           is_exact(test.num_targets(), 1, settings.permutation), test.label, pool_of(words[0], words[1])},
          {&summary, &EffectSummary::attributes,
           sides_of(effects, settings, summary.combined, {words[2].size(), words[3].size()}, attribute),
           is_exact(test.num_attributes(), 1, settings.permutation), test.label + "\nattributes",
           pool_of(words[2], words[3])}};
}

std::vector<Relabelled> summarise_wefat(const ContextsTest& test, const ContextsSamples& samples,
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
    word.word = test.words[0][target];
    word.association = summarise(associations);
    word.effect = summarise(effects.values);
    word.combined = effects.combined(chosen_combination(settings), settings.confidence);
    const auto part = [&](auto sample, auto attribute) { return samples.cosine(sample, target, attribute); };
    relabelled.push_back({&word, &EffectSummary::attributes,
                          sides_of(effects, settings, word.combined, effects.sizes, part),
                          is_exact(test.num_attributes(), num_targets, settings.permutation),
                          test.label + "\n" + word.word, pool_of(test.words[2], test.words[3])});
  }
  summary.effect = num_targets > 0 ? summarise(means) : SampleSummary{};
  return relabelled;
}

/// Summarises a test without its permutations. Returns what these relabel, in a fixed order: target and attribute words
/// of the test, or the attribute words of each of its words; `summary` is borrowed by it.
std::vector<Relabelled> summarise_test(const ContextsTest& test, const ContextsSamples& samples,
                                       const EmbeddingStatistics& settings, TestSummary& summary) {
  return (test.kind == Kind::wefat ? summarise_wefat : summarise_weat)(test, samples, settings, summary);
}

/// The largest p of the ways to relabel each effect, and the largest of their smallest. NaN where one has none.
void cite(const std::vector<Relabelled>& relabelled) {
  std::map<EffectSummary*, std::pair<double, double>> largest;
  for (const auto& way : relabelled) {
    const auto& found = way.effect->*way.of;
    auto& [p, least] = largest.try_emplace(way.effect, 0, 0).first->second;
    p = std::isnan(p) || std::isnan(found.two_sided) ? nan : std::max(p, found.two_sided);
    least = std::isnan(least) || std::isnan(found.least) ? nan : std::max(least, found.least);
  }
  for (const auto& [effect, both] : largest) {
    std::tie(effect->cited, effect->least) = both;
  }
}

/// Effects of the words of one wefat test.
using WordEffects = std::map<std::string, double>;

WordEffects effects_of(const ContextsResult& result, const std::string& detection, const std::string& label) {
  WordEffects effects;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].label == label && result.tests[i].kind == Kind::wefat) {
      for (const auto& word : result.summaries[i].words) {
        if (word.combined.defined()) {
          effects.emplace(word.word, word.combined.effect);
        }
      }
      return effects;
    }
  }
  throw base::InputError(base::describe("the detection '" + detection + "' names a test that the result does not have",
                                        "no wefat test is called '" + label + "'"));
}

/// Detects the words that every named test has an effect of.
DetectionSummary detect(const ContextsResult& result, const BiasDetection& detection) {
  std::vector<WordEffects> tests;
  for (const auto* labels : {&detection.against, &detection.single_axis}) {
    for (const auto& label : *labels) {
      tests.push_back(effects_of(result, detection.label, label));
    }
  }
  DetectionSummary summary;
  summary.label = detection.label;
  for (const auto& [word, effect] : tests.front()) {
    if (std::ranges::all_of(tests, [&](const auto& effects) { return effects.contains(word); })) {
      summary.words.push_back(word);
    }
  }
  stats::DetectionScores scores{summary.words.size(), {}, {}};
  for (std::size_t test = 0; test < tests.size(); ++test) {
    auto& rows = test < detection.against.size() ? scores.against : scores.single_axis;
    auto& row = rows.emplace_back();
    std::ranges::transform(summary.words, std::back_inserter(row),
                           [&](const auto& word) { return tests[test].at(word); });
  }
  for (std::size_t kind = 0; kind < summary.curves.size(); ++kind) {
    const auto& truth = kind == 0 ? detection.intersectional : detection.emergent;
    std::vector<std::uint8_t> validated;
    for (const auto& word : summary.words) {
      validated.push_back(std::ranges::find(truth, word) != truth.end() ? 1 : 0);
    }
    std::ranges::copy_if(truth, std::back_inserter(summary.unknown[kind]),
                         [&](const auto& word) { return !std::ranges::binary_search(summary.words, word); });
    auto& curve = summary.curves[kind];
    curve = stats::detection_curve(scores, static_cast<stats::DetectionKind>(kind), validated,
                                   stats::published_thresholds());
    if (kind == 0) {
      summary.used = curve.most_accurate;
      summary.area = stats::intersectional_area(scores, validated);
    }
    if (curve.reason == stats::Reason::ok) {
      const double threshold = curve.points[summary.used].threshold;
      const auto found =
          kind == 0 ? stats::detect_intersectional(scores, threshold) : stats::detect_emergent(scores, threshold);
      for (std::size_t word = 0; word < found.size(); ++word) {
        if (found[word] == 1) {
          summary.detected[kind].push_back(summary.words[word]);
        }
      }
    }
  }
  return summary;
}

/// One of the effects that are adjusted together: what was relabelled of it.
struct Member {
  EffectSummary* effect = nullptr;
  std::vector<const Relabelled*> relabelled;
};

/// max-T of each way to relabel, by common draws; of a member the largest of its ways. Alone there is nothing to adjust
/// for.
std::vector<double> largest_max_t(const std::vector<Member>& members, const ContextsOptions& options) {
  std::vector<double> adjusted(members.size(), nan);
  for (const auto of : {&EffectSummary::targets, &EffectSummary::attributes}) {
    std::vector<stats::FamilyTest> permuted;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const auto* way : members[i].relabelled) {
        if (way->of == of && way->sides && std::isfinite(members[i].effect->cited)) {
          permuted.push_back({way->sides->x, way->sides->y, way->pool});
          places.push_back(i);
        }
      }
    }
    const auto max_t = places.size() > 1
                           ? stats::max_t_p(permuted, {.seed = options.seed,
                                                       .draws = static_cast<std::uint64_t>(options.settings.draws),
                                                       .num_threads = options.num_threads,
                                                       .tail = stats::Tail::both})
                           : std::vector<double>(places.size(), 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
      adjusted[places[i]] = std::fmax(adjusted[places[i]], max_t[i]);
    }
  }
  return adjusted;
}

/// The cited p, and the p of z.
void adjust_together(const std::vector<Member>& members, const ContextsOptions& options) {
  std::vector<double> cited;
  std::vector<double> log10_of_z;
  for (const auto& member : members) {
    cited.push_back(member.effect->cited);
    log10_of_z.push_back(member.effect->combined.log10_p_two_sided);
  }
  const auto set = [&](std::size_t place, std::size_t method, double p) {
    // never below the plain p: powers of ten round, and max-T counts draws where that p counts all partitions
    members[place].effect->adjusted[method] = std::isnan(p) ? p : std::max(p, members[place].effect->cited);
  };
  for (std::size_t method = 0; method < num_step_adjustments; ++method) {
    const auto adjusted = stats::adjusted_p(cited, static_cast<stats::Adjustment>(method));
    const auto of_z = stats::adjust_log10_p(log10_of_z, static_cast<stats::Adjustment>(method));
    for (std::size_t i = 0; i < members.size(); ++i) {
      set(i, method, adjusted[i]);
      members[i].effect->adjusted_log10_p[method] = of_z[i];
    }
  }
  const auto max_t = largest_max_t(members, options);
  for (std::size_t i = 0; i < members.size(); ++i) {
    set(i, num_step_adjustments, max_t[i]);
  }
}

/// The declared families; of a kind of tests of which none is declared, one of all its tests. Throws InputError if a
/// family names a test that is not among `tests`, or one that another family has.
std::vector<FamilyInUse> families_in_use(const std::vector<ContextsTest>& tests,
                                         const std::vector<TestFamily>& declared) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    places.emplace(tests[i].label, i);
  }
  std::vector<FamilyInUse> families;
  std::set<Kind> kinds;
  for (const auto& family : declared) {
    FamilyInUse own{family.label, {}};
    for (const auto& label : family.tests) {
      const auto found = places.find(label);
      if (found == places.end()) {
        throw base::InputError(
            base::describe("the family '" + family.label + "' names a test that the result does not have",
                           "no test is called '" + label + "', or two families name it"));
      }
      own.tests.push_back(found->second);
      kinds.insert(tests[found->second].kind);
      places.erase(found);
    }
    std::sort(own.tests.begin(), own.tests.end());
    families.push_back(std::move(own));
  }
  for (const auto& [kind, label] : {std::pair{Kind::weat, "all"}, std::pair{Kind::wefat, "all words"}}) {
    FamilyInUse all{label, {}};
    for (std::size_t i = 0; i < tests.size() && !kinds.contains(kind); ++i) {
      if (tests[i].kind == kind) {
        all.tests.push_back(i);
      }
    }
    if (!all.tests.empty()) {
      families.push_back(std::move(all));
    }
  }
  return families;
}

/// Adjusts the p values in every family: of its weat tests, and of the words of its wefat tests.
void adjust_tests(ContextsResult& result, const std::vector<std::vector<Relabelled>>& relabelled,
                  const ContextsOptions& options) {
  for (auto& family : result.families) {
    std::vector<Member> members;
    for (const auto test : family.tests) {
      for (const auto& way : relabelled[test]) {
        if (members.empty() || members.back().effect != way.effect) {
          members.push_back({way.effect, {}});
        }
        members.back().relabelled.push_back(&way);
      }
    }
    family.num_effects = members.size();
    adjust_together(members, options);
  }
}

/// Effects of single words as scores of groups on trait pairs: the variant of CEAT that cao2022 §3.2 compares with
/// people. A wefat test is a trait pair (A its right pole, B its left one), a word of X is a group. Measures
/// `ceat_mean` (mean over samples of the word's effect) and `ceat_combined` (random effects, by the chosen variance and
/// estimator); the one prior is called `none`. Nothing without wefat tests. Throws InputError for unusable ratings.
std::optional<findings::PairAgreement> compute_agreement(const ContextsResult& result, const ContextsOptions& options) {
  findings::PairAgreement agreement;
  agreement.shuffles = {.seed = options.seed, .num_threads = options.num_threads};
  auto& scores = agreement.scores;
  auto& axes = scores.axes;
  axes.measures = {"ceat_mean", "ceat_combined"};
  axes.priors = {"none"};
  std::map<std::string, std::size_t> place_of_group;
  std::vector<const TestSummary*> pairs;
  for (std::size_t test = 0; test < result.tests.size(); ++test) {
    if (result.tests[test].kind != Kind::wefat) {
      continue;
    }
    axes.pairs.push_back(result.tests[test].label);
    pairs.push_back(&result.summaries[test]);
    for (const auto& word : pairs.back()->words) {
      if (place_of_group.try_emplace(word.word, axes.groups.size()).second) {
        axes.groups.push_back(word.word);
      }
    }
  }
  if (axes.groups.empty()) {
    if (options.ratings) {
      throw base::InputError(base::describe("human ratings cannot be used", "no WEFAT test has words with an effect",
                                            "rated groups are words of tests without y, such as {groups, traits}"));
    }
    return std::nullopt;
  }
  scores.overall.resize(axes.measures.size() * axes.groups.size() * axes.pairs.size());
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    for (const auto& word : pairs[pair]->words) {
      for (std::size_t measure = 0; measure < axes.measures.size(); ++measure) {
        const double score = measure == 0 ? word.effect.mean : word.combined.effect;
        if (std::isfinite(score)) {
          scores.overall[scores.overall_index(measure, 0, place_of_group.at(word.word), pair)].add(score);
        }
      }
    }
  }
  if (options.ratings) {
    agreement.ratings = findings::match_ratings(*options.ratings, axes);
    agreement.alignments = findings::align_all(scores, *agreement.ratings, agreement.shuffles);
  }
  return agreement;
}

}  // namespace

ContextsResult compute_contexts(const results::ResultFile& file, const ContextsOptions& options) {
  const ContextsReader reader(file, options.settings.samples);
  ContextsResult result;
  result.tests = reader.tests();
  result.status_names = reader.status_names();
  result.num_samples = reader.num_samples();
  result.settings = options.settings;
  result.chosen = chosen_combination(options.settings);
  result.families = families_in_use(result.tests, options.settings.families);
  result.word_contexts = reader.word_contexts();
  result.summaries.resize(result.tests.size());
  std::vector<std::vector<Relabelled>> relabelled;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto samples = reader.read(i);
    auto& summary = result.summaries[i];
    relabelled.push_back(summarise_test(result.tests[i], samples, options.settings, summary));
    summary.samples_by_status.resize(result.status_names.size());
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
      ++summary.samples_by_status.at(samples.status(sample));
    }
    for (const auto& way : relabelled.back()) {
      if (way.sides && options.depth == ContextsDepth::everything) {
        way.effect->*way.of = permute(*way.sides, way.exact, way.name, options);
      }
    }
    cite(relabelled.back());
  }
  for (std::size_t family = 0; family < result.families.size(); ++family) {
    for (const auto test : result.families[family].tests) {
      result.summaries[test].family = family;
    }
  }
  if (options.depth == ContextsDepth::everything) {
    adjust_tests(result, relabelled, options);
    for (const auto& detection : options.settings.detections) {
      result.detections.push_back(detect(result, detection));
    }
    result.agreement = compute_agreement(result, options);
  }
  return result;
}

ContextsResult write_contexts(const results::ResultFile& file, const ContextsOptions& options,
                              const results::StatisticsTarget& target) {
  auto result = compute_contexts(file, options);
  write_contexts_file(file, result, options, target);
  return result;
}

void assist_contexts(const results::ResultFile& file, const ContextsOptions& options) {
  const ContextsReader reader(file, options.settings.samples);
  for (std::size_t i = 0; i < reader.tests().size(); ++i) {
    TestSummary summary;
    for (const auto& way : summarise_test(reader.tests()[i], reader.read(i), options.settings, summary)) {
      if (way.sides && way.exact) {
        count_reaching(*way.sides, options);
      }
    }
  }
}

std::optional<std::uint64_t> fewest_contexts(const ContextsResult& result, std::size_t test) {
  std::optional<std::uint64_t> fewest;
  for (const auto& word : result.tests[test].words | std::views::join) {
    const auto contexts = result.word_contexts.at(word);
    fewest = std::min(fewest.value_or(contexts), contexts);
  }
  return fewest;
}

}  // namespace stereosweep::probes::contexts
