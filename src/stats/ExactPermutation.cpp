#include "stats/ExactPermutation.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <limits>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "stats/Threads.hpp"

namespace stereosweep::stats {
namespace {

/// Runs are merged where walking along every pair of them would take longer.
constexpr std::size_t most_walks = 16;
/// Small enough that every rank gets many of every size.
constexpr std::uint64_t slices_of_runs = 64;
/// An element of a run takes a few steps of a walk along a list.
constexpr double steps_per_element = 8;

}  // namespace

std::string to_text(PartitionCount count) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(count % 10)));
    count /= 10;
  } while (count > 0);
  return text;
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

const SortedSums* ExactPermutation::Half::list(std::size_t chosen, const Choice& choice) const {
  return choice.size <= chosen && chosen - choice.size < lists.size() ? &lists[chosen - choice.size] : nullptr;
}

Runs ExactPermutation::Half::runs(std::size_t chosen) const {
  Runs runs;
  for (const auto& choice : choices) {
    if (const auto* sums = list(chosen, choice)) {
      runs.push_back({sums->begin(), sums->end(), choice.sum});
    }
  }
  return runs;
}

std::uint64_t ExactPermutation::Half::num_sums() const {
  std::uint64_t sums = 0;
  for (const auto& list : lists) {
    sums += list.size();
  }
  return sums * choices.size();
}

ExactPermutation::Half ExactPermutation::make_half(std::span<const std::int64_t> items, std::size_t max_list_items) {
  Half half;
  half.size = items.size();
  const auto rest = items.size() - std::min(items.size(), max_list_items);
  half.lists = subset_sums(items.subspan(rest));
  for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << rest; ++chosen) {
    Choice choice{0, static_cast<std::size_t>(std::popcount(chosen))};
    for (std::size_t i = 0; i < rest; ++i) {
      choice.sum += (chosen >> i & 1U) != 0 ? items[i] : 0;
    }
    half.choices.push_back(choice);
  }
  return half;
}

ExactPermutation::ExactPermutation(std::span<const double> x, std::span<const double> y, unsigned num_threads,
                                   std::size_t max_list_items)
    : scores_(fix_scores(x, y)), num_partitions_(num_subsets(x.size() + y.size(), x.size())) {
  auto items = scores_.values;
  if (items.size() > max_exact_pool) {
    throw base::InputError(base::describe("no exact test of " + std::to_string(items.size()) + " words",
                                          "at most " + std::to_string(max_exact_pool) + " of both sets together",
                                          "use statistics.permutation: monte_carlo"));
  }
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
      first_ = make_half(of_first, max_list_items);
    }
    if (thread == threads - 1) {
      second_ = make_half(of_second, max_list_items);
    }
  });
  num_slices_ = first_.choices.size() * second_.choices.size() > most_walks ? slices_of_runs : 1;
}

double ExactPermutation::num_steps() const {
  const auto of_first = static_cast<double>(first_.num_sums());
  const auto of_second = static_cast<double>(second_.num_sums());
  return num_slices_ > 1 ? steps_per_element * (of_first + of_second)
                         : of_first * static_cast<double>(second_.choices.size()) +
                               of_second * static_cast<double>(first_.choices.size());
}

PartitionCount ExactPermutation::count(std::uint64_t piece, std::int64_t threshold, RunPairs& pairs) const {
  const auto chosen = piece / num_slices_;
  if (chosen > scores_.num_chosen || scores_.num_chosen - chosen > second_.size) {
    return 0;  // no partition has this many from the first half
  }
  const auto others = scores_.num_chosen - chosen;
  if (num_slices_ == 1) {
    PartitionCount count = 0;
    for (const auto& one : first_.choices) {
      for (const auto& other : second_.choices) {
        const auto* first = first_.list(chosen, one);
        const auto* second = second_.list(others, other);
        count +=
            first != nullptr && second != nullptr ? count_pairs(*first, *second, threshold - one.sum - other.sum) : 0;
      }
    }
    return count;
  }
  const auto left = first_.runs(chosen);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  for (const auto& run : left) {
    least = std::min(least, *run.begin + run.shift);
    most = std::max(most, *(run.end - 1) + run.shift);
  }
  const auto width = (most - least) / static_cast<std::int64_t>(num_slices_) + 1;
  const auto low = least + static_cast<std::int64_t>(piece % num_slices_) * width;
  return pairs.count(left, second_.runs(others), low, low + width);
}

PartitionCount ExactPermutation::count_share(std::int64_t threshold, unsigned rank, unsigned num_ranks,
                                             unsigned num_threads) const {
  std::vector<PartitionCount> counts(num_threads, 0);
  std::atomic<std::uint64_t> next = 0;
  on_threads(num_threads, [&](unsigned thread) {
    RunPairs pairs(threshold);
    PartitionCount sum = 0;
    for (auto piece = next++; piece < num_pieces(); piece = next++) {
      // mixed, since costs repeat with the number of scores from the first half
      if (base::mix_bits(piece) % num_ranks == rank) {
        sum += count(piece, threshold, pairs);
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
