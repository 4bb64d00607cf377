#include "engine/SetDistance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/Check.hpp"
#include "engine/LargestLogits.hpp"
#include "engine/SoftmaxRow.hpp"

namespace stereosweep::engine {

SetRow::SetRow(std::span<const float> logits, double squared_norm, std::size_t kept)
    : logits_(logits), squared_norm_(squared_norm) {
  STEREOSWEEP_ASSERT(!logits.empty() && kept > 0, "a row needs logits and room to keep some");
  usable_ = all_finite(logits_) && std::isfinite(squared_norm_) && squared_norm_ >= 0;
  if (usable_) {
    keep(kept);
  }
}

void SetRow::keep(std::size_t wanted) {
  const auto found = find_largest(logits_, std::min(wanted, logits_.size()));
  entries_.clear();
  entries_.reserve(found.size());
  for (const auto index : found) {
    entries_.push_back({logits_[index], index});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& left, const Entry& right) {
    return left.logit != right.logit ? left.logit > right.logit : left.index < right.index;
  });
  top_ = entries_.front().logit;
  sums_.assign(1, 0);
  sums_.reserve(entries_.size() + 1);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    sums_.push_back(sums_.back() + logit(i));
  }
}

// Position of the target among the kept, or their number.
std::size_t SetRow::rank_of(std::size_t target) const {
  const Entry wanted{logits_[target], static_cast<std::uint32_t>(target)};
  const auto place =
      std::lower_bound(entries_.begin(), entries_.end(), wanted, [](const Entry& left, const Entry& right) {
        return left.logit != right.logit ? left.logit > right.logit : left.index < right.index;
      });
  return place != entries_.end() && place->index == target ? static_cast<std::size_t>(place - entries_.begin())
                                                           : entries_.size();
}

// Whether competitor k (from 1) stays above tau; the target at `rank` is no competitor and is skipped.
bool SetRow::is_active(std::size_t k, std::size_t rank, double b) const {
  const bool skips = rank < k;
  const double sum = skips ? sums_[k + 1] - logit(rank) : sums_[k];
  return static_cast<double>(k + 1) * logit(skips ? k : k - 1) > b + sum;
}

SetSolution SetRow::solve(std::size_t target, double margin) {
  STEREOSWEEP_ASSERT(target < logits_.size(), "target " + std::to_string(target) + " outside the row");
  SetSolution solution;
  if (!usable_) {
    return {std::numeric_limits<double>::quiet_NaN(), 0, std::numeric_limits<double>::quiet_NaN(),
            query::SetStatus::not_certified};
  }
  const double b = static_cast<double>(logits_[target]) - top_ - margin;
  std::size_t active = 0;
  std::size_t rank = 0;
  while (true) {
    rank = rank_of(target);
    const std::size_t competitors = entries_.size() - (rank < entries_.size() ? 1 : 0);
    std::size_t low = 0;  // active; 0 stands for none
    std::size_t high = competitors + 1;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (is_active(middle, rank, b) ? low : high) = middle;
    }
    active = low;
    if (active < competitors || entries_.size() == logits_.size()) {
      break;  // certified: the next one is kept and inactive, or there is no next one
    }
    ++widened_;
    keep(entries_.size() * 8);
  }
  if (active == 0) {
    solution.status = query::SetStatus::leads;
    solution.threshold = b + top_;
    return solution;
  }
  if (squared_norm_ == 0) {  // no change of the decoder reaches the logits
    return {std::numeric_limits<double>::quiet_NaN(), 0, std::numeric_limits<double>::quiet_NaN(),
            query::SetStatus::not_certified};
  }
  const double sum = rank < active ? sums_[active + 1] - logit(rank) : sums_[active];
  const double tau = (b + sum) / static_cast<double>(active + 1);
  double squares = (tau - b) * (tau - b);
  for (std::size_t i = 0; i < active + (rank < active ? 1 : 0); ++i) {
    if (i != rank) {
      squares += (logit(i) - tau) * (logit(i) - tau);
    }
  }
  solution.distance = std::sqrt(squares / squared_norm_);
  solution.active = static_cast<std::int32_t>(active);
  solution.threshold = tau + top_;
  return solution;
}

}  // namespace stereosweep::engine
