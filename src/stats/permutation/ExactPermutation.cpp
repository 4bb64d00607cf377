#include "stats/permutation/ExactPermutation.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>

#include "base/Error.hpp"
#include "base/Random.hpp"

namespace stereosweep::stats {

/// Its parts. (Not without a name: the class has members of these types.)
namespace exact_permutation {

/// result[k]: sums of all subsets of k of the `items`. Built item by item, new[k] = merge(old[k], old[k - 1] + item),
/// so that nothing is ever sorted; 8 bytes times 2^items at the end, less than that again while the last item is added.
std::vector<SortedSums> subset_sums(std::span<const std::int64_t> items) {
  std::vector<SortedSums> sums;
  sums.emplace_back(1);
  *sums.front().begin() = 0;
  for (const auto item : items) {
    const auto largest = sums.size();
    sums.push_back(merge_shifted(SortedSums(0), sums[largest - 1], item));
    for (auto size = largest - 1; size >= 1; --size) {
      sums[size] = merge_shifted(sums[size], sums[size - 1], item);
    }
  }
  return sums;
}

constexpr std::uint64_t few_elements = std::uint64_t{1} << 17;  ///< buffers then stay near the cache
constexpr std::uint64_t few_per_run = 64;                       ///< else the runs' ends cost more than their elements
constexpr std::uint32_t large_bucket = 8;

/// Beyond what a list in memory has, sums are pairs from two families of sorted lists that are never written down: the
/// elements [begin, end) of an ascending list, each plus `shift`.
struct ShiftedRun {
  const std::int64_t* begin = nullptr;
  const std::int64_t* end = nullptr;
  std::int64_t shift = 0;
  std::uint64_t size() const { return static_cast<std::uint64_t>(end - begin); }
};
using Runs = std::vector<ShiftedRun>;

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

std::uint64_t size_of(const Runs& runs) {
  std::uint64_t size = 0;
  for (const auto& run : runs) {
    size += run.size();
  }
  return size;
}

/// Elements and threshold lie within +-2^61. Keeps its buffers (about 2 MB) from one call to the next.
class RunPairs {
 public:
  explicit RunPairs(std::int64_t threshold) : threshold_(threshold) {}

  /// Pairs (a, b), a of `left` with low <= a < high, b of `right`, with a + b >= threshold. Work is about linear in the
  /// elements of `left` and of `right` that lie where both outcomes occur.
  PartitionCount count(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high) {
    const auto own = split(split(left, high).below, low).above;
    if (own.empty()) {
      return 0;
    }
    const auto reaching = split(right, threshold_ - low);  // above: with every a from `low` on
    const auto undecided = split(reaching.below, threshold_ - high + 1).above;
    return static_cast<PartitionCount>(size_of(own)) * size_of(reaching.above) +
           count_between(own, undecided, low, high);
  }

 private:
  /// All a in [low, high), and of all b the least a that reaches the threshold lies in (low, high).
  PartitionCount count_between(const Runs& left, const Runs& right, std::int64_t low, std::int64_t high) {
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
  void sort_needs(const Runs& right, std::int64_t low, std::int64_t width, unsigned bits) {
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

  std::uint64_t count_few(const Runs& left, const Runs& right, std::int64_t low, std::int64_t width) {
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

  std::int64_t threshold_;
  std::vector<std::int64_t> needs_;    ///< least a that reaches the threshold with each b, minus `low`, by bucket
  std::vector<std::uint32_t> starts_;  ///< of the buckets
};

/// Runs are merged where walking along every pair of them would take longer.
constexpr std::size_t most_walks = 16;
/// Small enough that every rank gets many of every size.
constexpr std::uint64_t slices_of_runs = 64;

}  // namespace exact_permutation

using namespace exact_permutation;

std::string to_text(PartitionCount count) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(count % 10)));
    count /= 10;
  } while (count > 0);
  return text;
}

std::uint64_t most_sums(std::size_t pool) {
  return (std::uint64_t{1} << pool / 2) + (std::uint64_t{1} << (pool - pool / 2));
}

PartitionCount num_subsets(std::size_t n, std::size_t k) {
  std::vector<PartitionCount> row = {1};
  for (std::size_t i = 1; i <= n; ++i) {
    row.push_back(1);
    for (std::size_t j = i - 1; j >= 1; --j) {
      row[j] += row[j - 1];
    }
  }
  return k > n ? 0 : row[k];
}

struct ExactPermutation::Half {
  /// One choice of the scores that are in no list.
  struct Choice {
    std::int64_t sum = 0;
    std::size_t size = 0;
  };
  std::size_t size = 0;  ///< scores
  std::vector<SortedSums> lists;
  std::vector<Choice> choices;

  Half(std::span<const std::int64_t> items, std::size_t max_list_items) : size(items.size()) {
    const auto rest = size - std::min(size, max_list_items);
    lists = subset_sums(items.subspan(rest));
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << rest; ++chosen) {
      Choice choice{0, static_cast<std::size_t>(std::popcount(chosen))};
      for (std::size_t i = 0; i < rest; ++i) {
        choice.sum += (chosen >> i & 1U) != 0 ? items[i] : 0;
      }
      choices.push_back(choice);
    }
  }

  /// What `choice` leaves of `chosen` scores, from the lists; null where they have no such number.
  const SortedSums* list(std::size_t chosen, const Choice& choice) const {
    return choice.size <= chosen && chosen - choice.size < lists.size() ? &lists[chosen - choice.size] : nullptr;
  }

  /// Sums of all its subsets of `chosen` scores.
  Runs runs(std::size_t chosen) const {
    Runs runs;
    for (const auto& choice : choices) {
      if (const auto* sums = list(chosen, choice)) {
        runs.push_back({sums->begin(), sums->end(), choice.sum});
      }
    }
    return runs;
  }
};

