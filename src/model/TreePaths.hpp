// Which keys the rows of a tree see, cut into segments for torch's operators: neighbouring rows of one branch are the
// queries of a segment, the last rows of their path are its keys, and query i of n sees all keys but the last n - 1 -
// i.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/TokenTree.hpp"

namespace stereosweep::model {

/// Segments whose keys are gathered together. No segment is empty.
struct TreePaths {
  std::vector<std::int32_t> query_begin{0};  ///< [segments + 1], counted from first_query
  std::vector<std::int32_t> key_begin{0};    ///< [segments + 1]
  std::vector<std::int32_t> key_rows;        ///< [keys] rows of the tree
  std::vector<std::int32_t> first_position;  ///< [segments] position of the first key in its path
  std::int64_t first_query = 0;              ///< place in the list of queries
};

struct PathLimits {
  std::int64_t queries = 0;  ///< of a segment
  std::int64_t keys = 0;     ///< of a group: it bounds the memory of the gathered keys; one segment may have more
};

/// Segments for the given rows (sorted, distinct). With a window the keys that no query of a segment sees are left out.
std::vector<TreePaths> cut_paths(const TokenTree& tree, std::span<const std::int64_t> rows, std::int64_t window,
                                 const PathLimits& limits);

}  // namespace stereosweep::model
