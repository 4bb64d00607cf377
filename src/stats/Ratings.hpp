// Ratings out of the log-probabilities of a scale's options.
#pragma once

#include <span>
#include <vector>

#include "stats/Undefined.hpp"

namespace stereosweep::stats {

/// Probabilities of the options given that one of them is the answer: softmax of their log-probabilities (nat). Empty
/// where one is NaN or none is above -infinity.
std::vector<double> option_probabilities(std::span<const double> logprob);

/// The same question asked with the options as listed and reversed.
struct OrderedRating {
  Value rating;      ///< sum of value x probability, the probabilities averaged over both orders
  Value difference;  ///< rating as listed - rating reversed: 0 without position bias
};

/// Both lists run parallel to `values`. `no_values` where either order has no probabilities.
OrderedRating rate_options(std::span<const double> as_listed, std::span<const double> reversed,
                           std::span<const double> values);

}  // namespace stereosweep::stats
