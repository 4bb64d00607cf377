#include "engine/InputVectors.hpp"

#include <algorithm>
#include <vector>

#include "engine/ProjectionQueue.hpp"

namespace stereosweep::engine {

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
