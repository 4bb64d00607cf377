// Rows of logits -> the numbers that queries ask for: by our own kernels on the CPU, by torch's operators where the
// logits are elsewhere, so that only numbers that somebody asked for travel.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/QueryInput.hpp"
#include "engine/readout/Download.hpp"
#include "engine/readout/SetDistance.hpp"
#include "engine/readout/SoftmaxRow.hpp"
#include "model/kernels/Kernels.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// What is asked of one row.
struct AskedRow {
  std::int64_t row = 0;
  std::span<const query::TokenId> targets;  ///< whose log-probabilities are wanted
  bool set_distances = false;               ///< of the targets, too
  bool class_masses = false;
};

class LogitsReader {
 public:
  using Answers = std::vector<std::optional<query::SlotAnswer>>;

  /// `kernels`: who reads the logits. `bias` [vocabulary] float32: the decoder's, where the logits will be; only
  /// distances and masses of classes need it.
  LogitsReader(ClassMask classes, model::Kernels kernels, at::Tensor bias = {});

  /// Starts to read; what comes back waits for the device and gives one answer for each of `asked` (neighbours share a
  /// row; what they point to must stay), in its order; nothing where a logit of the row is not finite. `logits`
  /// [rows, vocabulary] float32. `head_input` [rows, hidden] float32, which only distances need. Sums are those of
  /// `log_sums`, by operators float32; distances follow from the largest entries of a row in float64, and from all of
  /// them where those prove too few.
  Later<Answers> read(const at::Tensor& logits, const at::Tensor& head_input, std::vector<AskedRow> asked) const;

 private:
  class RowSets;
  class OwnRows;
  class DeviceRows;
  Answers read_rows(auto& rows, std::span<const AskedRow> asked) const;

  ClassMask classes_;
  model::Kernels kernels_;
  at::Tensor bias_;
  at::Tensor only_initial_;  ///< [vocabulary] 0 for a token that begins a word, else -infinity
  at::Tensor only_continuation_;
  std::vector<float> host_bias_;
};

// On a device, by torch's operators.

/// The numbers at `places` [any number] int32 of a matrix: row * stride(0) + column. Its stride(1) is 1.
at::Tensor numbers_at(const at::Tensor& matrix, const at::Tensor& places);

/// Of one row what at::topk has put out, on the host: `values` float32, `columns` int32, contiguous.
std::vector<Logit> logits_at(const at::Tensor& values, const at::Tensor& columns, std::int64_t row);

/// [rows] log-sum-exp of every row; NaN or infinite where a logit of the row is not finite.
at::Tensor checked_sums(const at::Tensor& logits);

}  // namespace stereosweep::engine
