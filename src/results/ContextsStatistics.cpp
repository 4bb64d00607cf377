#include "results/ContextsStatistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "probe/EmbeddingTests.hpp"
#include "results/ContextsAgreement.hpp"
#include "results/ContextsFile.hpp"
#include "results/TestFamilies.hpp"
#include "stats/Aggregate.hpp"
#include "stats/EffectSize.hpp"
#include "stats/MonteCarloPermutation.hpp"
#include "stats/Spread.hpp"

namespace stereosweep::results {
namespace {

using domain::EmbeddingStatistics;
using Kind = domain::EmbeddingTest::Kind;
using stats::nan;

/// An automatic test is exact up to this many words, the largest published test (32 and 32): about a minute of one
/// core, a second up to 52. It does not depend on the number of ranks.
constexpr std::size_t automatic_exact_pool = 64;

SampleSummary summarise(const std::vector<double>& values) {
  std::vector<double> defined;
  std::copy_if(values.begin(), values.end(), std::back_inserter(defined),
               [](double value) { return std::isfinite(value); });
  return {static_cast<std::int32_t>(defined.size()), stats::mean(defined).value,
          stats::standard_deviation(defined).value};
}

/// V of one sample by one of `variance_names`.
double variance_of(std::size_t choice, double effect, double published, std::size_t n, std::size_t m) {
  switch (static_cast<EmbeddingStatistics::Variance>(choice)) {
    case EmbeddingStatistics::Variance::cohen:
      return stats::cohen_variance(effect, n, m);
    case EmbeddingStatistics::Variance::permutation:
      return stats::permutation_variance(n, m);
    case EmbeddingStatistics::Variance::paper:
      break;
  }
  return published;
}

/// Samples of a weat test that have an effect, and what follows from them.
struct WeatSamples {
  std::vector<std::size_t> used;
  std::vector<double> effects;
  std::vector<double> published;  ///< V of the paper

  explicit WeatSamples(const ContextsSamples& samples) {
    for (std::size_t i = 0; i < samples.status.size(); ++i) {
      if (samples.status[i] == 0 && std::isfinite(samples.effect_size[i]) && samples.association_variance[i] > 0) {
        used.push_back(i);
        effects.push_back(samples.effect_size[i]);
        published.push_back(samples.association_variance[i]);
      }
    }
  }

  std::vector<double> variances(const ContextsTest& test, std::size_t choice) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < used.size(); ++i) {
      values.push_back(variance_of(choice, effects[i], published[i], test.words[0].size(), test.words[1].size()));
    }
    return values;
  }
};

stats::TauEstimator estimator_of(std::size_t combination) {
  return static_cast<stats::TauEstimator>(combination % estimator_names.size());
}

std::size_t chosen_combination(const EmbeddingStatistics& settings) {
  return static_cast<std::size_t>(settings.variance) * estimator_names.size() +
         static_cast<std::size_t>(settings.estimator);
}

/// One score per target word: the mean over samples of association / deviation, weighted as in the combined effect, so
/// that mean_X - mean_Y is that effect. Relabelling changes no deviation; the weights are held fixed.
std::vector<double> word_scores(const ContextsTest& test, const ContextsSamples& samples, const WeatSamples& weat,
                                std::size_t combination, double tau_squared) {
  const auto variances = weat.variances(test, combination / estimator_names.size());
  const auto num_targets = test.num_targets();
  std::vector<double> scores(num_targets, 0);
  double weights = 0;
  for (std::size_t i = 0; i < weat.used.size(); ++i) {
    const double weight = 1 / (variances[i] + tau_squared);
    weights += weight;
    for (std::size_t target = 0; target < num_targets; ++target) {
      scores[target] +=
          weight / std::sqrt(weat.published[i]) * samples.association[weat.used[i] * num_targets + target];
    }
  }
  for (auto& score : scores) {
    score /= weights;
  }
  return scores;
}

bool is_exact(const ContextsTest& test, EmbeddingStatistics::Permutation choice) {
  return choice == EmbeddingStatistics::Permutation::exact ||
         (choice == EmbeddingStatistics::Permutation::automatic && test.num_targets() <= automatic_exact_pool);
}

/// Both sides' scores; nothing where the test has no effect.
std::optional<Sides> sides_of(const ContextsTest& test, const ContextsSamples& samples, const WeatSamples& weat,
                              std::size_t combination, const stats::RandomEffects& combined) {
  if (!combined.defined()) {
    return std::nullopt;
  }
  const auto scores = word_scores(test, samples, weat, combination, combined.tau_squared);
  const auto border = scores.begin() + static_cast<std::ptrdiff_t>(test.words[0].size());
  Sides sides{{scores.begin(), border}, {border, scores.end()}};
  return stats::effect_size(sides.x, sides.y).defined() ? std::optional(sides) : std::nullopt;
}

