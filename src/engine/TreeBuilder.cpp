#include "engine/TreeBuilder.hpp"

#include <utility>

namespace stereosweep::engine {

void TreeBuilder::add(std::span<const query::TokenId> ids, std::size_t shared) {
  path_.resize(shared);
  for (auto i = shared; i < ids.size(); ++i) {
    const auto row = static_cast<std::int32_t>(ids_.size());
    const auto parent = path_.empty() ? -1 : path_.back();
    if (parent >= 0 && parent + 1 != row) {
      ends_branch_[static_cast<std::size_t>(parent)] = 1;  // it has two children
    }
    ids_.push_back(ids[i]);
    parents_.push_back(parent);
    ends_branch_.push_back(0);
    path_.push_back(row);
  }
}

model::TokenTree TreeBuilder::take() {
  model::TokenTree tree;
  branch_of_.clear();
  for (std::size_t row = 0; row < ids_.size(); ++row) {
    const auto parent = parents_[row];
    const bool follows = parent >= 0 && static_cast<std::size_t>(parent) + 1 == row;
    if (!follows || ends_branch_[static_cast<std::size_t>(parent)] != 0) {
      model::TokenTree::Branch branch{static_cast<std::int32_t>(row), 0, -1, 0};
      if (parent >= 0) {
        branch.parent = branch_of_[static_cast<std::size_t>(parent)];
        const auto& above = tree.branches[static_cast<std::size_t>(branch.parent)];
        branch.depth = above.depth + above.length;
      }
      tree.branches.push_back(branch);
    }
    tree.branches.back().length += 1;
    branch_of_.push_back(static_cast<std::int32_t>(tree.branches.size() - 1));
  }
  tree.ids = std::exchange(ids_, {});
  parents_.clear();
  ends_branch_.clear();
  path_.clear();
  return tree;
}

}  // namespace stereosweep::engine
