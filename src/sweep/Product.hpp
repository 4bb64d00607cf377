// The product of axes as an index space (mixed radix, last axis fastest) and its blocks. Nothing is listed:
// a product may have 10^9 cells.
#pragma once

#include <cstdint>
#include <vector>

namespace stereosweep::sweep {

/// Contexts are numbered 0 .. num_contexts()-1 over [subject, template, rephrasing].
class Product {
 public:
  /// Throws InputError if the number of contexts overflows 2^62.
  explicit Product(std::vector<std::uint64_t> lengths);
  std::uint64_t num_contexts() const { return num_contexts_; }
  const std::vector<std::uint64_t>& lengths() const { return lengths_; }
  std::vector<std::uint64_t> coordinates(std::uint64_t context) const;

 private:
  std::vector<std::uint64_t> lengths_;
  std::uint64_t num_contexts_ = 1;
};

/// The round of a context that is never asked.
constexpr std::uint8_t never_visited = 255;

/// A contiguous range of contexts inside one value of the outermost axis, or of whole values of it: the unit of
/// scheduling, journal, reuse. Of a dealt plan: of places in the order of visits (BlockPlan::context).
struct Block {
  std::uint64_t index = 0;
  std::uint64_t first_context = 0;
  std::uint64_t num_contexts = 0;
};

/// Values of the outermost axis: each in blocks of its own, or as many whole ones in a block as it has room for.
enum class Outermost { apart, together };

/// Cuts a product into blocks of at most `contexts_per_block`; computed from the index, in canonical order. A value
/// that is added behind the others changes no block but the last one, and that one only where it is not full.
class BlockPlan {
 public:
  BlockPlan(Product product, std::uint64_t contexts_per_block, Outermost outermost = Outermost::apart);
  /// The same product for a sweep that asks its contexts in rounds, or a part of them: a block has contexts of one
  /// round, those that are never visited are in none. `rounds`: of each context of an outermost value, whatever the
  /// value. Values stay apart where there are several rounds.
  BlockPlan dealt(const std::vector<std::uint8_t>& rounds, Outermost outermost = Outermost::apart) const;
  bool is_dealt() const { return !order_.empty(); }
  const Product& product() const { return product_; }
  /// That are in a block.
  std::uint64_t num_contexts() const {
    return is_dealt() ? order_.size() * product_.lengths().front() : product_.num_contexts();
  }
  std::uint64_t num_blocks() const { return num_blocks_; }
  Block block(std::uint64_t index) const;
  /// Number of the context at a place of a block.
  std::uint64_t context(const Block& block, std::uint64_t place) const;
  /// Contexts of one value of the outermost axis.
  std::uint64_t contexts_per_outermost() const { return contexts_per_outermost_; }
  /// A stretch is one value of the outermost axis, or several that are one block; the last one may be shorter.
  std::uint64_t blocks_per_stretch() const { return blocks_per_stretch_; }
  std::uint64_t contexts_per_stretch() const {
    return is_dealt() ? stretch_ / order_.size() * contexts_per_outermost_ : stretch_;
  }

 private:
  Product product_;
  std::uint64_t contexts_per_block_;
  std::uint64_t contexts_per_outermost_ = 0;
  std::uint64_t stretch_ = 0;  ///< contexts of a stretch that are asked
  std::uint64_t blocks_per_stretch_ = 0;
  std::uint64_t num_blocks_ = 0;
  std::vector<std::uint64_t> order_;   ///< of a dealt plan: contexts of an outermost value as they are visited
  std::vector<std::uint64_t> starts_;  ///< and the first place of each block of it, and the end
};

/// Blocks to look at where a product is too large to look at all of it: all of them if it has at most `max_contexts`
/// contexts, else one at a fixed random place in each of as many equal parts as that allows, cut to `max_contexts`.
std::vector<Block> sample_blocks(const BlockPlan& blocks, std::uint64_t max_contexts);

}  // namespace stereosweep::sweep
