#include "stats/sequential/Boundary.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/Error.hpp"
#include "stats/PValues.hpp"

namespace stereosweep::stats {
namespace {

constexpr double farthest = 38;  // where the normal tail is below the smallest double

double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

/// z >= 0 with this upper tail.
double tail_quantile(double tail) {
  if (tail >= 0.5) {
    return 0;
  }
  return tail > 0 ? std::min(std::numbers::sqrt2 * boost::math::erfc_inv(2 * tail), farthest) : farthest;
}

/// P(|Z| > c, |Z_before| <= before).
double outside_now(double c, double before, double correlation) {
  const double left = std::sqrt(1 - correlation * correlation);
  const auto density = [&](double z) {
    return std::exp(-z * z / 2) *
           (normal_tail((c - correlation * z) / left) + normal_tail((c + correlation * z) / left));
  };
  // beyond 9 nothing is left; halves keep the nodes close where the tail is steep
  const double end = std::min(before, 9.0);
  using Rule = boost::math::quadrature::gauss<double, 30>;
  return (Rule::integrate(density, 0.0, end / 2) + Rule::integrate(density, end / 2, end)) * 2 /
         std::sqrt(2 * std::numbers::pi);
}

/// Of look k at the level, from that of the look before.
double boundary_at(std::span<const Look> looks, std::size_t k, double level, double before) {
  if (looks[k].mixture > 0) {
    return confidence_sequence(level, looks[k].mixture);
  }
  const double spend = level * (looks[k].spent - (k > 0 ? looks[k - 1].spent : 0));
  if (spend <= 0) {
    return farthest;
  }
  return k == 0 ? first_boundary(spend) : next_boundary(spend, before, looks[k].correlation);
}

}  // namespace

double spent_share(double information) { return 0.01 * information + 0.99 * std::pow(information, 9); }

double first_boundary(double spend) { return tail_quantile(spend / 2); }

double confidence_sequence(double level, double mixture) {
  return std::sqrt((1 + mixture) * (std::log1p(1 / mixture) - 2 * std::log(level)));
}

double next_boundary(double spend, double before, double correlation) {
  STEREOSWEEP_ASSERT(spend > 0 && before >= 0 && correlation >= 0 && correlation < 1, "a spending of a later look");
  // P(|Z| > c) lies between what is spent now and that with what was outside before
  double low = tail_quantile(std::min(0.5, spend / 2 + normal_tail(before)));
  double high = first_boundary(spend);
  double above = outside_now(low, before, correlation) - spend;
  if (above <= 0) {
    return low;
  }
  double below = outside_now(high, before, correlation) - spend;
  // the logarithm of a tail is nearly straight: the chord of it, kept away from the ends (Illinois)
  const auto bend = [&](double difference) { return std::log1p(difference / spend); };
  above = bend(above);
  below = bend(std::max(below, -spend * (1 - 1e-12)));
  for (int step = 0; step < 60 && high - low > 1e-10; ++step) {
    double middle = (low * below - high * above) / (below - above);
    middle = middle > low && middle < high ? middle : (low + high) / 2;
    const double value = bend(outside_now(middle, before, correlation) - spend);
    if (value > 0) {
      low = middle;
      above = value;
      below /= 2;
    } else {
      high = middle;
      below = value;
      above /= 2;
      if (value > -1e-12) {
        break;
      }
    }
  }
  return high;
}

double as_student(double normal, double degrees) {
  return normal <= 0 ? 0 : student_beyond(2 * normal_tail(normal), degrees);
}

double as_normal(double student, double degrees) {
  const double square = student * student;
  const double tail = square < 0.1 ? boost::math::ibetac(0.5, degrees / 2, square / (degrees + square))
                                   : boost::math::ibeta(degrees / 2, 0.5, degrees / (degrees + square));
  return tail_quantile(tail / 2);
}

std::vector<double> boundaries(std::span<const Look> looks, double level) {
  std::vector<double> found;
  for (std::size_t k = 0; k < looks.size(); ++k) {
    found.push_back(boundary_at(looks, k, level, k > 0 ? found.back() : 0));
  }
  return found;
}

std::optional<std::size_t> first_beyond(std::span<const Look> looks, double level) {
  double before = 0;
  std::size_t known = 0;  // boundaries below it are not computed yet
  for (std::size_t k = 0; k < looks.size(); ++k) {
    // the boundary lies between that of all that is spent until now and that of this look's own share
    const double least = first_boundary(std::min(1.0, level * looks[k].spent));
    if (looks[k].statistic <= least) {
      continue;
    }
    for (; known <= k; ++known) {
      before = boundary_at(looks, known, level, before);
    }
    if (looks[k].statistic > before) {
      return k;
    }
  }
  return std::nullopt;
}

double sequential_p(std::span<const Look> looks) {
  if (!looks.empty() && looks.front().mixture > 0) {
    double log_p = 0;
    for (const auto& look : looks) {
      const double square = look.statistic * look.statistic / (1 + look.mixture);
      log_p = std::min(log_p, (std::log1p(1 / look.mixture) - square) / 2);
    }
    return std::exp(log_p);
  }
  constexpr double precision = 0.002;
  constexpr double highest = 1 - 1e-6;
  // a boundary lies between that of all that is spent until a look and that of the look's own share
  double low = 1;
  double high = highest;
  double spent = 0;
  for (const auto& look : looks) {
    const double tail = std::erfc(look.statistic / std::numbers::sqrt2);
    low = look.spent > 0 ? std::min(low, tail / look.spent) : low;
    high = look.spent > spent ? std::min(high, tail / (look.spent - spent) * (1 + precision)) : high;
    spent = look.spent;
  }
  if (high == highest && !first_beyond(looks, high)) {
    return 1;
  }
  low = std::max(low * (1 - precision), 1e-300);
  while (high / low > 1 + precision) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    (first_beyond(looks, middle) ? high : low) = middle;
  }
  return high;
}

double flip_e_value(std::span<const double> differences, std::size_t num_first) {
  constexpr std::array bets = {0.25, 0.5, 1.0, 2.0};
  const auto first = differences.first(std::min(num_first, differences.size()));
  const double square = std::inner_product(first.begin(), first.end(), first.begin(), 0.0);
  if (!(square > 0)) {
    return 1;
  }
  const double scale = std::sqrt(square / static_cast<double>(first.size()));
  double sum = 0;
  for (const double bet : bets) {
    double log_up = 0;  // of exp(l x) / cosh(l x); that of -l has the other sign before the sum of l x
    double log_down = 0;
    for (const double difference : differences) {
      const double stake = bet * difference / scale;
      log_up += std::log(2) - std::log1p(std::exp(-2 * stake));
      log_down += std::log(2) - std::log1p(std::exp(2 * stake));
    }
    sum += std::exp(log_up) + std::exp(log_down);
  }
  return sum / (2 * bets.size());
}

}  // namespace stereosweep::stats
