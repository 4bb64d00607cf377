#include "stats/permutation/RandomPermutation.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/Error.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

/// Of a thread between two looks at the draws; doubled after each, so that a test that ends early wastes little.
constexpr std::uint64_t least_draws = 1U << 10U;
constexpr std::uint64_t largest_draws = 1U << 17U;

/// Whether a draw reaches the observed effect.
struct Reached {
  bool one_sided = false;
  bool two_sided = false;
};

void add(MonteCarloTail& tail, bool reached, std::uint64_t most) {
  if (!tail.ended_early) {
    ++tail.draws;
    tail.exceedances += reached ? 1 : 0;
    tail.ended_early = reached && tail.exceedances == most;
  }
}

void conclude(MonteCarloTail& tail, double confidence) {
  const auto exceedances = static_cast<double>(tail.exceedances);
  const auto draws = static_cast<double>(tail.draws);
  tail.p = tail.ended_early ? exceedances / draws : (exceedances + 1) / (draws + 1);
  tail.interval =
      (tail.ended_early ? fixed_successes_interval : fixed_draws_interval)(tail.exceedances, tail.draws, confidence);
}

}  // namespace

MonteCarloResult monte_carlo_permutation(std::span<const double> x, std::span<const double> y,
                                         const MonteCarloSettings& settings) {
  STEREOSWEEP_ASSERT(settings.draws < std::uint64_t{1} << 32U, "a draw's number has 32 bits");
  const auto scores = fix_scores(x, y);
  const auto total = std::accumulate(scores.values.begin(), scores.values.end(), std::int64_t{0});
  const RandomSubsets subsets(scores.values.size(), x.size(),
                              {.seed = settings.seed, .purpose = base::Purpose::permutation, .test = settings.test});
  const auto num_threads = std::max(1U, settings.num_threads);
  MonteCarloResult result;
  auto& [one_sided, two_sided] = result;
  std::vector<Reached> reached;
  std::uint64_t made = 0;
  for (auto size = least_draws; made < settings.draws && !(one_sided.ended_early && two_sided.ended_early);
       size = std::min(2 * size, largest_draws)) {
    reached.resize(std::min(settings.draws - made, num_threads * size));
    on_threads(num_threads, [&](unsigned thread) {
      std::vector<std::int64_t> scratch(scores.values.size());
      const auto end = std::min((thread + 1) * size, reached.size());
      for (auto place = thread * size; place < end; ++place) {
        const auto drawn = subsets.sum(static_cast<std::uint32_t>(made + place), scores.values, scratch);
        const auto sum = subsets.draws_complement() ? total - drawn : drawn;
        reached[place] = {sum >= scores.threshold, sum >= scores.far || sum <= -scores.far};
      }
    });
    for (const auto& draw : reached) {
      add(one_sided, draw.one_sided, settings.exceedances);
      add(two_sided, draw.two_sided, settings.exceedances);
    }
    made += reached.size();
  }
  conclude(one_sided, settings.confidence);
  conclude(two_sided, settings.confidence);
  return result;
}

}  // namespace stereosweep::stats
