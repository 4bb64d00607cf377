// Rows of logits -> log-probabilities of single tokens, where the logits are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/SoftmaxRow.hpp"
#include "model/Kernels.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// One number that is wanted.
struct TokenAtRow {
  std::int64_t row = 0;
  query::TokenId token = 0;
};

class LogitsReader {
 public:
  /// `vocabulary`: width of the logits; `kernels`: who reads them.
  LogitsReader(std::int64_t vocabulary, model::Kernels kernels)
      : no_classes_({}, static_cast<std::size_t>(vocabulary)), kernels_(kernels) {}
  /// Natural logarithms of softmax over the whole width, for `wanted` (any order) in its order; NaN where a logit of
  /// the row is not finite. `logits` [row, vocabulary] float32; the first `rows` count. By our own kernels as
  /// `log_sums`, by operators in float32.
  std::vector<double> log_probabilities(const at::Tensor& logits, std::int64_t rows,
                                        const std::vector<TokenAtRow>& wanted) const;

 private:
  ClassMask no_classes_;
  model::Kernels kernels_;
};

/// For every row of `logits` [row, vocabulary] float32 the token with the largest one, the lowest id among equals;
/// nothing where one is not finite. By torch's operators; for vocabularies of up to 2^24 tokens.
std::vector<std::optional<query::TokenId>> most_probable(const at::Tensor& logits);

}  // namespace stereosweep::engine
