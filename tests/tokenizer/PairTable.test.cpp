// Against std::unordered_map on keys that crowd together.
#include "tokenizer/algorithms/PairTable.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace stereosweep::tokenizer {
namespace {

TEST(PairTable, FindsWhatAMapFinds) {
  std::mt19937_64 random(3);
  for (const std::size_t size : {0, 1, 2, 3, 7, 8, 9, 1000}) {
    PairTable<int>::Entries entries;
    std::unordered_map<std::uint64_t, int> expected;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t key = (random() % 40) << 32 | random() % 40;
      entries.emplace_back(key, static_cast<int>(i));
      expected[key] = static_cast<int>(i);
    }
    const PairTable<int> table(entries);
    for (std::uint64_t left = 0; left < 40; ++left) {
      for (std::uint64_t right = 0; right < 40; ++right) {
        const auto* found = table.find(left << 32 | right);
        const auto it = expected.find(left << 32 | right);
        ASSERT_EQ(found != nullptr, it != expected.end());
        ASSERT_EQ(found != nullptr ? *found : 0, it != expected.end() ? it->second : 0);
      }
    }
  }
}

}  // namespace
}  // namespace stereosweep::tokenizer
