#include "model/causal/attention/RegionAllocator.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::model {

void RegionAllocator::grow(const TokenTree& tree) {
  if (slots_.empty() && placement_ == Placement::dense) {
    place(-1, static_cast<std::int32_t>(tree.ids.size()), 0);
    return;
  }
  for (const auto& branch : tree.branches) {
    if (branch.first < std::ssize(slots_)) {
      STEREOSWEEP_ASSERT(branch.first + branch.length <= std::ssize(slots_), "new tokens form new branches");
      continue;
    }
    std::int32_t previous = -1;
    if (branch.parent >= 0) {
      const auto& parent = tree.branches[static_cast<std::size_t>(branch.parent)];
      previous = slots_[static_cast<std::size_t>(parent.first + parent.length - 1)];
    }
    place(previous, branch.length, unit_ > 1 ? 0 : branch.room);
  }
}

void RegionAllocator::place(std::int32_t previous, std::int32_t length, std::int32_t room) {
  while (length > 0) {
    auto* known = goes_on(previous);
    auto& region = known != nullptr ? *known : open(length, room);
    for (; length > 0 && region.taken < region.end; --length) {
      previous = region.taken++;
      slots_.push_back(previous);
    }
  }
}

// The region whose last row is `previous`, where there is room behind it.
RegionAllocator::Region* RegionAllocator::goes_on(std::int32_t previous) {
  const auto after = regions_.upper_bound(previous);
  if (previous < 0 || after == regions_.begin()) {
    return nullptr;
  }
  auto& region = std::prev(after)->second;
  return region.taken == previous + 1 && region.taken < region.end ? &region : nullptr;
}

// The first gap that takes all; else the largest one; else behind everything.
RegionAllocator::Region& RegionAllocator::open(std::int32_t length, std::int32_t room) {
  const auto wanted = whole_units(length + room);
  const auto last = end();
  std::pair<std::int32_t, std::int32_t> best{last, 0};  // begin and length
  std::int32_t begin = 0;
  const auto consider = [&](std::int32_t gap_end) {
    if (best.second < wanted && gap_end - begin > best.second) {
      best = {begin, gap_end - begin};
    }
  };
  for (const auto& [first, region] : regions_) {
    consider(first);
    if (best.second >= wanted) {
      break;
    }
    begin = region.end;
  }
  consider(static_cast<std::int32_t>(most_rows_ > 0 ? std::max<std::int64_t>(most_rows_, last)
                                                    : std::numeric_limits<std::int32_t>::max()));
  const auto taken = best.second > 0 ? std::min(best.second, wanted) : whole_units(length);
  return regions_.insert({best.first, {best.first, best.first + taken}}).first->second;
}

void RegionAllocator::keep_only(std::span<const std::int32_t> rows) {
  std::vector<std::int32_t> kept;
  kept.reserve(rows.size());
  for (const auto row : rows) {
    kept.push_back(slots_[static_cast<std::size_t>(row)]);
  }
  slots_ = kept;
  std::ranges::sort(kept);
  auto next = kept.begin();
  for (auto it = regions_.begin(); it != regions_.end();) {
    const auto first = next;
    next = std::lower_bound(next, kept.end(), it->second.end);
    if (next == first) {
      it = regions_.erase(it);
      continue;
    }
    auto& region = it->second;
    const auto taken = *std::prev(next) + 1;
    if (taken < region.taken) {  // whose room it was has ended
      region.taken = region.end = whole_units(taken);
    }
    ++it;
  }
}

std::int64_t RegionAllocator::slots_in_use() const {
  std::int64_t slots = 0;
  for (const auto& [first, region] : regions_) {
    slots += whole_units(region.taken - first);
  }
  return slots;
}

std::int32_t RegionAllocator::end() const { return regions_.empty() ? 0 : std::prev(regions_.end())->second.end; }

}  // namespace stereosweep::model
