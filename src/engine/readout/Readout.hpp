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
#include "engine/readout/SoftmaxRow.hpp"
#include "model/kernels/Kernels.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// A slot and the row that answers it.
struct SlotAtRow {
  std::int64_t row = 0;
  const query::Fill* fill = nullptr;
  const query::MaskSlot* slot = nullptr;
};

class SlotsReader {
 public:
  using Answers = std::vector<std::optional<query::SlotAnswer>>;

  /// `bias` [vocabulary] float32: the decoder's, where the logits will be; `kernels`: who reads them.
  SlotsReader(ClassMask classes, at::Tensor bias, model::Kernels kernels);

  /// Starts to read; what comes back waits for the device and gives one answer for each of `asked` (by row; what they
  /// point to must stay), in its order; nothing where a logit of the row is not finite. `logits`
  /// [rows, vocabulary] and `head_input` [rows, hidden], both float32. Sums are those of `log_sums`, by operators
  /// float32; distances follow from the largest entries of a row in float64, and from all of them where those prove too
  /// few.
  Later<Answers> read(const at::Tensor& logits, const at::Tensor& head_input, std::vector<SlotAtRow> asked) const;

 private:
  class RowSets;
  class OwnRows;
  class DeviceRows;
  Answers read_rows(auto& rows, std::span<const SlotAtRow> asked) const;

  ClassMask classes_;
  model::Kernels kernels_;
  at::Tensor bias_;
  at::Tensor only_initial_;  ///< [vocabulary] 0 for a token that begins a word, else -infinity
  at::Tensor only_continuation_;
  std::vector<float> host_bias_;
};

class LogitsReader {
 public:
  /// `vocabulary`: width of the logits; `kernels`: who reads them.
  LogitsReader(std::int64_t vocabulary, model::Kernels kernels)
      : no_classes_({}, static_cast<std::size_t>(vocabulary)), kernels_(kernels) {}
  /// Starts to read; what comes back waits for the device: natural logarithms of softmax over the whole width, of the
  /// tokens of `wanted` (any order; what they point to must stay) in its order; NaN where a logit of the row is not
  /// finite. `logits` [row, vocabulary] float32; the first `rows` count. By our own kernels as `log_sums`, by operators
  /// in float32.
  Later<std::vector<double>> log_probabilities(const at::Tensor& logits, std::int64_t rows,
                                               const std::vector<UseAtRow>& wanted) const;

 private:
  ClassMask no_classes_;
  model::Kernels kernels_;
};

// On a device, by torch's operators.

/// The numbers at `places` [any number] int32 of a matrix: row * stride(0) + column. Its stride(1) is 1.
at::Tensor numbers_at(const at::Tensor& matrix, const at::Tensor& places);

/// [rows] log-sum-exp of every row; NaN or infinite where a logit of the row is not finite.
at::Tensor checked_sums(const at::Tensor& logits);

}  // namespace stereosweep::engine
