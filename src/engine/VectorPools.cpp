#include "engine/VectorPools.hpp"

#include <cmath>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::engine {

query::QueryError not_finite_error() {
  return {base::describe("the model's numbers are not finite", "a value overflowed in its layers"),
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

void VectorPools::finish(std::span<query::Answer> answers) const {
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
      answers[query] = not_finite_error();
    }
  }
}

}  // namespace stereosweep::engine
