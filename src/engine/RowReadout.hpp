// One row of logits -> the numbers of a slot.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/SetDistance.hpp"
#include "engine/SoftmaxRow.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// Reads several slots off one row; what they share (sums, the kept top) is computed once. Owns nothing it is given.
class RowReadout {
 public:
  /// `logits`, `bias` [vocabulary]; `head_input` [hidden]: the vector that the decoder multiplied.
  RowReadout(std::span<const float> logits, std::span<const float> head_input, std::span<const float> bias,
             const ClassMask& classes);

  /// False if a logit is not finite: then there are no numbers.
  bool usable() const { return sums_.has_value(); }
  /// Fills `answer` for the targets of `slot` as `fill` asks.
  void read(const query::Fill& fill, const query::MaskSlot& slot, query::SlotAnswer& answer);

 private:
  void prepare_set();

  std::span<const float> logits_;
  std::span<const float> head_input_;
  std::span<const float> bias_;
  std::optional<LogSums> sums_;
  std::vector<float> plain_logits_;
  std::optional<SetRow> with_bias_;
  std::optional<SetRow> plain_;
};

}  // namespace stereosweep::engine
