#include "stats/ExactPermutation.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>

#include "base/Error.hpp"
#include "base/Random.hpp"
#include "stats/Threads.hpp"

namespace stereosweep::stats {
namespace {

std::size_t num_fixed(std::size_t pool, std::size_t max_list_items) {
  return pool > 2 * max_list_items ? pool - 2 * max_list_items : 0;
}

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

ExactPermutation::ExactPermutation(std::span<const double> x, std::span<const double> y, unsigned num_threads,
                                   std::size_t max_list_items)
    : scores_(fix_scores(x, y)), num_partitions_(num_subsets(x.size() + y.size(), x.size())) {
  auto items = scores_.values;
  if (items.size() > max_exact_pool) {
    throw base::InputError(base::describe("no exact test of " + std::to_string(items.size()) + " words",
                                          "at most " + std::to_string(max_exact_pool) + " of both sets together",
                                          "use statistics.permutation: monte_carlo"));
  }
  // the largest scores are fixed: thresholds then differ most, and many pieces are all or nothing
  std::stable_sort(items.begin(), items.end(),
                   [](std::int64_t left, std::int64_t right) { return std::abs(left) > std::abs(right); });
  const auto rest = num_fixed(items.size(), max_list_items);
  std::vector<std::int64_t> first_items;
  std::vector<std::int64_t> second_items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    (i < rest ? fixed_ : i % 2 == 0 ? first_items : second_items).push_back(items[i]);
  }
  num_choices_ = std::uint64_t{1} << rest;
  const auto threads = std::clamp(num_threads, 1U, 2U);
  on_threads(threads, [&](unsigned thread) {
    if (thread == 0) {
      first_ = subset_sums(first_items);
    }
    if (thread == threads - 1) {
      second_ = subset_sums(second_items);
    }
  });
}

double ExactPermutation::num_steps() const {
  double sums = 0;
  for (const auto* lists : {&first_, &second_}) {
    for (const auto& list : *lists) {
      sums += static_cast<double>(list.size());
    }
  }
  return static_cast<double>(num_choices_) * sums;
}

std::uint64_t ExactPermutation::count(std::uint64_t piece) const {
  const auto choice = piece / first_.size();
  const auto from_first = piece % first_.size();
  const auto chosen = from_first + static_cast<std::size_t>(std::popcount(choice));
  if (chosen > scores_.num_chosen || scores_.num_chosen - chosen >= second_.size()) {
    return 0;  // no partition has this many from the first list
  }
  std::int64_t threshold = scores_.threshold;
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    threshold -= (choice >> i & 1U) != 0 ? fixed_[i] : 0;
  }
  return count_pairs(first_[from_first], second_[scores_.num_chosen - chosen], threshold);
}

PartitionCount ExactPermutation::count_share(unsigned rank, unsigned num_ranks, unsigned num_threads) const {
  std::vector<PartitionCount> counts(num_threads, 0);
  std::atomic<std::uint64_t> next = 0;
  on_threads(num_threads, [&](unsigned thread) {
    PartitionCount sum = 0;
    for (auto piece = next++; piece < num_pieces(); piece = next++) {
      // mixed, since costs repeat with the number of scores from the first list
      if (base::mix_bits(piece) % num_ranks == rank) {
        sum += count(piece);
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

double exact_p(PartitionCount count, PartitionCount num_partitions) {
  return static_cast<double>(count) / static_cast<double>(num_partitions);
}

}  // namespace stereosweep::stats
