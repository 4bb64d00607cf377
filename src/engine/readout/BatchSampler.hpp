// Draws the next tokens of many texts from a matrix of logits: by our own kernels on the processor, by torch's
// operators where the logits are, so that a vocabulary's width does not travel for one token.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/kernels/Kernels.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// One token that is wanted. Everything is borrowed.
struct DrawTask {
  std::int64_t row = 0;  ///< of the logits; several tasks may read one
  const query::Generate* asked = nullptr;
  std::uint64_t step = 0;                  ///< number of the new token, from 0
  std::span<const query::TokenId> prompt;  ///< ids that a penalty counts
  std::span<const query::TokenId> added;
};

struct Drawn {
  query::TokenId id = 0;
  double logprob = 0;  ///< under the softmax of the logits as they are, nat; by operators float32
};

/// One for each task, as `next_token` of the row (after the penalty, where there is one); nothing where a logit of the
/// row is not finite. `logits` [rows, vocabulary] float32; `kernels`: who reads them. A device is waited for once,
/// unless the logits that come from it do not decide a draw. Both ways draw the same tokens, unless a draw falls
/// between two float64 roundings of one sum of weights (relative 1e-15).
std::vector<std::optional<Drawn>> draw_tokens(const at::Tensor& logits, std::span<const DrawTask> tasks,
                                              model::Kernels kernels);

}  // namespace stereosweep::engine
