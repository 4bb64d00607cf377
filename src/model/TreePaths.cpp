#include "model/TreePaths.hpp"

#include <algorithm>

#include "model/TreeTiles.hpp"

namespace stereosweep::model {

std::vector<TreePaths> cut_paths(const TokenTree& tree, std::span<const std::int64_t> rows, std::int64_t window,
                                 const PathLimits& limits) {
  std::vector<TreePaths> groups;
  const auto branches = branches_of(tree, rows);
  std::vector<std::int32_t> path;
  std::int32_t path_branch = -1;
  for (std::size_t first = 0; first < rows.size();) {
    auto last = first + 1;
    while (last < rows.size() && branches[last] == branches[first] && rows[last] == rows[last - 1] + 1 &&
           static_cast<std::int64_t>(last - first) < limits.queries) {
      ++last;
    }
    if (branches[first] != path_branch) {
      path_branch = branches[first];
      path = path_of(tree, path_branch);
    }
    const auto& branch = tree.branches[path_branch];
    const auto begin_query = branch.depth + rows[first] - branch.first;
    const auto end = branch.depth + rows[last - 1] - branch.first + 1;
    const auto begin = window > 0 ? std::max<std::int64_t>(0, begin_query + 1 - window) : 0;
    if (groups.empty() || std::ssize(groups.back().key_rows) + end - begin > limits.keys) {
      groups.emplace_back();
      groups.back().first_query = static_cast<std::int64_t>(first);
    }
    auto& group = groups.back();
    group.key_rows.insert(group.key_rows.end(), path.begin() + begin, path.begin() + end);
    group.key_begin.push_back(static_cast<std::int32_t>(group.key_rows.size()));
    group.query_begin.push_back(group.query_begin.back() + static_cast<std::int32_t>(last - first));
    group.first_position.push_back(static_cast<std::int32_t>(begin));
    first = last;
  }
  return groups;
}

}  // namespace stereosweep::model
