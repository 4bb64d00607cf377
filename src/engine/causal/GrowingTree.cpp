#include "engine/causal/GrowingTree.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "engine/causal/TokenTreePlan.hpp"

namespace stereosweep::engine {
namespace {

using BranchesBelow = std::map<std::int32_t, std::vector<std::int32_t>>;  // by branch

BranchesBelow branches_below(const model::TokenTree& tree) {
  BranchesBelow below;
  for (std::size_t i = 0; i < tree.branches.size(); ++i) {
    below[tree.branches[i].parent].push_back(static_cast<std::int32_t>(i));
  }
  return below;
}

// Rows of the longest beginning of `ids` that stands below a branch; what stands there more than once is found at its
// first place.
std::vector<std::int32_t> find_below(std::int32_t parent, std::span<const query::TokenId> ids,
                                     const model::TokenTree& tree, const BranchesBelow& below) {
  std::vector<std::int32_t> longest;
  const auto found = below.find(parent);
  for (const auto number : found == below.end() ? std::span<const std::int32_t>() : std::span(found->second)) {
    const auto& branch = tree.branches[static_cast<std::size_t>(number)];
    const auto own =
        std::span(tree.ids).subspan(static_cast<std::size_t>(branch.first), static_cast<std::size_t>(branch.length));
    std::vector<std::int32_t> path(common_prefix(own, ids));
    std::iota(path.begin(), path.end(), branch.first);
    if (path.size() == own.size()) {
      const auto behind = find_below(number, ids.subspan(own.size()), tree, below);
      path.insert(path.end(), behind.begin(), behind.end());
    }
    if (path.size() > longest.size()) {
      longest = std::move(path);
    }
  }
  return longest;
}

}  // namespace

GrowingTree::GrowingTree(std::span<const std::vector<query::TokenId>* const> prompts, std::size_t least_shared,
                         const model::TokenTree& kept) {
  TreeBuilder builder;
  std::vector<std::int32_t> last_rows;
  std::span<const query::TokenId> before;
  const auto below = branches_below(kept);
  std::vector<std::int32_t> kept_as;  // [row of the builder] row of `kept`; -1: none
  std::vector<char> is_taken(kept.ids.size());
  for (const auto* prompt : prompts) {
    const auto beginning = std::span(*prompt).first(prompt->size() - 1);
    auto common = common_prefix(before, beginning);
    common = common < least_shared ? 0 : common;
    const auto found = find_below(root, beginning, kept, below);
    auto known = common;  // tokens that are there, where all before them are
    if (common == 0 || kept_as[static_cast<std::size_t>(builder.path()[common - 1])] >= 0) {
      while (known < found.size() && is_taken[static_cast<std::size_t>(found[known])] == 0) {
        is_taken[static_cast<std::size_t>(found[known])] = 1;
        kept_as.push_back(found[known++]);
      }
    }
    if (known > common) {
      builder.add(beginning.first(known), common);
      builder.end_branch();
    }
    builder.add(beginning, known);
    kept_as.resize(kept_as.size() + beginning.size() - known, -1);
    if (!beginning.empty()) {
      builder.end_branch();
    }
    last_rows.push_back(beginning.empty() ? root : builder.path().back());
    before = beginning;
  }
  beginnings_ = builder.take();
  for (const auto row : last_rows) {
    last_part_.push_back(row == root ? root : builder.branches_of_rows()[static_cast<std::size_t>(row)]);
  }
  branch_of_.assign(beginnings_.branches.size(), -1);
  for (std::size_t part = 0; part < beginnings_.branches.size(); ++part) {
    const auto& [first, length, parent, depth, room] = beginnings_.branches[part];
    if (const auto rows = std::span(kept_as).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(length));
        rows.front() >= 0) {
      put(static_cast<std::int32_t>(part), parent == root ? root : branch_of_[static_cast<std::size_t>(parent)], 0);
      kept_rows_.insert(kept_rows_.end(), rows.begin(), rows.end());
    }
  }
}

std::int32_t GrowingTree::put(std::int32_t number, std::int32_t parent, std::int32_t room) {
  const auto& part = beginnings_.branches[static_cast<std::size_t>(number)];
  const auto ids = std::span(beginnings_.ids);
  const auto branch =
      add(parent, ids.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.length)), room);
  part_of_.back() = number;
  return branch_of_[static_cast<std::size_t>(number)] = branch;
}