stats::ReachingPartitions count_reaching(const Sides& sides, const ContextsOptions& options) {
  const stats::ExactPermutation exact(sides.x, sides.y, options.num_threads);
  return stats::count_reaching(exact, [&](std::int64_t threshold) {
    return options.count ? options.count(exact, threshold) : exact.count_share(threshold, 0, 1, options.num_threads);
  });
}

PermutationSummary permute(const ContextsTest& test, const Sides& sides, const ContextsOptions& options) {
  PermutationSummary summary;
  const auto& settings = options.settings;
  const auto partitions = stats::num_subsets(test.num_targets(), test.words[0].size());
  if (test.num_targets() <= stats::max_exact_pool) {
    summary.partitions = stats::to_text(partitions);
  }
  if (is_exact(test, settings.permutation)) {
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
                                                      .test = probe::draw_name(test.label),
                                                      .draws = static_cast<std::uint64_t>(settings.draws),
                                                      .exceedances = static_cast<std::uint64_t>(settings.exceedances),
                                                      .confidence = settings.confidence,
                                                      .num_threads = options.num_threads});
  summary.method = result.end == stats::MonteCarloResult::End::exceedances
                       ? PermutationSummary::Method::monte_carlo_early_end
                       : PermutationSummary::Method::monte_carlo;
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

TestSummary summarise_weat(const ContextsTest& test, const WeatSamples& weat, double confidence) {
  TestSummary summary;
  summary.effect = summarise(weat.effects);
  for (std::size_t i = 0; i < num_combinations; ++i) {
    summary.combined[i] = stats::combine_effects(weat.effects, weat.variances(test, i / estimator_names.size()),
                                                 estimator_of(i), confidence);
  }
  return summary;
}

TestSummary summarise_wefat(const ContextsTest& test, const ContextsSamples& samples,
                            const EmbeddingStatistics& settings) {
  TestSummary summary;
  const auto num_targets = test.num_targets();
  const auto num_samples = samples.status.size();
  std::vector<double> means(num_samples, 0);
  for (std::size_t target = 0; target < num_targets; ++target) {
    std::vector<double> associations;
    std::vector<double> effects;
    std::vector<double> defined;
    std::vector<double> variances;
    for (std::size_t sample = 0; sample < num_samples; ++sample) {
      const auto cell = sample * num_targets + target;
      const double deviation = samples.deviation[cell];
      const double effect = deviation > stats::cosine_rounding ? samples.association[cell] / deviation : nan;
      associations.push_back(samples.association[cell]);
      effects.push_back(effect);
      means[sample] += effect / static_cast<double>(num_targets);
      if (std::isfinite(effect)) {
        defined.push_back(effect);
        variances.push_back(variance_of(static_cast<std::size_t>(settings.variance), effect, deviation * deviation,
                                        test.words[2].size(), test.words[3].size()));
      }
    }
    const auto combined = stats::combine_effects(
        defined, variances, static_cast<stats::TauEstimator>(settings.estimator), settings.confidence);
    summary.words.push_back({test.words[0][target], summarise(associations), summarise(effects), combined, {}});
  }
  summary.effect = num_targets > 0 ? summarise(means) : SampleSummary{};
  return summary;
}

std::vector<std::uint64_t> count_statuses(const ContextsSamples& samples, std::size_t num_statuses) {
  std::vector<std::uint64_t> counts(num_statuses, 0);
  for (const auto status : samples.status) {
    ++counts.at(status);
  }
  return counts;
}

