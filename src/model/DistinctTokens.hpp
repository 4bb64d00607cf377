// Tokens of a batch that are alike before the first layer: same id, same position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "query/Query.hpp"

namespace stereosweep::model {

struct DistinctTokens {
  std::vector<query::TokenId> ids;      ///< each (id, position) once, in the order of the first that has it
  std::vector<std::int32_t> positions;  ///< beside `ids`
  std::vector<std::int32_t> rows;       ///< of each token of the batch: where its pair stands
};

/// `ids` and `positions` of the same length.
DistinctTokens find_distinct(std::span<const query::TokenId> ids, std::span<const std::int32_t> positions);

}  // namespace stereosweep::model
