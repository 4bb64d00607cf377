// Vectors that are read off the input embedding matrix: each distinct row once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <span>

#include "engine/QueryInput.hpp"
#include "engine/VectorPools.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// Rows of the matrix: ids -> [ids, hidden].
using FetchRows = std::function<at::Tensor(std::span<const query::TokenId>)>;

/// Adds the rows of every query, token after token. `num_queries` as in VectorPools.
void add_input_vectors(std::span<const InputRows> wanted, std::size_t num_queries, const FetchRows& fetch,
                       VectorPools& pools);

}  // namespace stereosweep::engine
