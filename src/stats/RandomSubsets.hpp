// Uniform random subsets by counter: subset number d is a function of (seed, purpose, test, d) alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/Philox.hpp"

namespace stereosweep::stats {

/// Draws subsets of `num_chosen` of `num_items` by a partial Fisher-Yates shuffle. Several steps share 64 bits: a step
/// takes the high half of bits * bound, the next one works with the low half, as long as the product of the bounds
/// stays below 2^34. A subset's probability is off by less than one part in 2^29 per 64 bits used.
class RandomSubsets {
 public:
  /// `key`: seed, purpose and test; sample and word are set by the draw.
  RandomSubsets(std::size_t num_items, std::size_t num_chosen, const base::DrawKey& key);

  /// What is drawn is the smaller part: `num_drawn` items, which are the chosen ones or, if `draws_complement`, those
  /// left out.
  std::size_t num_drawn() const { return bounds_.size(); }
  bool draws_complement() const { return draws_complement_; }

  /// Sum of `values` [item] over what is drawn, draw < 2^32. `scratch` [item] is overwritten.
  std::int64_t sum(std::uint32_t draw, std::span<const std::int64_t> values, std::span<std::int64_t> scratch) const;
  /// The first `num_drawn` of `scratch` [item] become the positions of what is drawn, in the order of drawing.
  void choose(std::uint32_t draw, std::span<std::uint32_t> scratch) const;

 private:
  template <class Visit>
  void shuffle(std::uint32_t draw, const Visit& visit) const;

  base::DrawKey key_;
  bool draws_complement_;
  std::vector<std::uint32_t> bounds_;  ///< of the steps
  std::vector<std::uint8_t> starts_;   ///< 1: the step begins new 64 bits
};

}  // namespace stereosweep::stats
