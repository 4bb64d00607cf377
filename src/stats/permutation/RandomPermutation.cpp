#include "stats/permutation/RandomPermutation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/Check.hpp"
#include "stats/embedding/EffectSize.hpp"
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

namespace {

/// A test prepared for relabelling: z of a sum of fixed-point scores is (sum - mean) * scale.
struct Prepared {
  FixedScores scores;
  std::int64_t total;
  double mean;
  double scale;
  double observed;   ///< z
  double threshold;  ///< least z that reaches it
};

double toward(Tail tail, double z) { return tail == Tail::both ? std::abs(z) : z; }

Prepared prepare(const FamilyTest& test, Tail tail) {
  Prepared prepared{fix_scores(test.x, test.y), 0, 0, 0, 0, 0};
  const auto& values = prepared.scores.values;
  prepared.total = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  const auto n = static_cast<double>(test.x.size());
  const auto m = static_cast<double>(test.y.size());
  prepared.mean = static_cast<double>(prepared.total) * n / (n + m);
  const auto effect = effect_size(test.x, test.y);
  STEREOSWEEP_ASSERT(effect.defined(), "a test of a family has an effect size");
  const double deviation = effect.deviation / prepared.scores.unit;
  prepared.scale = 1 / (deviation * std::sqrt(n * m / (n + m)));
  const auto sum =
      std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(test.x.size()), std::int64_t{0});
  prepared.observed = toward(tail, (static_cast<double>(sum) - prepared.mean) * prepared.scale);
  prepared.threshold = prepared.observed - 1e-12 * std::max(1.0, std::abs(prepared.observed));
  return prepared;
}

class Family {
 public:
  Family(std::span<const FamilyTest> tests, std::uint64_t seed, Tail tail) : tail_(tail), order_(tests.size()) {
    std::map<std::uint32_t, std::size_t> place_of_pool;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const auto& test = tests[i];
      const auto size = test.x.size() + test.y.size();
      const auto [place, is_new] = place_of_pool.try_emplace(test.pool, pools_.size());
      if (is_new) {
        pools_.push_back(
            {RandomSubsets(size, test.x.size(),
                           {.seed = seed, .purpose = base::Purpose::family_permutation, .test = test.pool}),
             size,
             test.x.size(),
             {}});
      }
      auto& pool = pools_[place->second];
      STEREOSWEEP_ASSERT(pool.size == size && pool.num_chosen == test.x.size(), "tests of one pool have its words");
      pool.tests.push_back(i);
      tests_.push_back(prepare(test, tail));
    }
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](auto left, auto right) { return tests_[left].observed > tests_[right].observed; });
  }

  const std::vector<std::size_t>& order() const { return order_; }

  /// [place in order]: draws in [first, last) whose maximum over this and all later places reaches the observed z.
  std::vector<std::uint64_t> count(std::uint64_t first, std::uint64_t last) const {
    std::vector<std::uint64_t> counts(tests_.size(), 0);
    std::vector<double> z(tests_.size());
    std::vector<std::uint32_t> scratch;
    for (auto draw = first; draw < last; ++draw) {
      for (const auto& pool : pools_) {
        scratch.resize(pool.size);
        pool.subsets.choose(static_cast<std::uint32_t>(draw), scratch);
        for (const auto index : pool.tests) {
          z[index] = toward(tail_, z_of(tests_[index], pool.subsets, scratch));
        }
      }
      double largest = -std::numeric_limits<double>::infinity();
      for (auto place = order_.size(); place-- > 0;) {
        largest = std::max(largest, z[order_[place]]);
        counts[place] += largest >= tests_[order_[place]].threshold ? 1 : 0;
      }
    }
    return counts;
  }

 private:
  struct Pool {
    RandomSubsets subsets;
    std::size_t size;
    std::size_t num_chosen;
    std::vector<std::size_t> tests;
  };

  static double z_of(const Prepared& test, const RandomSubsets& subsets, std::span<const std::uint32_t> positions) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < subsets.num_drawn(); ++i) {
      sum += test.scores.values[positions[i]];
    }
    sum = subsets.draws_complement() ? test.total - sum : sum;
    return (static_cast<double>(sum) - test.mean) * test.scale;
  }

  Tail tail_;
  std::vector<Prepared> tests_;
  std::vector<Pool> pools_;
  std::vector<std::size_t> order_;  ///< tests by falling z
};

}  // namespace

std::vector<double> max_t_p(std::span<const FamilyTest> tests, const FamilySettings& settings) {
  STEREOSWEEP_ASSERT(settings.draws < std::uint64_t{1} << 32U, "a draw's number has 32 bits");
  const Family family(tests, settings.seed, settings.tail);
  const auto num_threads = std::max(1U, settings.num_threads);
  std::vector<std::vector<std::uint64_t>> counts(num_threads);
  on_threads(num_threads, [&](unsigned thread) {
    counts[thread] = family.count(settings.draws * thread / num_threads, settings.draws * (thread + 1) / num_threads);
  });
  std::vector<double> adjusted(tests.size());
  double earlier = 0;
  for (std::size_t place = 0; place < tests.size(); ++place) {
    std::uint64_t count = 1;
    for (const auto& part : counts) {
      count += part[place];
    }
    earlier = std::max(earlier, static_cast<double>(count) / static_cast<double>(settings.draws + 1));
    adjusted[family.order()[place]] = earlier;
  }
  return adjusted;
}

}  // namespace stereosweep::stats
