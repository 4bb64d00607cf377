#include "sweep/BlockSample.hpp"

#include <algorithm>

#include "base/Random.hpp"

namespace stereosweep::sweep {
namespace {

/// Begin of the i-th of `parts` nearly equal parts; the product may pass 2^64.
std::uint64_t share(std::uint64_t i, std::uint64_t whole, std::uint64_t parts) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(i) * whole / parts);
}

}  // namespace

std::vector<Block> sample_blocks(const BlockPlan& blocks, std::uint64_t max_contexts) {
  const std::uint64_t num_blocks = blocks.num_blocks();
  const std::uint64_t num_contexts = blocks.product().num_contexts();
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
