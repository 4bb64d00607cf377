#include "sweep/Product.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "base/Random.hpp"

namespace stereosweep::sweep {
namespace {

/// Keeps every sum and difference of context numbers inside a signed 64-bit integer (HDF5 and MPI counts).
constexpr std::uint64_t max_contexts = std::uint64_t{1} << 62;

/// Begin of the i-th of `parts` nearly equal parts; the product may pass 2^64.
std::uint64_t share(std::uint64_t i, std::uint64_t whole, std::uint64_t parts) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(i) * whole / parts);
}

/// Parts of at most `most` that make up the whole.
std::uint64_t parts_of(std::uint64_t whole, std::uint64_t most) { return whole / most + (whole % most == 0 ? 0 : 1); }

}  // namespace

Product::Product(std::vector<std::uint64_t> lengths) : lengths_(std::move(lengths)) {
  if (std::find(lengths_.begin(), lengths_.end(), 0) != lengths_.end()) {
    num_contexts_ = 0;  // decided first: 10^12 x 10^12 x 0 is empty, not too large
    return;
  }
  for (const std::uint64_t length : lengths_) {
    base::refuse_if(length > max_contexts / num_contexts_, "the product of the axes has more than 2^62 contexts",
                    "axis of " + std::to_string(length) + " after " + std::to_string(num_contexts_) + " contexts",
                    "shorten an axis");
    num_contexts_ *= length;
  }
}

std::vector<std::uint64_t> Product::coordinates(std::uint64_t context) const {
  STEREOSWEEP_ASSERT(context < num_contexts_, "context outside the product");
  std::vector<std::uint64_t> result(lengths_.size());
  for (std::size_t axis = lengths_.size(); axis-- > 0;) {
    result[axis] = context % lengths_[axis];
    context /= lengths_[axis];
  }
  return result;
}

BlockPlan::BlockPlan(Product product, std::uint64_t contexts_per_block, Outermost outermost)
    : product_(std::move(product)), contexts_per_block_(contexts_per_block) {
  base::refuse_if(contexts_per_block == 0, "a block needs at least one context", "execution.contexts_per_block is 0");
  if (product_.num_contexts() == 0) {
    return;
  }
  const std::uint64_t values = product_.lengths().empty() ? 1 : product_.lengths().front();
  contexts_per_outermost_ = product_.num_contexts() / values;
  const auto fitting = outermost == Outermost::together ? contexts_per_block_ / contexts_per_outermost_ : 0;
  const auto values_per_stretch = std::clamp<std::uint64_t>(fitting, 1, values);
  stretch_ = values_per_stretch * contexts_per_outermost_;
  blocks_per_stretch_ = parts_of(stretch_, contexts_per_block_);
  num_blocks_ = blocks_per_stretch_ * parts_of(values, values_per_stretch);  // at most num_contexts: no overflow
}

BlockPlan BlockPlan::dealt(const std::vector<std::uint8_t>& rounds, Outermost outermost) const {
  auto plan = *this;
  if (num_blocks_ == 0) {
    return plan;
  }
  STEREOSWEEP_ASSERT(rounds.size() == contexts_per_outermost_, "each context of an outermost value has a round");
  plan.order_.resize(rounds.size());
  std::iota(plan.order_.begin(), plan.order_.end(), std::uint64_t{0});
  std::erase_if(plan.order_, [&](std::uint64_t context) { return rounds[context] == never_visited; });
  std::ranges::stable_sort(plan.order_, {}, [&](std::uint64_t context) { return rounds[context]; });
  for (std::uint64_t place = 0; place < plan.order_.size(); ++place) {
    const bool begins = place == 0 || rounds[plan.order_[place]] != rounds[plan.order_[place - 1]];
    if (begins || place - plan.starts_.back() == contexts_per_block_) {
      plan.starts_.push_back(place);
    }
  }
  const auto values = product_.lengths().front();
  const bool fits = outermost == Outermost::together && plan.starts_.size() == 1;
  const auto values_per_stretch =
      fits ? std::clamp<std::uint64_t>(contexts_per_block_ / plan.order_.size(), 1, values) : 1;
  plan.stretch_ = values_per_stretch * plan.order_.size();
  plan.blocks_per_stretch_ = plan.starts_.size();
  plan.num_blocks_ = plan.blocks_per_stretch_ * parts_of(values, values_per_stretch);
  plan.starts_.push_back(plan.stretch_);
  return plan;
}

std::uint64_t BlockPlan::context(const Block& block, std::uint64_t place) const {
  const auto visit = block.first_context + place;
  return is_dealt() ? visit / order_.size() * contexts_per_outermost_ + order_[visit % order_.size()] : visit;
}

Block BlockPlan::block(std::uint64_t index) const {
  STEREOSWEEP_ASSERT(index < num_blocks_, "block outside the plan");
  const auto begin = index / blocks_per_stretch_ * stretch_;
  const auto place = index % blocks_per_stretch_;
  const auto inside = is_dealt() ? starts_[place] : place * contexts_per_block_;
  const auto end = is_dealt() ? starts_[place + 1] : std::min(inside + contexts_per_block_, stretch_);
  return {.index = index,
          .first_context = begin + inside,
          .num_contexts = std::min(begin + end, num_contexts()) - begin - inside};
}

std::vector<Block> sample_blocks(const BlockPlan& blocks, std::uint64_t max_contexts) {
  const std::uint64_t num_blocks = blocks.num_blocks();
  const std::uint64_t num_contexts = blocks.num_contexts();
  const bool all = num_contexts <= max_contexts;
  const std::uint64_t mean_block = num_blocks == 0 ? 1 : num_contexts / num_blocks;
  const std::uint64_t wanted = all ? num_blocks : std::clamp<std::uint64_t>(max_contexts / mean_block, 1, num_blocks);
  std::vector<Block> sample;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const std::uint64_t begin = share(i, num_blocks, wanted);
    // Patternless: equal steps could meet the same template again and again.
    Block block = blocks.block(begin + base::mix_bits(i) % (share(i + 1, num_blocks, wanted) - begin));
    block.num_contexts = std::min(block.num_contexts, max_contexts);  // a single block may be the whole product
    sample.push_back(block);
  }
  return sample;
}

}  // namespace stereosweep::sweep
