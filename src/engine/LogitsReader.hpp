// Rows of logits -> log-probabilities of single tokens, where the logits are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/SoftmaxRow.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// One number that is wanted.
struct TokenAtRow {
  std::int64_t row = 0;
  query::TokenId token = 0;
};

class LogitsReader {
 public:
  /// `vocabulary`: width of the logits.
  explicit LogitsReader(std::int64_t vocabulary) : no_classes_({}, static_cast<std::size_t>(vocabulary)) {}
  /// Natural logarithms of softmax over the whole width, for `wanted` (any order) in its order; NaN where a logit of
  /// the row is not finite. `logits` [row, vocabulary] float32; the first `rows` count. On the CPU as `log_sums`, on
  /// other devices in float32.
  std::vector<double> log_probabilities(const at::Tensor& logits, std::int64_t rows,
                                        const std::vector<TokenAtRow>& wanted) const;

 private:
  ClassMask no_classes_;
};

}  // namespace stereosweep::engine
