#include "model/checkpoint/Upload.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace stereosweep::model {

at::Tensor Upload::next(std::int64_t count, at::ScalarType type) {
  current_ = (current_ + 1) % buffers_.size();
  auto& buffer = buffers_[current_];
  if (buffer.copied) {
    buffer.copied->synchronize();
  }
  const auto bytes = count * static_cast<std::int64_t>(c10::elementSize(type));
  if (!buffer.bytes.defined() || buffer.bytes.numel() < bytes) {
    buffer.bytes = at::empty({std::max(usual_bytes, bytes)}, at::TensorOptions(at::kByte).pinned_memory(true));
  }
  filled_ = buffer.bytes.slice(0, 0, bytes).view(type);
  return filled_;
}

void Upload::send(const at::Tensor& destination) {
  auto& buffer = buffers_[current_];
  destination.copy_(filled_.view(destination.sizes()), /*non_blocking=*/true);
  if (!buffer.copied) {
    buffer.copied.emplace(device_.type());
  }
  buffer.copied->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(destination.device()));
}

}  // namespace stereosweep::model
