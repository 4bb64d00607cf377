// Trees for tests, branch by branch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/causal/TokenTree.hpp"

namespace stereosweep::model::testing {

/// Adds a branch of `length` rows below branch `parent` (-1: none), with `room` behind it; its number.
inline std::int32_t plant_branch(TokenTree& tree, std::int32_t parent, std::int32_t length, std::int32_t room = 0) {
  TokenTree::Branch branch;
  branch.first = static_cast<std::int32_t>(tree.ids.size());
  branch.length = length;
  branch.parent = parent;
  branch.depth = parent < 0 ? 0 : tree.branches[parent].depth + tree.branches[parent].length;
  branch.room = room;
  tree.branches.push_back(branch);
  tree.ids.resize(tree.ids.size() + static_cast<std::size_t>(length));
  return static_cast<std::int32_t>(tree.branches.size()) - 1;
}

}  // namespace stereosweep::model::testing
