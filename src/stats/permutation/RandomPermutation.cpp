#include "stats/permutation/RandomPermutation.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "base/Error.hpp"
#include "stats/permutation/Relabelling.hpp"

namespace stereosweep::stats {
namespace {

constexpr std::uint64_t least_chunk = 1U << 7U;  ///< draws; doubled after every look at the counts, so that a test that
constexpr std::uint64_t largest_chunk = 1U << 14U;  ///< ends early wastes little
constexpr std::uint64_t chunks_per_thread = 8;      ///< between two looks

/// Of the one-sided and of the two-sided p.
template <class Value>
using OfTails = std::array<Value, 2>;

class Draws {
 public:
  Draws(std::span<const double> x, std::span<const double> y, const MonteCarloSettings& settings)
      : scores_(fix_scores(x, y)),
        subsets_(x.size() + y.size(), x.size(),
                 {.seed = settings.seed, .purpose = base::Purpose::permutation, .test = settings.test}),
        total_(std::accumulate(scores_.values.begin(), scores_.values.end(), std::int64_t{0})) {}

  /// Draws in [first, last) that reach the observed effect.
  OfTails<std::uint64_t> count(std::uint64_t first, std::uint64_t last) const {
    OfTails<std::uint64_t> counts{};
    std::vector<std::int64_t> scratch(scores_.values.size());
    for (auto draw = first; draw < last; ++draw) {
      const auto reached = reaches(draw, scratch);
      counts[0] += reached[0] ? 1 : 0;
      counts[1] += reached[1] ? 1 : 0;
    }
    return counts;
  }

  /// How many draws from `first` on bring `wanted` that reach it.
  std::uint64_t draws_until(std::uint64_t first, std::size_t tail, std::uint64_t wanted) const {
    std::vector<std::int64_t> scratch(scores_.values.size());
    auto draw = first;
    for (std::uint64_t found = 0; found < wanted; ++draw) {
      found += reaches(draw, scratch)[tail] ? 1 : 0;
    }
    return draw - first;
  }

 private:
  OfTails<bool> reaches(std::uint64_t draw, std::vector<std::int64_t>& scratch) const {
    const auto drawn = subsets_.sum(static_cast<std::uint32_t>(draw), scores_.values, scratch);
    const auto sum = subsets_.draws_complement() ? total_ - drawn : drawn;
    return {sum >= scores_.threshold, sum >= scores_.far || sum <= -scores_.far};
  }

  FixedScores scores_;
  RandomSubsets subsets_;
  std::int64_t total_;
};

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
  const Draws draws(x, y, settings);
  const auto num_threads = std::max(1U, settings.num_threads);
  OfTails<MonteCarloTail> tails;
  std::uint64_t made = 0;
  const auto all_ended = [&] { return std::ranges::all_of(tails, [](const auto& tail) { return tail.ended_early; }); };
  for (auto size = least_chunk; made < settings.draws && !all_ended(); size = std::min(2 * size, largest_chunk)) {
    const auto begin_of = [&, start = made](std::uint64_t chunk) {
      return std::min(settings.draws, start + chunk * size);
    };
    std::vector<OfTails<std::uint64_t>> counts(num_threads * chunks_per_thread);
    on_threads(num_threads, [&](unsigned thread) {
      for (std::uint64_t chunk = thread; chunk < counts.size(); chunk += num_threads) {
        counts[chunk] = draws.count(begin_of(chunk), begin_of(chunk + 1));
      }
    });
    for (std::uint64_t chunk = 0; chunk < counts.size(); ++chunk) {
      for (std::size_t place = 0; place < tails.size(); ++place) {
        auto& tail = tails[place];
        const auto wanted = settings.exceedances - tail.exceedances;
        if (tail.ended_early) {
          continue;
        }
        tail.ended_early = settings.exceedances > 0 && counts[chunk][place] >= wanted;
        tail.draws = tail.ended_early ? begin_of(chunk) + draws.draws_until(begin_of(chunk), place, wanted)
                                      : begin_of(chunk + 1);
        tail.exceedances = tail.ended_early ? settings.exceedances : tail.exceedances + counts[chunk][place];
      }
    }
    made = begin_of(counts.size());
  }
  for (auto& tail : tails) {
    conclude(tail, settings.confidence);
  }
  return {tails[0], tails[1]};
}

}  // namespace stereosweep::stats
