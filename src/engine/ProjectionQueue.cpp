#include "engine/ProjectionQueue.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace stereosweep::engine {
namespace {

// More logits than caches hold are no gain.
constexpr std::int64_t rows_per_projection = 128;
constexpr std::int64_t logits_per_projection = std::int64_t{1} << 25;
// oneDNN compiles its kernels for each number of rows, some milliseconds each: so these numbers are kept few.
constexpr std::int64_t projection_unit = 32;

}  // namespace

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

at::Tensor on_host(const at::Tensor& tensor) { return tensor.to(at::kCPU, at::kFloat).contiguous(); }

std::span<const float> row_of(const at::Tensor& matrix, std::int64_t row) {
  return {matrix.const_data_ptr<float>() + row * matrix.size(1), static_cast<std::size_t>(matrix.size(1))};
}

ProjectionQueue::ProjectionQueue(std::int64_t vocabulary)
    : rows_per_product_(std::clamp<std::int64_t>(logits_per_projection / std::max<std::int64_t>(1, vocabulary), 1,
                                                 rows_per_projection)) {}

void ProjectionQueue::add(const at::Tensor& hidden, std::span<const std::int64_t> rows) {
  if (rows.empty()) {
    return;
  }
  auto picked = at::empty({std::ssize(rows)}, at::TensorOptions(at::kLong));
  std::copy(rows.begin(), rows.end(), picked.mutable_data_ptr<std::int64_t>());
  hidden_.push_back(at::index_select(hidden, 0, picked.to(hidden.device())));
  size_ += std::ssize(rows);
}

ProjectionQueue::Rows ProjectionQueue::take() {
  const auto count = std::min(rows_per_product_, size_);
  const auto all = hidden_.size() == 1 ? hidden_.front() : at::cat(hidden_);
  hidden_.assign(1, all.narrow(0, count, all.size(0) - count));
  size_ -= count;
  if (size_ == 0) {
    hidden_.clear();
  }
  auto rows = all.narrow(0, 0, count);
  if (const auto spare = rounded_up(count, projection_unit) - count; spare > 0) {
    rows = at::cat({rows, at::zeros({spare, rows.size(1)}, rows.options())});
  }
  return {rows, count};
}

}  // namespace stereosweep::engine
