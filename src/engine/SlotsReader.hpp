// Rows of masked logits -> the numbers of slots, by torch's operators where the logits are: what `RowReadout` reads off
// one row on the host. Only numbers that somebody asked for travel.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "engine/SoftmaxRow.hpp"
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
  /// `bias` [vocabulary] float32: the decoder's, where the logits will be.
  SlotsReader(const ClassMask& classes, at::Tensor bias);

  /// One answer for each of `asked`, in its order; nothing where a logit of the row is not finite. `logits` [rows,
  /// vocabulary] and `head_input` [rows, hidden], both float32. Sums are float32; distances follow from the
  /// largest entries of a row in float64, and from all of them where those prove too few.
  std::vector<std::optional<query::SlotAnswer>> read(const at::Tensor& logits, const at::Tensor& head_input,
                                                     std::span<const SlotAtRow> asked) const;

 private:
  struct Sets;
  class RowSets;
  at::Tensor sums_of(const at::Tensor& logits) const;
  Sets read_sets(const at::Tensor& logits, const at::Tensor& head_input) const;

  at::Tensor bias_;
  at::Tensor only_initial_;  ///< [vocabulary] 0 for a token that begins a word, else -infinity
  at::Tensor only_continuation_;
  std::vector<float> host_bias_;
};

}  // namespace stereosweep::engine
