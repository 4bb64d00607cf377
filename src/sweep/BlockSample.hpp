// Blocks to look at where a product is too large to look at all of it.
#pragma once

#include <cstdint>
#include <vector>

#include "sweep/Product.hpp"

namespace stereosweep::sweep {

/// All blocks if the product has at most `max_contexts` contexts, else one at a fixed random place in each of as many
/// equal parts as that allows, cut to `max_contexts`.
std::vector<Block> sample_blocks(const BlockPlan& blocks, std::uint64_t max_contexts);

}  // namespace stereosweep::sweep
