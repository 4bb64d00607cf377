// Means of hidden vectors, a row at a time: the answers of embed queries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/QueryInput.hpp"
#include "query/Compute.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// The error of a query whose numbers are NaN or infinite; `dtype` is the model's.
query::QueryError not_finite_error(query::Dtype dtype);

/// Sums in float64, in the order of the calls.
class VectorPools {
 public:
  /// One more token of the span of query number `query`, of `num_queries`.
  void add(std::size_t query, std::size_t num_queries, std::span<const float> vector);
  /// Writes the answers of all queries that got a vector: its mean, or an error where it is not finite.
  void finish(std::span<query::Answer> answers, query::Dtype dtype) const;

 private:
  struct Pool {
    std::vector<double> sums;  ///< [hidden]
    double count = 0;          ///< tokens
  };
  std::vector<Pool> pools_;  ///< by query, once there is one
};

// Vectors that are read off the input embedding matrix: each distinct row once.

/// Rows of the matrix: ids -> [ids, hidden].
using FetchRows = std::function<at::Tensor(std::span<const query::TokenId>)>;

/// Adds the rows of every query, token after token. `num_queries` as in VectorPools.
void add_input_vectors(std::span<const InputRows> wanted, std::size_t num_queries, const FetchRows& fetch,
                       VectorPools& pools);

}  // namespace stereosweep::engine
