#include "model/causal/TokenTree.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::model {

namespace {

// The blocks that one query sees, in the order of its path, and its mask of each.
using Sight = std::vector<std::pair<std::int32_t, std::uint16_t>>;

// Along a path slots of one block follow each other.
void see(std::int32_t slot, Sight& sight) {
  const auto block = slot / slots_per_block;
  if (sight.empty() || sight.back().first != block) {
    sight.emplace_back(block, 0);
  }
  sight.back().second = static_cast<std::uint16_t>(sight.back().second | 1U << (slot % slots_per_block));
}

// Queries of one tile as they come together. `stem_` is the path of blocks that the first one sees and those go on that
// see all of it; every query sees a piece of it.
class TileBuilder {
 public:
  // Whether it is no dearer to multiply this query with the others than alone; if so it is one of them now.
  bool takes(const Sight& sight) {
    const auto begin = std::ranges::find(stem_, sight.front().first);
    if (begin == stem_.end() && !views_.empty()) {
      return false;
    }
    View view{sight, static_cast<std::size_t>(begin - stem_.begin()), 0};
    const auto same = [](std::int32_t block, const auto& seen) { return block == seen.first; };
    const auto along = std::ranges::mismatch(std::ranges::subrange(begin, stem_.end()), sight, same);
    view.end = static_cast<std::size_t>(along.in1 - stem_.begin());
    const auto before = views_.empty() ? 0 : least_cost().second;
    const auto stem = stem_.size();
    if (view.end == stem) {
      for (auto seen = along.in2; seen != sight.end(); ++seen) {
        stem_.push_back(seen->first);
      }
      view.end = stem_.size();
    }
    const auto alone = sight.size() * by_itself;
    views_.push_back(std::move(view));
    if (views_.size() > 1 && least_cost().second > before + alone) {
      views_.pop_back();
      stem_.resize(stem);
      return false;
    }
    return true;
  }

  std::size_t size() const { return views_.size(); }

  void finish(std::int64_t end_query, TreeTiles& out) {
    const auto shared = least_cost().first;
    TreeTiles::Tile tile;
    tile.num_queries = static_cast<std::int32_t>(views_.size());
    tile.first_query = static_cast<std::int32_t>(end_query) - tile.num_queries;
    tile.num_blocks = static_cast<std::int32_t>(shared);
    tile.first_block = std::ssize(out.blocks);
    out.blocks.insert(out.blocks.end(), stem_.begin(), stem_.begin() + tile.num_blocks);
    for (const auto& view : views_) {
      const auto on_stem = view.on_stem(shared);
      TreeTiles::Query query;
      query.num_blocks = static_cast<std::int32_t>(view.sight.size() - on_stem);
      query.first_block = std::ssize(out.blocks);
      query.first_mask = std::ssize(out.masks);
      out.masks.resize(out.masks.size() + shared);
      for (std::size_t i = 0; i < view.sight.size(); ++i) {
        const auto [block, mask] = view.sight[i];
        if (i < on_stem) {
          out.masks[static_cast<std::size_t>(query.first_mask) + view.begin + i] = mask;
        } else {
          out.blocks.push_back(block);
          out.masks.push_back(mask);
        }
      }
      out.most_blocks = std::max(out.most_blocks, tile.num_blocks + query.num_blocks);
      out.queries.push_back(query);
    }
    out.tiles.push_back(tile);
    *this = {};
  }

 private:
  // To read a block costs about as much as to multiply it with a query.
  static constexpr std::size_t by_itself = 2;

  struct View {
    Sight sight;
    std::size_t begin = 0;  ///< the stem's blocks from here
    std::size_t end = 0;    ///< to here are the first ones of `sight`
    std::size_t on_stem(std::size_t shared) const { return std::max(begin, std::min(end, shared)) - begin; }
  };

  // How much of the stem is best multiplied with every query, and what all products cost then.
  std::pair<std::size_t, std::size_t> least_cost() const {
    std::pair<std::size_t, std::size_t> best{0, SIZE_MAX};
    for (const auto& one : views_) {
      std::size_t cost = one.end * (views_.size() + 1);
      for (const auto& view : views_) {
        cost += (view.sight.size() - view.on_stem(one.end)) * by_itself;
      }
      best = cost < best.second ? std::pair(one.end, cost) : best;
    }
    return best;
  }

  std::vector<View> views_;
  std::vector<std::int32_t> stem_;
};

}  // namespace

std::int64_t longest_path(const TokenTree& tree) {
  std::int64_t longest = 0;
  for (const auto& branch : tree.branches) {
    longest = std::max<std::int64_t>(longest, branch.depth + branch.length);
  }
  return longest;
}

std::vector<std::int32_t> path_of(const TokenTree& tree, std::int32_t branch) {
  const auto& last = tree.branches[branch];
  std::vector<std::int32_t> path(static_cast<std::size_t>(last.depth + last.length));
  for (auto number = branch; number >= 0; number = tree.branches[number].parent) {
    const auto& part = tree.branches[number];
    for (std::int32_t i = 0; i < part.length; ++i) {
      path[part.depth + i] = part.first + i;
    }
  }
  return path;
}

std::vector<std::int32_t> branches_of(const TokenTree& tree, std::span<const std::int64_t> rows) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(rows.size());
  std::int32_t branch = 0;
  for (const auto row : rows) {
    while (tree.branches[branch].first + tree.branches[branch].length <= row) {
      ++branch;
    }
    numbers.push_back(branch);
  }
  return numbers;
}

TreeTiles cut_tiles(const TokenTree& tree, std::span<const std::int32_t> slots, std::span<const std::int64_t> rows,
                    std::int64_t window, std::int32_t most_queries) {
  TreeTiles out;
  const auto branches = branches_of(tree, rows);
  TileBuilder builder;
  std::vector<std::int32_t> path;
  std::int32_t path_branch = -1;
  Sight sight;
  std::int64_t seen = 0;  // positions of the path that `sight` holds
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& branch = tree.branches[branches[i]];
    const auto end = branch.depth + rows[i] - branch.first + 1;
    if (branches[i] != path_branch || window > 0) {
      path_branch = branches[i];
      path = path_of(tree, path_branch);
      sight.clear();
      seen = window > 0 ? std::max<std::int64_t>(0, end - window) : 0;
    }
    for (; seen < end; ++seen) {
      see(slots[path[seen]], sight);
    }
    if (builder.size() == static_cast<std::size_t>(most_queries) || !builder.takes(sight)) {
      builder.finish(static_cast<std::int64_t>(i), out);
      builder.takes(sight);
    }
  }
  if (builder.size() > 0) {
    builder.finish(std::ssize(rows), out);
  }
  return out;
}

}  // namespace stereosweep::model
