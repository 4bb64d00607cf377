#include "engine/readout/VectorPools.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/Error.hpp"
#include "engine/readout/ProjectionQueue.hpp"

namespace stereosweep::engine {

query::QueryError not_finite_error(query::Dtype dtype) {
  const std::string problem = "the model's numbers are not finite";
  return {dtype == query::Dtype::float16
              ? base::describe(problem, "float16 ends at 65504, and a value in its layers went beyond",
                               "take the dtype bfloat16 or float32")
              : base::describe(problem, "a value overflowed in its layers"),
          query::QueryFault::other};
}

void VectorPools::add(std::size_t query, std::size_t num_queries, std::span<const float> vector) {
  if (pools_.empty()) {
    pools_.resize(num_queries);
  }
  auto& pool = pools_[query];
  pool.sums.resize(vector.size());
  pool.count += 1;
  for (std::size_t i = 0; i < vector.size(); ++i) {
    pool.sums[i] += vector[i];
  }
}

void VectorPools::finish(std::span<query::Answer> answers, query::Dtype dtype) const {
  for (std::size_t query = 0; query < pools_.size(); ++query) {
    const auto& pool = pools_[query];
    if (pool.count == 0) {
      continue;
    }
    query::EmbedAnswer answer;
    answer.vector.reserve(pool.sums.size());
    bool finite = true;
    for (const double sum : pool.sums) {
      finite = finite && std::isfinite(sum);
      answer.vector.push_back(static_cast<float>(sum / pool.count));
    }
    if (finite) {
      answers[query] = std::move(answer);
    } else {
      answers[query] = not_finite_error(dtype);
    }
  }
}

void add_input_vectors(std::span<const InputRows> wanted, std::size_t num_queries, const FetchRows& fetch,
                       VectorPools& pools) {
  std::vector<query::TokenId> ids;
  for (const auto& rows : wanted) {
    ids.insert(ids.end(), rows.ids.begin(), rows.ids.end());
  }
  if (ids.empty()) {
    return;
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  const auto vectors = on_host(fetch(ids));
  for (const auto& rows : wanted) {
    for (const auto id : rows.ids) {
      const auto place = std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
      pools.add(rows.query, num_queries, row_of(vectors, place));
    }
  }
}

}  // namespace stereosweep::engine
