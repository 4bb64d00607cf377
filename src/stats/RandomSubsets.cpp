#include "stats/RandomSubsets.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/Check.hpp"

namespace stereosweep::stats {

RandomSubsets::RandomSubsets(std::size_t num_items, std::size_t num_chosen, const base::DrawKey& key)
    : key_(key), draws_complement_(2 * num_chosen > num_items) {
  STEREOSWEEP_ASSERT(num_chosen <= num_items && num_items < (std::uint64_t{1} << 31U), "a subset of what there is");
  constexpr std::uint64_t largest_product = std::uint64_t{1} << 34U;
  std::uint64_t product = largest_product;
  const auto num_steps = draws_complement_ ? num_items - num_chosen : num_chosen;
  for (std::size_t step = 0; step < num_steps; ++step) {
    const std::uint64_t bound = num_items - step;
    const bool starts = product > largest_product / bound;
    product = starts ? bound : product * bound;
    bounds_.push_back(static_cast<std::uint32_t>(bound));
    starts_.push_back(starts ? 1 : 0);
  }
}

template <class Visit>
void RandomSubsets::shuffle(std::uint32_t draw, const Visit& visit) const {
  __extension__ using Wide = unsigned __int128;
  auto key = key_;
  key.sample = draw;
  key.word = 0;
  base::PhiloxCounter block{};
  std::uint64_t bits = 0;
  bool has_high_half = false;
  for (std::size_t step = 0; step < bounds_.size(); ++step) {
    if (starts_[step] != 0) {
      if (!has_high_half) {
        block = base::philox_block(key);
        ++key.word;
      }
      const std::size_t half = has_high_half ? 2 : 0;
      bits = static_cast<std::uint64_t>(block[half + 1]) << 32U | block[half];
      has_high_half = !has_high_half;
    }
    const auto product = static_cast<Wide>(bits) * bounds_[step];
    bits = static_cast<std::uint64_t>(product);
    visit(step, step + static_cast<std::size_t>(product >> 64U));
  }
}

std::int64_t RandomSubsets::sum(std::uint32_t draw, std::span<const std::int64_t> values,
                                std::span<std::int64_t> scratch) const {
  std::copy(values.begin(), values.end(), scratch.begin());
  std::int64_t sum = 0;
  shuffle(draw, [&](std::size_t step, std::size_t taken) {
    sum += scratch[taken];
    scratch[taken] = scratch[step];
  });
  return sum;
}

void RandomSubsets::choose(std::uint32_t draw, std::span<std::uint32_t> scratch) const {
  std::iota(scratch.begin(), scratch.end(), 0U);
  shuffle(draw, [&](std::size_t step, std::size_t taken) { std::swap(scratch[taken], scratch[step]); });
}

}  // namespace stereosweep::stats
