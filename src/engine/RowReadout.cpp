#include "engine/RowReadout.hpp"

namespace stereosweep::engine {

RowReadout::RowReadout(std::span<const float> logits, std::span<const float> head_input, std::span<const float> bias,
                       const ClassMask& classes)
    : logits_(logits), head_input_(head_input), bias_(bias), sums_(log_sums(logits, classes)) {}

void RowReadout::read(const query::Fill& fill, const query::MaskSlot& slot, query::SlotAnswer& answer) {
  answer.logprob.reserve(slot.targets.size());
  for (const auto target : slot.targets) {
    answer.logprob.push_back(static_cast<double>(logits_[static_cast<std::size_t>(target)]) - sums_->total);
  }
  if (fill.class_masses) {
    answer.log_mass_initial = sums_->initial - sums_->total;
    answer.log_mass_continuation = sums_->continuation - sums_->total;
  }
  if (!fill.set_distances) {
    return;
  }
  prepare_set();
  answer.set.reserve(slot.targets.size());
  for (const auto target : slot.targets) {
    const auto with_bias = with_bias_->solve(static_cast<std::size_t>(target));
    const auto plain = plain_->solve(static_cast<std::size_t>(target));
    answer.set.push_back({with_bias.distance, plain.distance, with_bias.active, plain.active, with_bias.threshold,
                          plain.threshold, with_bias.status, plain.status});
  }
}

void RowReadout::prepare_set() {
  if (with_bias_) {
    return;
  }
  double squared_norm = 0;
  for (const float value : head_input_) {
    squared_norm += static_cast<double>(value) * static_cast<double>(value);
  }
  plain_logits_.resize(logits_.size());
  for (std::size_t i = 0; i < logits_.size(); ++i) {
    plain_logits_[i] = logits_[i] - bias_[i];
  }
  with_bias_.emplace(logits_, squared_norm + 1);  // the bias is a column that meets a 1
  plain_.emplace(plain_logits_, squared_norm);
}

}  // namespace stereosweep::engine
