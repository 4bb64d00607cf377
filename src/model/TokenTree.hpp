// Token sequences as a tree: what a causal model runs. A plain value, no tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::model {

/// Token sequences with every shared prefix once. A branch's tokens stand after those of all its ancestors; a sequence
/// is the path from a root to some token. Several roots are allowed: a forest of unrelated sequences is packed without
/// padding.
struct TokenTree {
  struct Branch {
    std::int32_t first = 0;    ///< its first row
    std::int32_t length = 0;   ///< at least 1
    std::int32_t parent = -1;  ///< number of an earlier branch; -1: a root
    std::int32_t depth = 0;    ///< position of its first token: the sum of its ancestors' lengths
  };
  std::vector<query::TokenId> ids;  ///< [row]
  std::vector<Branch> branches;     ///< rows in this order, without gaps
};

}  // namespace stereosweep::model
