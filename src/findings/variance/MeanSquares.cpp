#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "base/Error.hpp"
#include "findings/variance/Variance.hpp"

namespace stereosweep::findings {
namespace {

constexpr std::size_t most_axes = 8;
constexpr double no_share = 1e-12;  // what rounding leaves of a share that is 0

/// Means over an axis of a table [outer, length, inner]: [outer, inner].
std::vector<double> means_over_axis(std::span<const double> values, std::size_t length, std::size_t inner) {
  std::vector<double> means(values.size() / length, 0);
  for (std::size_t place = 0; place < values.size(); ++place) {
    means[place / (length * inner) * inner + place % inner] += values[place];
  }
  std::ranges::for_each(means, [&](double& mean) { mean /= static_cast<double>(length); });
  return means;
}

double sum_of_squares(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

bool contains(AxisSet whole, AxisSet part) { return (whole & part) == part; }

/// +1, -1 by how many axes `larger` has beyond `smaller`.
double sign_between(AxisSet larger, AxisSet smaller) { return std::popcount(larger ^ smaller) % 2 == 0 ? 1 : -1; }

}  // namespace

MeanSquares::MeanSquares(std::vector<std::size_t> lengths, std::span<const double> values)
    : lengths_(std::move(lengths)), squares_(std::size_t{1} << lengths_.size(), 0) {
  STEREOSWEEP_ASSERT(lengths_.size() <= most_axes, "few axes");
  const auto all = squares_.size() - 1;
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
    present_ |= lengths_[axis] > 1 ? AxisSet{1} << axis : 0;
  }
  std::vector<double> uncorrected(squares_.size());  // of the means over all other axes, times how often each counts
  std::vector<std::vector<double>> means(squares_.size());
  const auto table_of = [&](AxisSet axes) { return axes == all ? values : std::span<const double>(means[axes]); };
  for (auto axes = squares_.size(); axes-- > 0;) {
    if (axes != all) {  // of the table with the first missing axis more, which came before
      const auto axis = static_cast<std::size_t>(std::countr_one(axes));
      std::size_t inner = 1;
      for (auto after = axis + 1; after < lengths_.size(); ++after) {
        inner *= contains(axes, AxisSet{1} << after) ? lengths_[after] : 1;
      }
      means[axes] = means_over_axis(table_of(axes | (AxisSet{1} << axis)), lengths_[axis], inner);
    }
    uncorrected[axes] = sum_of_squares(table_of(axes)) * length_of(all & ~axes);
  }
  total_ = uncorrected[all] - uncorrected[0];
  for (AxisSet effect = 1; effect <= all; ++effect) {
    for (AxisSet part = 0; part <= effect; ++part) {
      squares_[effect] += contains(effect, part) ? sign_between(effect, part) * uncorrected[part] : 0;
    }
    squares_[effect] = squares_[effect] < no_share * total_ ? 0 : squares_[effect];
  }
}

double MeanSquares::length_of(AxisSet axes) const {
  double length = 1;
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
    length *= contains(axes, AxisSet{1} << axis) ? static_cast<double>(lengths_[axis]) : 1;
  }
  return length;
}

double MeanSquares::degrees(AxisSet effect) const {
  double degrees = 1;
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis) {
    degrees *= contains(effect, AxisSet{1} << axis) ? static_cast<double>(lengths_[axis]) - 1 : 1;
  }
  return degrees;
}

stats::VarianceComponent MeanSquares::component(AxisSet effect, double confidence, AxisSet within) const {
  if (!contains(present_, effect)) {
    return {};
  }
  const auto crossed = present_ & ~within;
  const auto divisor = length_of(crossed & ~effect);
  std::vector<stats::CountedSquare> counted;
  for (AxisSet larger = effect; larger <= crossed; ++larger) {
    if (!contains(larger, effect) || !contains(crossed, larger)) {
      continue;
    }
    double all_degrees = 0;
    for (AxisSet inside = 0; inside <= within; ++inside) {
      all_degrees += contains(within, inside) ? degrees(larger | inside) : 0;
    }
    for (AxisSet inside = 0; inside <= within; ++inside) {  // each by itself: effects may be common to all labels
      const double own_degrees = contains(within, inside) ? degrees(larger | inside) : 0;
      if (own_degrees > 0) {
        counted.push_back({sign_between(larger, effect) / divisor * own_degrees / all_degrees,
                           squares_[larger | inside] / own_degrees, own_degrees});
      }
    }
  }
  return stats::variance_component(counted, confidence);
}

}  // namespace stereosweep::findings
