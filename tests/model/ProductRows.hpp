// Queries, keys and values for tests of attention over trees.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>

#include <cstdint>

#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model::testing {

struct Rows {
  at::Tensor query;
  at::Tensor key;
  at::Tensor value;
};

/// Drawn; slices of one matrix, as the body's products are.
inline Rows rows_of_products(const CausalSpecification& rule, std::int64_t count, at::ScalarType type) {
  const auto queries = rule.num_heads * rule.head_width;
  const auto keys = rule.num_key_heads * rule.head_width;
  const auto all = at::randn({count, queries + 2 * keys}, at::kFloat).to(type);
  return {all.slice(1, 0, queries), all.slice(1, queries, queries + keys), all.slice(1, queries + keys)};
}

}  // namespace stereosweep::model::testing
