#include "stats/Correlation.hpp"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "stats/TauCounter.hpp"

namespace stereosweep::stats {

namespace {

/// Sums over the runs of equal values of a list, t being a run's length.
struct TieSums {
  explicit TieSums(std::span<const double> values) {
    for (const auto& places : tied_places(values)) {  // each value its share of its run
      const auto t = static_cast<double>(places.last - places.first);
      pairs += (t - 1) / 2;
      triples += (t - 1) * (t - 2);
      weights += (t - 1) * (2 * t + 5);
    }
  }
  double pairs = 0;    ///< t(t-1)/2
  double triples = 0;  ///< t(t-1)(t-2)
  double weights = 0;  ///< t(t-1)(2t+5)
};

double normal_two_sided(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

double kendall_p(std::size_t count, const PairCounts& counts, const TieSums& left, const TieSums& right) {
  const auto n = static_cast<double>(count);
  const auto fewest = static_cast<std::uint64_t>(std::min(counts.discordant, counts.all - counts.discordant));
  if (left.pairs == 0 && right.pairs == 0 && (count <= 33 || fewest <= 1)) {
    return std::min(1.0, 2 * inversion_probability(count, fewest));
  }
  const auto m = n * (n - 1);
  const auto variance = (m * (2 * n + 5) - left.weights - right.weights) / 18 + 2 * left.pairs * right.pairs / m +
                        left.triples * right.triples / (9 * m * (n - 2));
  return normal_two_sided(static_cast<double>(counts.difference()) / std::sqrt(variance));
}

/// What every correlation refuses; `ok` otherwise.
Reason fault(std::span<const double> left, std::span<const double> right) {
  STEREOSWEEP_ASSERT(left.size() == right.size(), "the two sides of a correlation differ in length");
  if (left.size() < 2) {
    return left.empty() ? Reason::no_values : Reason::too_few;
  }
  if (!all_finite(left) || !all_finite(right)) {
    return Reason::not_finite;
  }
  const auto constant = [](std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
  };
  return constant(left) || constant(right) ? Reason::constant : Reason::ok;
}

}  // namespace

void CommonValues::add(double on_left, double on_right) {
  if (std::isfinite(on_left) && std::isfinite(on_right)) {
    left.push_back(on_left);
    right.push_back(on_right);
  }
}

double inversion_probability(std::size_t n, std::uint64_t inversions) {
  // probabilities of 0 .. inversions, for permutations of 1, 2, ..., n: each step averages j neighbours
  const auto most = static_cast<std::size_t>(inversions);
  std::vector<double> probability(most + 1, 0.0);
  probability[0] = 1;
  for (std::size_t j = 2; j <= n; ++j) {
    std::vector<double> next(most + 1);
    for (std::size_t k = 0; k <= most; ++k) {
      double sum = 0;
      for (std::size_t i = 0; i < j && i <= k; ++i) {
        sum += probability[k - i];
      }
      next[k] = sum / static_cast<double>(j);
    }
    probability = std::move(next);
  }
  return std::min(1.0, std::accumulate(probability.begin(), probability.end(), 0.0));
}

Correlation kendall_tau_b(std::span<const double> left, std::span<const double> right) {
  Correlation result{.n = left.size(), .reason = fault(left, right)};
  if (!result.defined()) {
    return result;
  }
  const TieSums left_ties(left);
  const TieSums right_ties(right);
  TauCounter counter(left.size());
  counter.set_left(left);
  const auto counts = counter.count(right);
  const auto pairs = static_cast<double>(counts.all);
  const auto difference = static_cast<double>(counts.difference());
  const auto tau = difference / std::sqrt(pairs - left_ties.pairs) / std::sqrt(pairs - right_ties.pairs);
  result.value = std::clamp(tau, -1.0, 1.0);
  result.p = kendall_p(result.n, counts, left_ties, right_ties);
  return result;
}

Correlation pearson(std::span<const double> left, std::span<const double> right) {
  Correlation result{.n = left.size(), .reason = fault(left, right)};
  if (!result.defined()) {
    return result;
  }
  const auto left_mean = mean(left).value;
  const auto right_mean = mean(right).value;
  long double both = 0;  // so that a perfect correlation is 1: its p is not small but 0
  long double left_squares = 0;
  long double right_squares = 0;
  for (std::size_t index = 0; index < left.size(); ++index) {
    const long double x = left[index] - left_mean;
    const long double y = right[index] - right_mean;
    both += x * y;
    left_squares += x * x;
    right_squares += y * y;
  }
  if (left_squares == 0 || right_squares == 0) {  // differences that the mean's rounding swallows
    result.reason = Reason::constant;
    return result;
  }
  result.value = std::clamp(static_cast<double>(both / std::sqrt(left_squares * right_squares)), -1.0, 1.0);
  const auto degrees = static_cast<double>(left.size()) - 2;
  const auto square = result.value * result.value;
  const auto rest = (1 - result.value) * (1 + result.value);  // has lost what matters where the correlation is near 0
  result.p = degrees == 0             ? 1.0
             : square * degrees < 0.1 ? 1 - boost::math::ibeta(0.5, degrees / 2, square)
                                      : boost::math::ibeta(degrees / 2, 0.5, rest);
  return result;
}

Correlation spearman(std::span<const double> left, std::span<const double> right) {
  if (const auto reason = fault(left, right); reason != Reason::ok) {
    return {.n = left.size(), .reason = reason};
  }
  return pearson(average_ranks(left), average_ranks(right));
}

namespace {

/// Share of the first k of a ranking for which `right` holds.
template <class Before, class Right>
Value share(std::size_t k, std::size_t n, Before before, Right right) {
  auto order = base::places_below(n);
  std::stable_sort(order.begin(), order.end(), before);
  const auto hits = std::count_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k), right);
  return {static_cast<double>(hits) / static_cast<double>(k), Reason::ok};
}

}  // namespace

Precision precision_at(std::size_t k, std::span<const double> scores, std::span<const double> human_means) {
  STEREOSWEEP_ASSERT(k > 0 && scores.size() == human_means.size(), "scores and ratings differ in length");
  const auto n = scores.size();
  if (n < k || !all_finite(scores) || !all_finite(human_means)) {
    const Value undefined{.reason = n == 0 ? Reason::no_values : n < k ? Reason::too_few : Reason::not_finite};
    return {undefined, undefined, undefined, undefined};
  }
  Precision result;
  result.top = share(
      k, n, [&](auto a, auto b) { return scores[a] > scores[b]; },
      [&](auto index) { return human_means[index] > middle_rating; });
  result.bottom = share(
      k, n, [&](auto a, auto b) { return scores[a] < scores[b]; },
      [&](auto index) { return human_means[index] < middle_rating; });
  result.mean = {(result.top.value + result.bottom.value) / 2, Reason::ok};
  const auto decided =
      std::count_if(human_means.begin(), human_means.end(), [](double mean) { return mean != middle_rating; });
  result.chance = {static_cast<double>(decided) / (2 * static_cast<double>(n)), Reason::ok};
  return result;
}

}  // namespace stereosweep::stats
