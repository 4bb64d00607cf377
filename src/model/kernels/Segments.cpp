#include "model/kernels/Segments.hpp"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/Error.hpp"

namespace stereosweep::model {

void check_rows(std::span<const std::int64_t> rows, std::int64_t begin, std::int64_t end) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    STEREOSWEEP_ASSERT(rows[i] >= begin && rows[i] < end && (i == 0 || rows[i - 1] < rows[i]),
                       "rows must be sorted, distinct, new and inside the tree");
  }
}

std::int64_t longest(std::span<const std::int32_t> begins) {
  std::int64_t most = 0;
  for (std::size_t i = 1; i < begins.size(); ++i) {
    most = std::max<std::int64_t>(most, begins[i] - begins[i - 1]);
  }
  return most;
}

std::size_t Staging::append(std::span<const std::byte> bytes, at::ScalarType type) {
  constexpr std::size_t widest = sizeof(double);  // every list begins at a multiple of it
  const auto begin = (bytes_.size() + widest - 1) / widest * widest;
  bytes_.resize(begin);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  lists_.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(bytes_.size()), type});
  return lists_.size() - 1;
}

std::size_t Staging::add(std::span<const std::int32_t> values) { return append(std::as_bytes(values), at::kInt); }
std::size_t Staging::add(std::span<const float> values) { return append(std::as_bytes(values), at::kFloat); }
std::size_t Staging::add(std::span<const double> values) { return append(std::as_bytes(values), at::kDouble); }

void Staging::send(const at::Device& device) {
  const auto options = at::TensorOptions(at::kByte).pinned_memory(!device.is_cpu());
  const auto host = at::empty({std::ssize(bytes_)}, options);
  std::ranges::copy(bytes_, reinterpret_cast<std::byte*>(host.mutable_data_ptr<std::uint8_t>()));
  sent_ = host.to(device, !device.is_cpu());
}

at::Tensor Staging::at(std::size_t index) const {
  const auto& list = lists_[index];
  return sent_.slice(0, list.begin, list.end).view(list.type);
}

at::Tensor sent_to(const at::Tensor& host, const at::Device& device) {
  if (device.is_cpu()) {
    return host;
  }
  return at::empty(host.sizes(), host.options().pinned_memory(true)).copy_(host).to(device, /*non_blocking=*/true);
}

at::Tensor on_device(std::span<const std::int32_t> values, const at::Device& device) {
  Staging staging;
  const auto list = staging.add(values);
  staging.send(device);
  return staging.at(list);
}

at::Tensor rows_of(const at::Tensor& matrix, std::span<const std::int32_t> rows) {
  return matrix.index_select(0, on_device(rows, matrix.device()));
}

DistinctTokens find_distinct(std::span<const query::TokenId> ids, std::span<const std::int32_t> positions) {
  STEREOSWEEP_ASSERT(ids.size() == positions.size(),
                     std::to_string(positions.size()) + " positions for " + std::to_string(ids.size()) + " tokens");
  DistinctTokens found;
  found.rows.reserve(ids.size());
  std::unordered_map<std::uint64_t, std::int32_t> row_of_pair;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto pair =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(positions[i])) << 32 | static_cast<std::uint32_t>(ids[i]);
    const auto [place, is_new] = row_of_pair.try_emplace(pair, static_cast<std::int32_t>(found.ids.size()));
    if (is_new) {
      found.ids.push_back(ids[i]);
      found.positions.push_back(positions[i]);
    }
    found.rows.push_back(place->second);
  }
  return found;
}

void put_rows(at::Tensor target, const at::Tensor& places, const at::Tensor& rows) {
  // Torch's deterministic way sorts the places first, with 13 kernels, for the sake of equal ones.
  const struct Setting {
    bool before = at::globalContext().deterministicAlgorithms();
    ~Setting() { at::globalContext().setDeterministicAlgorithms(before, false); }
  } setting;
  at::globalContext().setDeterministicAlgorithms(false, false);
  target.index_copy_(0, places, rows);
}

}  // namespace stereosweep::model
