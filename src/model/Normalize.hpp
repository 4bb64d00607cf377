// Layer norms and root-mean-square norms of rows.
//   shapes  [rows, width] with last stride 1 -> [rows, width] in the same dtype
//   rounds  where transformers rounds: sums in float32; see NormKind
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "model/AttentionKernel.hpp"  // Instructions
#include "model/CausalSpecification.hpp"
#include "model/EncoderWeights.hpp"  // Norm

namespace stereosweep::model {

struct NormRule {
  NormKind kind = NormKind::layer;
  double epsilon = 0;
};

/// norm(input): our own kernel on the CPU, torch's operators elsewhere.
at::Tensor normalize(const at::Tensor& input, const Norm& norm, const NormRule& rule);
/// residual + norm(input)
at::Tensor normalize_and_add(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                             const at::Tensor& residual);
/// Replaces each of the `parts` equal parts of every row by its norm: the heads of queries or keys.
void normalize_parts(const at::Tensor& rows, std::int64_t parts, const Norm& norm, const NormRule& rule);

/// The same as `normalize`, each with one of its ways alone.
at::Tensor normalize_with_operators(const at::Tensor& input, const Norm& norm, const NormRule& rule);
at::Tensor normalize_on_cpu(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                            Instructions instructions = Instructions::best);

}  // namespace stereosweep::model
