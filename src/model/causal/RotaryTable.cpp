#include "model/causal/RotaryTable.hpp"

#include <ATen/ops/cat.h>

#include <utility>

#include "model/kernels/Segments.hpp"

namespace stereosweep::model {

namespace {

constexpr std::int64_t positions_at_once = 1024;  // always as many: a vector library's last bits may follow the length

}  // namespace

RotaryTable::RotaryTable(Rotary rotary, const at::Device& device, Kernels kernels)
    : rotary_(std::move(rotary)), device_(device), kernels_(kernels) {}

RotaryAngles RotaryTable::at_least(std::int64_t positions) {
  if (kernels_ == Kernels::own_kernels) {
    return rotary_angles(rotary_, 0, positions);
  }
  const std::scoped_lock lock(mutex_);
  const auto present = [this] { return kept_.cosines.defined() ? kept_.cosines.size(0) : 0; };
  while (present() < positions) {
    const auto more = angles_by_number(rotary_, rotary_angles(rotary_, present(), positions_at_once));
    const auto append = [this](at::Tensor& kept, const at::Tensor& added) {
      const auto sent = sent_to(added, device_);
      kept = kept.defined() ? at::cat({kept, sent}) : sent;
    };
    append(kept_.cosines, more.cosines);
    append(kept_.sines, more.sines);
  }
  return kept_;
}

}  // namespace stereosweep::model
