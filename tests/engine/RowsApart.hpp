// Logits as an output matrix with rows of zeros leaves them: a view of wider rows.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <limits>

namespace stereosweep::engine::testing {

/// The same numbers in rows that lie apart, with `between` there. NaN spreads to whatever it is used in.
inline at::Tensor set_apart(const at::Tensor& logits, float between = std::numeric_limits<float>::quiet_NaN()) {
  const auto wide = at::full({logits.size(0), logits.size(1) + 7}, between);
  auto view = wide.narrow(1, 0, logits.size(1));
  view.copy_(logits);
  return view;
}

}  // namespace stereosweep::engine::testing
