#include "stats/OptionProbabilities.hpp"

#include <cmath>
#include <numeric>

#include "base/Error.hpp"
#include "base/Lists.hpp"

namespace stereosweep::stats {

std::vector<double> option_probabilities(std::span<const double> logprob) {
  const auto total = log_sum_exp(logprob);
  if (!total.defined() || !std::isfinite(total.value)) {
    return {};
  }
  return base::mapped(logprob, [&](double value) { return std::exp(value - total.value); });
}

OrderedRating rate_options(std::span<const double> as_listed, std::span<const double> reversed,
                           std::span<const double> values) {
  STEREOSWEEP_ASSERT(as_listed.size() == values.size() && reversed.size() == values.size(), "a value per option");
  const auto first = option_probabilities(as_listed);
  const auto second = option_probabilities(reversed);
  if (first.empty() || second.empty()) {
    return {};
  }
  double listed = 0;
  double turned = 0;
  for (std::size_t option = 0; option < values.size(); ++option) {
    listed += values[option] * first[option];
    turned += values[option] * second[option];
  }
  return {{(listed + turned) / 2, Reason::ok}, {listed - turned, Reason::ok}};
}

namespace {

double sum_of(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// -p ln p - q ln q of p = logistic(x): both logarithms from log1p, so that nothing cancels near 0 and 1.
double binary_entropy(double log_odds) {
  const double x = std::abs(log_odds);
  const double tail = std::exp(-x);  // q / p of the likelier side
  const double log_p = -std::log1p(tail);
  const double p = 1 / (1 + tail);
  return -p * log_p - tail * p * (log_p - x);
}

}  // namespace

double logistic(double log_odds) {
  return log_odds >= 0 ? 1 / (1 + std::exp(-log_odds)) : std::exp(log_odds) / (1 + std::exp(log_odds));
}

CoreferenceMetrics coreference_metrics(std::span<const double> referent, std::span<const double> other, Ties ties) {
  STEREOSWEEP_ASSERT(!referent.empty() && !other.empty(), "an occupation without subwords");
  const double sum_referent = sum_of(referent);
  const double sum_other = sum_of(other);
  const double margin = sum_referent - sum_other;
  const double margin_per_subword =
      sum_referent / static_cast<double>(referent.size()) - sum_other / static_cast<double>(other.size());
  const double tie = ties == Ties::half ? 0.5 : 0;
  return {std::exp(sum_referent),       logistic(margin),
          logistic(margin_per_subword), margin > 0 ? 1.0 : margin < 0 ? 0.0 : tie,
          binary_entropy(margin),       margin};
}

}  // namespace stereosweep::stats
