#include "stats/TauCounter.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/Error.hpp"
#include "base/VectorClones.hpp"

namespace stereosweep::stats {
namespace {

constexpr std::size_t most_moves = 8;         // of a number within its bin, on average; beyond, comparing is faster
constexpr std::size_t most_counted = 65'535;  // numbers whose places fit into 16 bits

/// Bins from 1; 0: no number.
STEREOSWEEP_VECTOR_CLONES void fill_bins(std::span<const double> values, double least, double scale,
                                         std::span<std::int32_t> bins) {
  for (std::size_t place = 0; place < values.size(); ++place) {
    const double value = values[place];
    bins[place] = static_cast<std::int32_t>(value >= least ? (value - least) * scale + 1 : 0.0);
  }
}

}  // namespace

std::vector<TiedPlaces> tied_places(std::span<const double> values) {
  SortedNumbers sorted;
  sorted.sort(values);
  const auto numbers = sorted.numbers();
  std::vector<TiedPlaces> places(values.size());
  for (std::size_t first = 0; first < numbers.size();) {
    auto last = first + 1;
    while (last < numbers.size() && numbers[last] == numbers[first]) {
      ++last;
    }
    for (auto place = first; place < last; ++place) {
      places[sorted.cells()[place]] = {place, first, last};
    }
    first = last;
  }
  return places;
}

/// A counting sort whose bins are too coarse by little; false where many numbers share a bin or the range has no width.
bool SortedNumbers::sort_into_bins(std::span<const double> values) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double value : values) {  // NaN is neither
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  const auto num_bins = std::bit_ceil(2 * values.size() + 1);
  const double scale = static_cast<double>(num_bins - 1) / (most - least);
  if (!std::isfinite(scale) || !std::isfinite(most - least) || values.size() > most_counted) {
    return false;
  }
  bins_.resize(values.size());
  fill_bins(values, least, scale, bins_);
  starts_.assign(num_bins + 1, 0);
  for (const auto bin : bins_) {
    ++starts_[static_cast<std::size_t>(bin)];
  }
  const auto num_numbers = values.size() - starts_[0];
  starts_[0] = 0;
  std::exclusive_scan(starts_.begin(), starts_.end(), starts_.begin(), std::uint16_t{0});
  keys_.resize(num_numbers);
  cells_.resize(num_numbers);
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    if (bins_[cell] > 0) {
      const auto place = starts_[static_cast<std::size_t>(bins_[cell])]++;
      keys_[place] = values[cell];
      cells_[place] = static_cast<std::uint32_t>(cell);
    }
  }
  std::size_t moves = 0;
  for (std::size_t place = 1; place < keys_.size(); ++place) {
    const double key = keys_[place];
    const auto cell = cells_[place];
    auto target = place;
    for (; target > 0 && keys_[target - 1] > key; --target) {
      keys_[target] = keys_[target - 1];
      cells_[target] = cells_[target - 1];
    }
    keys_[target] = key;
    cells_[target] = cell;
    moves += place - target;
    if (moves > most_moves * num_numbers) {
      return false;
    }
  }
  return true;
}

void SortedNumbers::sort(std::span<const double> values) {
  if (sort_into_bins(values)) {
    return;
  }
  cells_.clear();
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    if (!std::isnan(values[cell])) {
      cells_.push_back(static_cast<std::uint32_t>(cell));
    }
  }
  std::ranges::stable_sort(cells_, {}, [&](std::uint32_t cell) { return values[cell]; });
  keys_.resize(cells_.size());
  std::ranges::transform(cells_, keys_.begin(), [&](std::uint32_t cell) { return values[cell]; });
}

void TauCounter::set_left(std::span<const double> values) {
  STEREOSWEEP_ASSERT(values.size() == num_cells_, "a value per cell");
  left_.sort(values);
  const auto numbers = left_.numbers();
  ends_.resize(numbers.size());
  left_ties_.clear();
  for (std::size_t first = 0; first < numbers.size();) {
    auto last = first + 1;
    while (last < numbers.size() && numbers[last] == numbers[first]) {
      ++last;
    }
    const Ties ties{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
    std::fill(ends_.begin() + ties.first, ends_.begin() + ties.last, ties.last);
    if (last - first > 1) {
      left_ties_.push_back(ties);
    }
    first = last;
  }
}

/// Numbers are met in the order of the right list, of equal ones in that of the left list: so a pair is discordant
/// where a number with a larger left place, not equal on the left, was met before.
STEREOSWEEP_VECTOR_CLONES PairCounts TauCounter::count(std::span<const double> values) {
  STEREOSWEEP_ASSERT(values.size() == num_cells_, "a value per cell");
  const auto left_cells = left_.cells();
  values_.resize(left_cells.size());
  for (std::size_t place = 0; place < left_cells.size(); ++place) {
    values_[place] = values[left_cells[place]];
  }
  right_.sort(values_);
  const auto order = right_.cells();
  const auto keys = right_.numbers();
  taken_.clear();
  std::int64_t discordant = 0;
  std::int64_t right_ties = 0;
  std::int64_t joint_ties = 0;
  std::int64_t equal = 0;  // numbers before this one that equal it
  std::int64_t jointly_equal = 0;
  double last_key = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t last_end = 0;
  for (std::size_t met = 0; met < order.size(); ++met) {
    const auto end = ends_[order[met]];
    discordant += static_cast<std::int64_t>(met) - taken_.below(end);
    taken_.take(order[met]);
    const std::int64_t is_equal = keys[met] == last_key ? 1 : 0;  // no branch to guess
    equal = is_equal * (equal + 1);
    jointly_equal = (end == last_end ? is_equal : 0) * (jointly_equal + 1);
    right_ties += equal;
    joint_ties += jointly_equal;
    last_key = keys[met];
    last_end = end;
  }
  const auto pairs_of = [](std::int64_t count) { return count * (count - 1) / 2; };
  std::int64_t left_ties = 0;
  for (const auto& ties : left_ties_) {
    left_ties += pairs_of(taken_.below(ties.last) - taken_.below(ties.first));
  }
  return {pairs_of(static_cast<std::int64_t>(order.size())), discordant, left_ties, right_ties, joint_ties};
}

double TauCounter::tau_b(std::span<const double> values) {
  const auto counts = count(values);
  return static_cast<double>(counts.difference()) / std::sqrt(static_cast<double>(counts.all - counts.left_ties) *
                                                              static_cast<double>(counts.all - counts.right_ties));
}

}  // namespace stereosweep::stats