ExactPermutation::ExactPermutation(std::span<const double> x, std::span<const double> y, unsigned num_threads,
                                   std::size_t max_list_items)
    : scores_(fix_scores(x, y)), num_partitions_(num_subsets(x.size() + y.size(), x.size())) {
  auto items = scores_.values;
  base::refuse_if(items.size() > max_exact_pool, "no exact test of " + std::to_string(items.size()) + " words",
                  "at most " + std::to_string(max_exact_pool) + " of both sets together",
                  "use statistics.permutation: monte_carlo");
  // the largest scores move the lists
  std::stable_sort(items.begin(), items.end(),
                   [](std::int64_t left, std::int64_t right) { return std::abs(left) > std::abs(right); });
  std::vector<std::int64_t> of_first;
  std::vector<std::int64_t> of_second;
  for (std::size_t i = 0; i < items.size(); ++i) {
    (i % 2 == 0 ? of_first : of_second).push_back(items[i]);
  }
  const auto threads = std::clamp(num_threads, 1U, 2U);
  on_threads(threads, [&](unsigned thread) {
    if (thread == 0) {
      first_ = std::make_shared<const Half>(of_first, max_list_items);
    }
    if (thread == threads - 1) {
      second_ = std::make_shared<const Half>(of_second, max_list_items);
    }
  });
  num_slices_ = first_->choices.size() * second_->choices.size() > most_walks ? slices_of_runs : 1;
}

std::uint64_t ExactPermutation::num_pieces() const { return (first_->size + 1) * num_slices_; }

/// Counts pieces, one after another.
struct ExactPermutation::Counter {
  const ExactPermutation& test;
  std::int64_t threshold;
  RunPairs pairs{threshold};

  PartitionCount count(std::uint64_t piece) {
    const auto& first = *test.first_;
    const auto& second = *test.second_;
    const auto chosen = piece / test.num_slices_;
    if (chosen > test.scores_.num_chosen || test.scores_.num_chosen - chosen > second.size) {
      return 0;  // no partition has this many from the first half
    }
    const auto others = test.scores_.num_chosen - chosen;
    if (test.num_slices_ == 1) {
      PartitionCount count = 0;
      for (const auto& one : first.choices) {
        for (const auto& other : second.choices) {
          const auto* own = first.list(chosen, one);
          const auto* met = second.list(others, other);
          count += own != nullptr && met != nullptr ? count_pairs(*own, *met, threshold - one.sum - other.sum) : 0;
        }
      }
      return count;
    }
    const auto left = first.runs(chosen);
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    for (const auto& run : left) {
      least = std::min(least, *run.begin + run.shift);
      most = std::max(most, *(run.end - 1) + run.shift);
    }
    const auto width = (most - least) / static_cast<std::int64_t>(test.num_slices_) + 1;
    const auto low = least + static_cast<std::int64_t>(piece % test.num_slices_) * width;
    return pairs.count(left, second.runs(others), low, low + width);
  }
};

PartitionCount ExactPermutation::count_share(std::int64_t threshold, unsigned rank, unsigned num_ranks,
                                             unsigned num_threads) const {
  std::vector<PartitionCount> counts(num_threads, 0);
  std::atomic<std::uint64_t> next = 0;
  on_threads(num_threads, [&](unsigned thread) {
    Counter counter{*this, threshold};
    PartitionCount sum = 0;
    for (auto piece = next++; piece < num_pieces(); piece = next++) {
      // mixed, since costs repeat with the number of scores from the first half
      if (base::mix_bits(piece) % num_ranks == rank) {
        sum += counter.count(piece);
      }
    }
    counts[thread] = sum;
  });
  PartitionCount sum = 0;
  for (const auto part : counts) {
    sum += part;
  }
  return sum;
}

std::uint64_t ExactPermutation::num_sums() const {
  std::uint64_t sums = 0;
  for (std::size_t chosen = 0; chosen <= std::min(first_->size, scores_.num_chosen); ++chosen) {
    if (scores_.num_chosen - chosen <= second_->size) {
      sums += size_of(first_->runs(chosen)) + size_of(second_->runs(scores_.num_chosen - chosen));
    }
  }
  return sums;
}

ReachingPartitions count_reaching(const ExactPermutation& exact,
                                  const std::function<PartitionCount(std::int64_t threshold)>& count) {
  const auto& scores = exact.scores();
  const auto all = exact.num_partitions();
  ReachingPartitions reaching;
  reaching.one_sided = count(scores.threshold);
  if (scores.far <= 0) {  // no effect at all: everything is as large
    reaching.two_sided = all;
    return reaching;
  }
  const auto above = scores.far == scores.threshold ? reaching.one_sided : count(scores.far);
  // with sets of one size, partitions that change places are each other's mirror
  const bool is_symmetric = 2 * scores.num_chosen == scores.values.size();
  const auto below = is_symmetric ? above : all - count(1 - scores.far);
  reaching.two_sided = std::min(all, above + below);
  return reaching;
}

double exact_p(PartitionCount count, PartitionCount num_partitions) {
  return static_cast<double>(count) / static_cast<double>(num_partitions);
}

}  // namespace stereosweep::stats
