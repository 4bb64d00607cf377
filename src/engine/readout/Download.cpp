#include "engine/readout/Download.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <utility>

#include "base/Lists.hpp"

namespace stereosweep::engine {

Download::Download(std::vector<at::Tensor> parts) : parts_(std::move(parts)) {
  for (auto& part : parts_) {
    part = part.contiguous();
  }
  const auto device = parts_.front().device();
  if (device.is_cpu()) {
    return;
  }
  auto order = base::places_below(parts_.size());
  // The widest numbers first: then each part begins at a multiple of the width of its numbers.
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return parts_[i].element_size(); });
  std::vector<at::Tensor> words;
  std::int64_t bytes = 0;
  begins_.resize(parts_.size());
  for (const auto i : order) {
    begins_[i] = bytes;
    bytes += static_cast<std::int64_t>(parts_[i].nbytes());
    words.push_back(parts_[i].flatten().view(at::kInt));
  }
  const auto all = words.size() == 1 ? words.front() : at::cat(words);
  copy_ = at::empty(all.sizes(), at::TensorOptions(at::kInt).pinned_memory(true));
  copy_.copy_(all, /*non_blocking=*/true);
  done_ = std::make_shared<c10::Event>(device.type());
  done_->record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

const std::vector<at::Tensor>& Download::parts() {
  if (!done_) {
    return parts_;
  }
  done_->synchronize();
  done_.reset();
  const auto bytes = copy_.view(at::kByte);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto own = bytes.slice(0, begins_[i], begins_[i] + static_cast<std::int64_t>(parts_[i].nbytes()));
    parts_[i] = own.view(parts_[i].scalar_type()).view(parts_[i].sizes());
  }
  return parts_;
}

}  // namespace stereosweep::engine
