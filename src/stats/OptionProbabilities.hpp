// Numbers of one prompt from the log-probabilities of its answers: options of a scale, two occupations.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "stats/Summary.hpp"

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

/// probability         exp of the sum of ln p over the referent's subwords: the paper's "next-word probability"
/// share               p_referent / (p_referent + p_other), of the same probabilities
/// share_per_subword   the same of exp(mean of ln p over the subwords): long occupations are not punished
/// accuracy            1 where the referent's sum is larger, 0 where it is smaller, a tie as `Ties` says
/// entropy             of the two shares, nat: the uncertainty between the two occupations, 0 .. ln 2
/// margin              sum of the referent minus sum of the other, nat
using CoreferenceMetrics = std::array<double, 6>;

/// What equal sums count as in the accuracy.
enum class Ties { half, loss };

/// All spans hold at least one finite value (nat).
CoreferenceMetrics coreference_metrics(std::span<const double> referent, std::span<const double> other, Ties ties);

/// 1 / (1 + exp(-log_odds)), without overflow.
double logistic(double log_odds);

}  // namespace stereosweep::stats