std::vector<std::int32_t> GrowingTree::path_of(std::size_t prompt) const {
  std::vector<std::int32_t> parts;
  for (auto part = last_part_[prompt]; part != root;
       part = beginnings_.branches[static_cast<std::size_t>(part)].parent) {
    parts.push_back(part);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::int64_t GrowingTree::slots_of(std::span<const std::int32_t> parts) const {
  std::int64_t slots = 0;
  for (const auto part : parts) {
    slots += part < 0 ? 0 : model::whole_blocks(beginnings_.branches[static_cast<std::size_t>(part)].length);
  }
  return slots;
}

std::int64_t GrowingTree::slots_of_beginnings() const {
  std::vector<std::int32_t> parts(beginnings_.branches.size());
  std::iota(parts.begin(), parts.end(), 0);
  return slots_of(parts);
}

std::int64_t GrowingTree::missing_slots(std::size_t prompt) const {
  auto parts = path_of(prompt);
  std::erase_if(parts, [&](std::int32_t part) { return branch_of_[static_cast<std::size_t>(part)] >= 0; });
  return slots_of(parts);
}

std::int32_t GrowingTree::plant(std::size_t prompt, std::int32_t room) {
  auto branch = root;
  for (const auto number : path_of(prompt)) {
    const auto known = branch_of_[static_cast<std::size_t>(number)];
    branch = known >= 0 ? known : put(number, branch, number == last_part_[prompt] ? room : 0);
  }
  return branch;
}

std::int32_t GrowingTree::add(std::int32_t branch, std::span<const query::TokenId> ids, std::int32_t room) {
  std::int32_t depth = 0;
  if (branch != root) {
    const auto& parent = tree_.branches[static_cast<std::size_t>(branch)];
    depth = parent.depth + parent.length;
  }
  tree_.branches.push_back(
      {static_cast<std::int32_t>(tree_.ids.size()), static_cast<std::int32_t>(ids.size()), branch, depth, room});
  tree_.ids.insert(tree_.ids.end(), ids.begin(), ids.end());
  part_of_.push_back(-1);
  return static_cast<std::int32_t>(tree_.branches.size() - 1);
}

std::vector<std::int32_t> GrowingTree::keep_only(std::span<std::int32_t* const> tips, std::optional<std::size_t> next) {
  const auto old = std::exchange(tree_, {});
  const auto parts = std::exchange(part_of_, {});
  const auto parent_of = [&](std::int32_t branch) { return old.branches[static_cast<std::size_t>(branch)].parent; };
  std::vector<char> stays(old.branches.size());
  std::vector<std::int32_t> followers(old.branches.size());  // branches that leave one, and texts that end with it
  const auto mark = [&](std::int32_t branch) {
    for (; branch != root && stays[static_cast<std::size_t>(branch)] == 0; branch = parent_of(branch)) {
      stays[static_cast<std::size_t>(branch)] = 1;
      if (parent_of(branch) != root) {
        ++followers[static_cast<std::size_t>(parent_of(branch))];
      }
    }
  };
  for (const auto* tip : tips) {
    mark(*tip);
    if (*tip != root) {
      followers[static_cast<std::size_t>(*tip)] += 2;  // nothing is joined to it
    }
  }
  if (next) {
    for (const auto part : path_of(*next)) {
      mark(branch_of_[static_cast<std::size_t>(part)]);
    }
  }
  std::fill(branch_of_.begin(), branch_of_.end(), -1);
  std::vector<std::int32_t> number_of(old.branches.size(), -1);
  std::vector<std::vector<std::int32_t>> rows_of;  // of each new branch
  for (std::size_t i = 0; i < old.branches.size(); ++i) {
    if (stays[i] == 0) {
      continue;
    }
    const auto& branch = old.branches[i];
    const auto parent = static_cast<std::size_t>(branch.parent);
    const bool joins = branch.parent != root && parts[i] < 0 && parts[parent] < 0 && followers[parent] == 1;
    if (joins) {
      number_of[i] = number_of[parent];
    } else {
      number_of[i] = static_cast<std::int32_t>(rows_of.size());
      rows_of.emplace_back();
      tree_.branches.push_back({0, 0, branch.parent == root ? root : number_of[parent], branch.depth});
      part_of_.push_back(parts[i]);
      if (parts[i] >= 0) {
        branch_of_[static_cast<std::size_t>(parts[i])] = number_of[i];
      }
    }
    for (std::int32_t row = 0; row < branch.length; ++row) {
      rows_of[static_cast<std::size_t>(number_of[i])].push_back(branch.first + row);
    }
  }
  std::vector<std::int32_t> order;
  for (std::size_t i = 0; i < rows_of.size(); ++i) {
    tree_.branches[i].first = static_cast<std::int32_t>(order.size());
    tree_.branches[i].length = static_cast<std::int32_t>(rows_of[i].size());
    order.insert(order.end(), rows_of[i].begin(), rows_of[i].end());
  }
  for (const auto row : order) {
    tree_.ids.push_back(old.ids[static_cast<std::size_t>(row)]);
  }
  for (auto* tip : tips) {
    *tip = *tip == root ? root : number_of[static_cast<std::size_t>(*tip)];
  }
  return order;
}

}  // namespace stereosweep::engine
