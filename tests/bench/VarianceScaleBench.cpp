// Shows what the choice of the in-sample variance V does to a combined effect: all cosines of a simulated contextual
// test are multiplied by a factor, which changes no effect size. bench_variance_scale
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "base/Random.hpp"
#include "stats/embedding/EffectSize.hpp"
#include "stats/embedding/RandomEffects.hpp"
#include "support/EffectSize.hpp"
#include "support/PhiloxUnit.hpp"

namespace {

namespace stats = stereosweep::stats;

constexpr std::size_t num_words = 8;  ///< in each of X and Y
constexpr std::uint32_t num_samples = 1000;
constexpr std::uint32_t num_contexts = 20;  ///< of each word; a sample draws one

/// A standard normal number by Box and Muller.
double normal(std::uint32_t word, std::uint32_t context) {
  using stereosweep::testing::philox_unit;
  const double first = philox_unit({.seed = 9, .test = 1, .sample = context, .word = word});
  const double second = philox_unit({.seed = 9, .test = 2, .sample = context, .word = word});
  return std::sqrt(-2 * std::log1p(-first)) * std::cos(2 * std::numbers::pi * second);
}

/// Association of a word in a context: a word's own level, a shift of X, and its contexts' spread.
double association(std::uint32_t word, std::uint32_t context) {
  return (word < num_words ? 0.02 : 0) + 0.03 * normal(word, num_contexts) + 0.02 * normal(word, context);
}

}  // namespace

int main() {
  std::printf("%u samples of %zu + %zu words; d and its standard error, tau^2, z by V\n", num_samples, num_words,
              num_words);
  std::printf("%8s | %8s %8s %8s %8s | %8s %8s %8s %8s | %8s %8s\n", "factor", "paper d", "error", "tau^2", "z",
              "cohen d", "error", "tau^2", "z", "perm. d", "error");
  for (const double factor : {0.1, 0.3, 1.0, 2.0, 10.0, 30.0}) {
    std::vector<double> effects;
    std::vector<double> paper;
    std::vector<double> cohen;
    for (std::uint32_t sample = 0; sample < num_samples; ++sample) {
      std::vector<double> x;
      std::vector<double> y;
      for (std::uint32_t word = 0; word < 2 * num_words; ++word) {
        const auto context = static_cast<std::uint32_t>(
            stereosweep::base::philox_below(num_contexts, {.seed = 5, .sample = sample, .word = word}));
        (word < num_words ? x : y).push_back(factor * association(word, context));
      }
      const auto effect = stereosweep::testing::effect_size(x, y);
      effects.push_back(effect.value);
      paper.push_back(effect.deviation * effect.deviation);
      cohen.push_back(stats::cohen_variance(effect.value, num_words, num_words));
    }
    const std::vector<double> permutation(num_samples, stats::permutation_variance(num_words, num_words));
    const auto combine = [&](const std::vector<double>& variances) {
      return stats::combine_effects(effects, variances, stats::TauEstimator::dersimonian_laird, 0.95);
    };
    const auto by_paper = combine(paper);
    const auto by_cohen = combine(cohen);
    const auto by_permutation = combine(permutation);
    std::printf("%8.1f | %8.5f %8.5f %8.5f %8.2f | %8.5f %8.5f %8.5f %8.2f | %8.5f %8.5f\n", factor, by_paper.effect,
                by_paper.standard_error, by_paper.tau_squared, by_paper.z, by_cohen.effect, by_cohen.standard_error,
                by_cohen.tau_squared, by_cohen.z, by_permutation.effect, by_permutation.standard_error);
  }
  return EXIT_SUCCESS;
}
