#include "stats/Proportion.hpp"

#include <boost/math/special_functions/beta.hpp>

#include "base/Check.hpp"

namespace stereosweep::stats {
namespace {

/// Quantile of the beta distribution.
double beta_quantile(double probability, std::uint64_t a, std::uint64_t b) {
  return boost::math::ibeta_inv(static_cast<double>(a), static_cast<double>(b), probability);
}

}  // namespace

ProbabilityInterval fixed_draws_interval(std::uint64_t successes, std::uint64_t draws, double confidence) {
  STEREOSWEEP_ASSERT(successes <= draws, "more successes than draws");
  const double outside = (1 - confidence) / 2;
  ProbabilityInterval interval;
  if (successes > 0) {
    interval.low = beta_quantile(outside, successes, draws - successes + 1);
  }
  if (successes < draws) {
    interval.high = beta_quantile(1 - outside, successes + 1, draws - successes);
  }
  return interval;
}

ProbabilityInterval fixed_successes_interval(std::uint64_t successes, std::uint64_t draws, double confidence) {
  STEREOSWEEP_ASSERT(successes >= 1 && successes <= draws, "the last draw is a success");
  const double outside = (1 - confidence) / 2;
  ProbabilityInterval interval;
  interval.low = beta_quantile(outside, successes, draws - successes + 1);  // P(this many draws or fewer) = outside
  if (successes < draws) {
    interval.high = beta_quantile(1 - outside, successes, draws - successes);  // P(this many or more) = outside
  }
  return interval;
}

}  // namespace stereosweep::stats
