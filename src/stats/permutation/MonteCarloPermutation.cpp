#include "stats/permutation/MonteCarloPermutation.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/Check.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {

namespace {

constexpr std::uint64_t least_chunk = 1U << 7U;  ///< draws; doubled after every look at the counts, so that a test that
constexpr std::uint64_t largest_chunk = 1U << 14U;  ///< ends early wastes little
constexpr std::uint64_t chunks_per_thread = 8;      ///< between two looks

/// Draws that reach the observed effect.
struct Counts {
  std::uint64_t one_sided = 0;
  std::uint64_t two_sided = 0;
  std::uint64_t end = 0;  ///< behind the last draw that was counted
};

class Draws {
 public:
  Draws(std::span<const double> x, std::span<const double> y, const MonteCarloSettings& settings)
      : scores_(fix_scores(x, y)),
        subsets_(x.size() + y.size(), x.size(),
                 {.seed = settings.seed, .purpose = base::Purpose::permutation, .test = settings.test}),
        total_(std::accumulate(scores_.values.begin(), scores_.values.end(), std::int64_t{0})) {}

  /// Of the draws in [first, last), up to the one with which `most` reach, one-sided.
  Counts count(std::uint64_t first, std::uint64_t last, std::uint64_t most = ~std::uint64_t{0}) const {
    Counts counts{.end = first};
    std::vector<std::int64_t> scratch(scores_.values.size());
    for (; counts.end < last && counts.one_sided < most; ++counts.end) {
      const auto drawn = subsets_.sum(static_cast<std::uint32_t>(counts.end), scores_.values, scratch);
      const auto sum = subsets_.draws_complement() ? total_ - drawn : drawn;
      counts.one_sided += sum >= scores_.threshold ? 1 : 0;
      counts.two_sided += sum >= scores_.far || sum <= -scores_.far ? 1 : 0;
    }
    return counts;
  }

 private:
  FixedScores scores_;
  RandomSubsets subsets_;
  std::int64_t total_;
};

void conclude(MonteCarloResult& result, double confidence) {
  const auto exceedances = static_cast<double>(result.exceedances);
  const auto draws = static_cast<double>(result.draws);
  if (result.end == MonteCarloResult::End::exceedances) {
    result.p = exceedances / draws;
    result.interval = fixed_successes_interval(result.exceedances, result.draws, confidence);
  } else {
    result.p = (exceedances + 1) / (draws + 1);
    result.two_sided = (static_cast<double>(result.two_sided_exceedances) + 1) / (draws + 1);
    result.interval = fixed_draws_interval(result.exceedances, result.draws, confidence);
  }
}

}  // namespace

MonteCarloResult monte_carlo_permutation(std::span<const double> x, std::span<const double> y,
                                         const MonteCarloSettings& settings) {
  STEREOSWEEP_ASSERT(settings.draws < std::uint64_t{1} << 32U, "a draw's number has 32 bits");
  const Draws draws(x, y, settings);
  const auto num_threads = std::max(1U, settings.num_threads);
  MonteCarloResult result;
  for (auto size = least_chunk; result.draws < settings.draws; size = std::min(2 * size, largest_chunk)) {
    const auto start = result.draws;
    const auto begin_of = [&](std::uint64_t chunk) { return std::min(settings.draws, start + chunk * size); };
    std::vector<Counts> counts(num_threads * chunks_per_thread);
    on_threads(num_threads, [&](unsigned thread) {
      for (std::uint64_t chunk = thread; chunk < counts.size(); chunk += num_threads) {
        counts[chunk] = draws.count(begin_of(chunk), begin_of(chunk + 1));
      }
    });
    for (std::uint64_t chunk = 0; chunk < counts.size(); ++chunk) {
      const auto wanted = settings.exceedances - result.exceedances;
      if (settings.exceedances > 0 && counts[chunk].one_sided >= wanted) {
        result.draws = draws.count(begin_of(chunk), begin_of(chunk + 1), wanted).end;
        result.exceedances = settings.exceedances;
        result.two_sided_exceedances = 0;
        result.end = MonteCarloResult::End::exceedances;
        conclude(result, settings.confidence);
        return result;
      }
      result.exceedances += counts[chunk].one_sided;
      result.two_sided_exceedances += counts[chunk].two_sided;
      result.draws = counts[chunk].end;
    }
  }
  conclude(result, settings.confidence);
  return result;
}

}  // namespace stereosweep::stats
