#include "stats/Ratings.hpp"

#include <cmath>

#include "base/Check.hpp"
#include "stats/Aggregate.hpp"

namespace stereosweep::stats {

std::vector<double> option_probabilities(std::span<const double> logprob) {
  const auto total = log_sum_exp(logprob);
  if (!total.defined() || !std::isfinite(total.value)) {
    return {};
  }
  std::vector<double> probabilities;
  for (const double value : logprob) {
    probabilities.push_back(std::exp(value - total.value));
  }
  return probabilities;
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

}  // namespace stereosweep::stats
