// What a layer does to rows besides products and attention: norms, activations, turning by position. Of the norms:
//   shapes  [rows, width] with last stride 1 -> [rows, width] in the same dtype
//   rounds  where transformers rounds: sums in float32; see NormKind. Torch's operators round rows once, at the end.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>
#include <utility>

#include "model/body/BodySettings.hpp"
#include "model/kernels/Kernels.hpp"
#include "model/kernels/Linear.hpp"

namespace stereosweep::model {

struct NormRule {
  NormKind kind = NormKind::layer;
  double epsilon = 0;
};

/// The same norm with what torch's operators multiply by (Norm::factor) made once; our own kernels have no use for it.
Norm with_factor(Norm norm, const NormRule& rule);

/// norm(input): our own kernel on the CPU, torch's operators elsewhere.
at::Tensor normalize(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                     Instructions instructions = Instructions::best);
/// The same by operators, on any device.
at::Tensor normalize_with_operators(const at::Tensor& input, const Norm& norm, const NormRule& rule);
/// residual + norm(input)
at::Tensor normalize_and_add(const at::Tensor& input, const Norm& norm, const NormRule& rule,
                             const at::Tensor& residual);
/// Replaces each of the `parts` equal parts of every row by its norm: the heads of queries or keys. Torch's operators
/// take a factor [parts, width] where the parts differ (root-mean-square norms that round as transformers' does).
void normalize_parts(const at::Tensor& rows, std::int64_t parts, const Norm& norm, const NormRule& rule);

// Activations of the feed-forward layer: our own kernels on the CPU (computed in float32, rounded once), torch's
// operators elsewhere.

/// activation(input), in place where that is faster: [rows, inner] -> [rows, inner]
at::Tensor activate_rows(const at::Tensor& input, Activation activation,
                         Instructions instructions = Instructions::best);
/// activation(gate) * up: [rows, 2 inner], gate before up -> [rows, inner]
at::Tensor activate_gated(const at::Tensor& gate_and_up, Activation activation,
                          Instructions instructions = Instructions::best);
/// The same of gate_and_up.apply(input).
at::Tensor apply_gated(const Linear& gate_and_up, const at::Tensor& input, Activation activation);

// Turning of queries and keys by their position.

/// Cosine and sine of position * inverse frequency, times the rotary's scaling, float32: each [positions, width / 2];
/// for operators [positions, width], in the order of a head's numbers, with the sine that a number's partner is
/// multiplied by.
struct RotaryAngles {
  at::Tensor cosines;
  at::Tensor sines;
};

/// The angles of one rotary, kept on the device from pass to pass. Safe to use from several threads.
class RotaryTable {
 public:
  RotaryTable(Rotary rotary, const at::Device& device, Kernels kernels)
      : rotary_(std::move(rotary)), device_(device), kernels_(kernels) {}
  /// Angles of position 0 to, at least, before `positions`, on the device. Torch's operators find them from the last
  /// time; the numbers of a position do not depend on how many are asked for.
  RotaryAngles at_least(std::int64_t positions);
  /// Turns the first rotary.width numbers of every head of `rows` [rows, heads * width] in place, by angles picked by
  /// row. Rows without angles stay.
  void turn(const at::Tensor& rows, std::int64_t heads, const RotaryAngles& picked,
            Instructions instructions = Instructions::best) const;

 private:
  Rotary rotary_;
  at::Device device_;
  Kernels kernels_;
  std::mutex mutex_;
  RotaryAngles kept_;
};

}  // namespace stereosweep::model
