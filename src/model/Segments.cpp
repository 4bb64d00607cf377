#include "model/Segments.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>

#include <algorithm>

namespace stereosweep::model {

std::int64_t longest(std::span<const std::int32_t> begins) {
  std::int64_t most = 0;
  for (std::size_t i = 1; i < begins.size(); ++i) {
    most = std::max<std::int64_t>(most, begins[i] - begins[i - 1]);
  }
  return most;
}

std::size_t Staging::add(std::span<const std::int32_t> values) {
  values_.insert(values_.end(), values.begin(), values.end());
  begins_.push_back(static_cast<std::int64_t>(values_.size()));
  return begins_.size() - 2;
}

void Staging::send(const at::Device& device) {
  const auto options = at::TensorOptions(at::kInt).pinned_memory(device.is_cuda());
  const auto host = at::empty({begins_.back()}, options);
  std::copy(values_.begin(), values_.end(), host.mutable_data_ptr<std::int32_t>());
  sent_ = host.to(device, device.is_cuda());
}

at::Tensor Staging::at(std::size_t index) const { return sent_.slice(0, begins_[index], begins_[index + 1]); }

at::Tensor rows_of(const at::Tensor& matrix, std::span<const std::int32_t> rows) {
  Staging staging;
  const auto list = staging.add(rows);
  staging.send(matrix.device());
  return matrix.index_select(0, staging.at(list));
}

}  // namespace stereosweep::model
