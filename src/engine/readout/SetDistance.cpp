#include "engine/readout/SetDistance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "base/VectorClones.hpp"

namespace stereosweep::engine {

namespace {

// Largest entry of each column of a matrix of `columns` columns, row by row in memory: lanes run along the columns.
STEREOSWEEP_VECTOR_CLONES
void column_maxima(const float* row, std::size_t rows, std::size_t columns, float* maxima) {
  for (std::size_t i = 0; i < rows; ++i) {
    const float* line = row + i * columns;
    for (std::size_t j = 0; j < columns; ++j) {
      maxima[j] = line[j] > maxima[j] ? line[j] : maxima[j];
    }
  }
}

// How many of 64 entries reach the threshold, without a branch.
STEREOSWEEP_VECTOR_CLONES
unsigned count_reaching(const float* entries, float threshold) {
  unsigned count = 0;
  for (std::size_t j = 0; j < 64; ++j) {
    count += entries[j] >= threshold ? 1U : 0U;
  }
  return count;
}

// Descending, ties by id. A lambda, so that a sort has it inline.
constexpr auto comes_before = [](const Logit& left, const Logit& right) {
  return left.value != right.value ? left.value > right.value : left.id < right.id;
};

}  // namespace

std::vector<Logit> find_largest(std::span<const float> row, std::size_t wanted) {
  wanted = std::min(wanted, row.size());
  std::vector<Logit> found;
  const auto add = [&](std::size_t place) { found.push_back({static_cast<query::TokenId>(place), row[place]}); };
  const std::size_t columns = (wanted + wanted / 2 + 15) / 16 * 16;  // more columns than wanted: few ties of place
  const std::size_t rows = columns == 0 ? 0 : row.size() / columns;
  if (rows < 4) {  // nothing to be gained
    for (std::size_t i = 0; i < row.size(); ++i) {
      add(i);
    }
    return found;
  }
  std::vector<float> maxima(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(columns));
  column_maxima(row.data(), rows, columns, maxima.data());
  // `wanted` columns hold an entry that reaches this threshold, so at least `wanted` entries do.
  const auto place = maxima.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(maxima.begin(), place, maxima.end(), std::greater<>());
  const float threshold = *place;
  std::size_t i = 0;
  for (; i + 64 <= row.size(); i += 64) {
    if (count_reaching(row.data() + i, threshold) == 0) {
      continue;
    }
    for (std::size_t j = i; j < i + 64; ++j) {
      if (row[j] >= threshold) {
        add(j);
      }
    }
  }
  for (; i < row.size(); ++i) {
    if (row[i] >= threshold) {
      add(i);
    }
  }
  return found;
}

SetRow::SetRow(std::vector<Logit> largest, std::size_t size, double squared_norm)
    : size_(size), squared_norm_(squared_norm) {
  STEREOSWEEP_ASSERT(!largest.empty() && largest.size() <= size, "entries of a row");
  keep(std::move(largest));
  usable_ = std::isfinite(top_) && std::isfinite(squared_norm_) && squared_norm_ >= 0;
}

void SetRow::keep(std::vector<Logit> largest) {
  entries_ = std::move(largest);
  std::sort(entries_.begin(), entries_.end(), comes_before);
  top_ = entries_.front().value;
  sums_.assign(1, 0);
  sums_.reserve(entries_.size() + 1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    sums_.push_back(sums_.back() + logit(i));
  }
}

// Position of the target among the kept, or their number.
std::size_t SetRow::rank_of(std::size_t target, float logit) const {
  const Logit wanted{static_cast<query::TokenId>(target), logit};
  const auto place = std::lower_bound(entries_.begin(), entries_.end(), wanted, comes_before);
  return place != entries_.end() && place->id == wanted.id ? static_cast<std::size_t>(place - entries_.begin())
                                                           : entries_.size();
}

// Whether competitor k (from 1) stays above tau; the target at `rank` is no competitor and is skipped.
bool SetRow::is_active(std::size_t k, std::size_t rank, double b) const {
  const bool skips = rank < k;
  const double sum = skips ? sums_[k + 1] - logit(rank) : sums_[k];
  return static_cast<double>(k + 1) * logit(skips ? k : k - 1) > b + sum;
}

std::optional<SetSolution> SetRow::solve(std::size_t target, float logit_of_target, double margin) const {
  STEREOSWEEP_ASSERT(target < size_, "target " + std::to_string(target) + " outside the row");
  constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
  const SetSolution not_certified{nan, 0, nan, query::SetStatus::not_certified};
  if (!usable_) {
    return not_certified;
  }
  const double b = static_cast<double>(logit_of_target) - top_ - margin;
  const std::size_t rank = rank_of(target, logit_of_target);
  const std::size_t competitors = entries_.size() - (rank < entries_.size() ? 1 : 0);
  std::size_t active = 0;  // 0 stands for none
  std::size_t high = competitors + 1;
  while (high - active > 1) {
    const std::size_t middle = (active + high) / 2;
    (is_active(middle, rank, b) ? active : high) = middle;
  }
  if (active == competitors && entries_.size() < size_) {
    return std::nullopt;  // certified is only: the next one is kept and inactive, or there is no next one
  }
  if (active == 0) {
    return SetSolution{0, 0, b + top_, query::SetStatus::leads};
  }
  if (squared_norm_ == 0) {  // no change of the decoder reaches the logits
    return not_certified;
  }
  const double sum = rank < active ? sums_[active + 1] - logit(rank) : sums_[active];
  const double tau = (b + sum) / static_cast<double>(active + 1);
  double squares = (tau - b) * (tau - b);
  for (std::size_t i = 0; i < active + (rank < active ? 1 : 0); ++i) {
    if (i != rank) {
      squares += (logit(i) - tau) * (logit(i) - tau);
    }
  }
  return SetSolution{std::sqrt(squares / squared_norm_), static_cast<std::int32_t>(active), tau + top_};
}

}  // namespace stereosweep::engine
