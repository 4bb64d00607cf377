#include "model/DistinctTokens.hpp"

#include <string>
#include <unordered_map>

#include "base/Check.hpp"

namespace stereosweep::model {

DistinctTokens find_distinct(std::span<const query::TokenId> ids, std::span<const std::int32_t> positions) {
  STEREOSWEEP_ASSERT(ids.size() == positions.size(),
                     std::to_string(positions.size()) + " positions for " + std::to_string(ids.size()) + " tokens");
  DistinctTokens found;
  found.rows.reserve(ids.size());
  std::unordered_map<std::uint64_t, std::int32_t> row_of_pair;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto pair =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(positions[i])) << 32 | static_cast<std::uint32_t>(ids[i]);
    const auto [place, is_new] = row_of_pair.try_emplace(pair, static_cast<std::int32_t>(found.ids.size()));
    if (is_new) {
      found.ids.push_back(ids[i]);
      found.positions.push_back(positions[i]);
    }
    found.rows.push_back(place->second);
  }
  return found;
}

}  // namespace stereosweep::model
