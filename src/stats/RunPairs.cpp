#include "stats/RunPairs.hpp"

#include <algorithm>
#include <bit>

namespace stereosweep::stats {
namespace {

constexpr std::uint64_t few_elements = std::uint64_t{1} << 17;  ///< buffers then stay near the cache
constexpr std::uint64_t few_per_run = 64;                       ///< else the runs' ends cost more than their elements
constexpr std::uint32_t large_bucket = 8;

/// Elements below `value` and the others, run by run.
struct Parts {
  Runs below;
  Runs above;
};

Parts split(const Runs& runs, std::int64_t value) {
  Parts parts;
  parts.below.reserve(runs.size());
  parts.above.reserve(runs.size());
  for (const auto& run : runs) {
    const auto* border = std::lower_bound(run.begin, run.end, value - run.shift);
    if (border != run.begin) {
      parts.below.push_back({run.begin, border, run.shift});
    }
    if (border != run.end) {
      parts.above.push_back({border, run.end, run.shift});
    }
  }
  return parts;
}

}  // namespace

std::uint64_t size_of(const Runs& runs) {
  std::uint64_t size = 0;
  for (const auto& run : runs) {
    size += run.size();
  }
  return size;
}

PartitionCount RunPairs::count(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high) {
  const auto own = split(split(left, high).below, low).above;
  if (own.empty()) {
    return 0;
  }
  const auto reaching = split(right, threshold_ - low);  // above: with every a from `low` on
  const auto undecided = split(reaching.below, threshold_ - high + 1).above;
  return static_cast<PartitionCount>(size_of(own)) * size_of(reaching.above) + count_between(own, undecided, low, high);
}

/// All a in [low, high), and of all b the least a that reaches the threshold lies in (low, high).
PartitionCount RunPairs::count_between(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high) {
  if (left.empty() || right.empty()) {
    return 0;
  }
  if (size_of(left) + size_of(right) <= std::max(few_elements, few_per_run * (left.size() + right.size()))) {
    return count_few(left, right, low, high - low);
  }
  const auto middle = low + (high - low) / 2;
  const auto own = split(left, middle);
  const auto reaching = split(right, threshold_ - middle);  // above: with every a from `middle` on
  return static_cast<PartitionCount>(size_of(own.above)) * size_of(reaching.above) +
         count_between(own.below, split(reaching.above, threshold_ - middle + 1).above, low, middle) +
         count_between(own.above, reaching.below, middle, high);
}

/// Sorts what every b needs into buckets of 2^bits.
void RunPairs::sort_needs(const Runs& right, std::int64_t low, std::int64_t width, unsigned bits) {
  const auto num_buckets = static_cast<std::size_t>(width >> bits) + 1;
  starts_.assign(num_buckets + 2, 0);
  for (const auto& run : right) {
    const auto origin = threshold_ - run.shift - low;
    for (const auto* b = run.begin; b != run.end; ++b) {
      ++starts_[static_cast<std::size_t>((origin - *b) >> bits) + 2];
    }
  }
  for (std::size_t i = 2; i < starts_.size(); ++i) {
    starts_[i] += starts_[i - 1];
  }
  needs_.resize(starts_.back());
  for (const auto& run : right) {
    const auto origin = threshold_ - run.shift - low;
    for (const auto* b = run.begin; b != run.end; ++b) {
      const auto need = origin - *b;
      needs_[starts_[static_cast<std::size_t>(need >> bits) + 1]++] = need;
    }
  }
  for (std::size_t i = 0; i < num_buckets; ++i) {
    if (starts_[i + 1] - starts_[i] > large_bucket) {  // many ties
      std::sort(needs_.begin() + starts_[i], needs_.begin() + starts_[i + 1]);
    }
  }
}

std::uint64_t RunPairs::count_few(const Runs& left, const Runs& right, std::int64_t low, std::int64_t width) {
  const auto size = size_of(left) + size_of(right);
  const auto wanted = std::bit_width(size);  // about one element per bucket
  const auto whole = std::bit_width(static_cast<std::uint64_t>(width));
  const auto bits = static_cast<unsigned>(std::max(0, static_cast<int>(whole) - static_cast<int>(wanted)));
  sort_needs(right, low, width, bits);
  std::uint64_t count = 0;
  for (const auto& run : left) {
    const auto origin = run.shift - low;
    for (const auto* a = run.begin; a != run.end; ++a) {
      const auto have = *a + origin;
      const auto bucket = static_cast<std::size_t>(have >> bits);
      const auto begin = starts_[bucket];
      const auto end = starts_[bucket + 1];
      count += begin;
      if (end - begin > large_bucket) {
        count += static_cast<std::uint64_t>(std::upper_bound(needs_.begin() + begin, needs_.begin() + end, have) -
                                            (needs_.begin() + begin));
      } else {
        for (auto i = begin; i < end; ++i) {
          count += needs_[i] <= have ? 1 : 0;
        }
      }
    }
  }
  return count;
}

}  // namespace stereosweep::stats