/// Effects of the words of one wefat test.
std::map<std::string, double> effects_of(const ContextsResult& result, const std::string& detection,
                                         const std::string& label) {
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    if (result.tests[i].label == label && result.tests[i].kind == Kind::wefat) {
      std::map<std::string, double> effects;
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

DetectionSummary detect(const ContextsResult& result, const domain::BiasDetection& detection) {
  std::vector<std::map<std::string, double>> against;
  std::vector<std::map<std::string, double>> single_axis;
  for (const auto& label : detection.against) {
    against.push_back(effects_of(result, detection.label, label));
  }
  for (const auto& label : detection.single_axis) {
    single_axis.push_back(effects_of(result, detection.label, label));
  }
  DetectionSummary summary{
      .label = detection.label, .words = {}, .curves = {}, .area = {}, .detected = {}, .unknown = {}};
  if (against.empty()) {
    return summary;
  }
  const auto has = [](const std::string& word) {
    return [&word](const std::map<std::string, double>& effects) { return effects.contains(word); };
  };
  for (const auto& [word, effect] : against.front()) {
    if (std::all_of(against.begin(), against.end(), has(word)) &&
        std::all_of(single_axis.begin(), single_axis.end(), has(word))) {
      summary.words.push_back(word);
    }
  }
  stats::DetectionScores scores{summary.words.size(), {}, {}};
  const auto collect = [&](const std::vector<std::map<std::string, double>>& tests) {
    std::vector<std::vector<double>> rows;
    for (const auto& effects : tests) {
      rows.emplace_back();
      for (const auto& word : summary.words) {
        rows.back().push_back(effects.at(word));
      }
    }
    return rows;
  };
  scores.against = collect(against);
  scores.single_axis = collect(single_axis);
  const auto thresholds = stats::published_thresholds();
  for (std::size_t kind = 0; kind < 2; ++kind) {
    const auto& truth = kind == 0 ? detection.intersectional : detection.emergent;
    std::vector<std::uint8_t> validated;
    for (const auto& word : summary.words) {
      validated.push_back(std::find(truth.begin(), truth.end(), word) != truth.end() ? 1 : 0);
    }
    std::copy_if(truth.begin(), truth.end(), std::back_inserter(summary.unknown[kind]), [&](const auto& word) {
      return !std::binary_search(summary.words.begin(), summary.words.end(), word);
    });
    auto& curve = summary.curves[kind];
    curve = stats::detection_curve(scores, static_cast<stats::DetectionKind>(kind), validated, thresholds);
    if (kind == 0) {
      summary.area = stats::intersectional_area(scores, validated);
    }
    if (curve.reason == stats::Reason::ok) {
      const double threshold = curve.points[curve.most_accurate].threshold;
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

void require_possible(const EmbeddingStatistics& settings) {
  if (settings.draws < 1 || settings.draws >= std::int64_t{1} << 32U) {
    throw base::InputError(base::describe("statistics.draws: " + std::to_string(settings.draws) + " is not possible",
                                          "1 to 4294967295 draws have a number of their own"));
  }
}

}  // namespace

ContextsResult compute_contexts(const ResultFile& file, const ContextsOptions& options) {
  const ContextsReader reader(file);
  require_possible(options.settings);
  ContextsResult result;
  result.tests = reader.tests();
  result.status_names = reader.status_names();
  result.num_samples = reader.num_samples();
  result.settings = options.settings;
  result.chosen = chosen_combination(options.settings);
  result.families = families_in_use(result.tests, options.settings.families);
  std::map<std::size_t, Sides> permuted;
  for (std::size_t i = 0; i < result.tests.size(); ++i) {
    const auto& test = result.tests[i];
    const auto samples = reader.read(i);
    if (test.kind == Kind::wefat) {
      result.summaries.push_back(summarise_wefat(test, samples, options.settings));
    } else {
      const WeatSamples weat(samples);
      result.summaries.push_back(summarise_weat(test, weat, options.settings.confidence));
      const auto sides = sides_of(test, samples, weat, result.chosen, result.summaries.back().combined[result.chosen]);
      if (sides && options.depth == ContextsDepth::everything) {
        result.summaries.back().permutation = permute(test, *sides, options);
        permuted.emplace(i, *sides);
      }
    }
    result.summaries.back().samples_by_status = count_statuses(samples, result.status_names.size());
  }
  if (options.depth == ContextsDepth::everything) {
    adjust_tests(result, permuted, options);
    for (const auto& detection : options.settings.detections) {
      result.detections.push_back(detect(result, detection));
    }
    result.agreement = compute_agreement(result.tests, result.summaries, options.ratings,
                                         {.seed = options.seed, .num_threads = options.num_threads});
  }
  return result;
}

ContextsResult write_contexts(const ResultFile& file, const ContextsOptions& options,
                              const std::filesystem::path& target) {
  auto result = compute_contexts(file, options);
  write_contexts_file(file, result, options, target);
  return result;
}

void assist_contexts(const ResultFile& file, const ContextsOptions& options) {
  const ContextsReader reader(file);
  require_possible(options.settings);
  const auto chosen = chosen_combination(options.settings);
  for (std::size_t i = 0; i < reader.tests().size(); ++i) {
    const auto& test = reader.tests()[i];
    if (test.kind == Kind::wefat || !is_exact(test, options.settings.permutation)) {
      continue;
    }
    const auto samples = reader.read(i);
    const WeatSamples weat(samples);
    const auto combined = stats::combine_effects(weat.effects, weat.variances(test, chosen / estimator_names.size()),
                                                 estimator_of(chosen), options.settings.confidence);
    if (const auto sides = sides_of(test, samples, weat, chosen, combined)) {
      count_reaching(*sides, options);
    }
  }
}

}  // namespace stereosweep::results
