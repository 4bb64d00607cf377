#include "model/causal/attention/KeyValueStore.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "model/kernels/Segments.hpp"

namespace stereosweep::model {
namespace {

// Room for at least `needed` where there was room for `capacity`; `most` as in KeptSize.
std::int64_t grown_capacity(std::int64_t needed, std::int64_t capacity, std::int64_t most) {
  const auto roomy = capacity + capacity / 2;
  return std::max(needed, most > 0 ? std::min(roomy, most) : roomy);
}

// Keys with their values beside them: where one product put out both, they lie so already.
at::Tensor side_by_side(const at::Tensor& key, const at::Tensor& value) {
  const bool are_neighbours = key.is_alias_of(value) && key.strides() == value.strides() && key.stride(1) == 1 &&
                              value.storage_offset() == key.storage_offset() + key.size(1);
  return are_neighbours
             ? key.as_strided({key.size(0), key.size(1) + value.size(1)}, key.strides(), key.storage_offset())
             : at::cat({key, value}, 1);
}

}  // namespace

KeyValueStore::KeyValueStore(const CausalSpecification& specification, const KeptSize& size,
                             const at::TensorOptions& options)
    : specification_(specification),
      heads_{specification.num_heads, specification.num_key_heads, specification.head_width},
      options_(options),
      most_rows_(size.most_rows),
      one_pass_(size.layers == 1 && size.placement == Placement::dense),
      allocator_(size.most_rows, size.placement),
      layers_(static_cast<std::size_t>(size.layers)) {}

void KeyValueStore::grow(const TokenTree& tree) {
  places_.clear();
  allocator_.grow(tree);
  if (allocator_.end() <= capacity_) {
    return;
  }
  capacity_ = grown_capacity(allocator_.end(), capacity_, most_rows_);
  for (auto& old : layers_) {
    if (old.defined()) {
      auto next = at::empty({capacity_, 2 * columns_}, options_);
      next.slice(0, 0, old.size(0)).copy_(old);
      old = std::move(next);
    }
  }
}

at::Tensor& KeyValueStore::room(int number) {
  auto& rows = kept(number);
  if (!rows.defined()) {
    rows = at::empty({capacity_, 2 * columns_}, options_);
  }
  return rows;
}

void KeyValueStore::keep_only(std::span<const std::int32_t> rows) {
  allocator_.keep_only(rows);
  places_.clear();
}

const at::Tensor& KeyValueStore::places(std::int64_t first, std::int64_t count) {
  auto& list = places_[first];
  if (!list.defined() || list.size(0) != count) {
    const auto from = slots().begin() + first;
    list = on_device(std::vector<std::int32_t>(from, from + count), options_.device()).to(at::kLong);
  }
  return list;
}

void KeyValueStore::keep(int number, std::int64_t first, std::int64_t count, const at::Tensor& key,
                         const at::Tensor& value) {
  const auto all = side_by_side(key, value);
  const auto rows = all.size(0) == count ? all : all.slice(0, 0, count);
  if (one_pass_ && count == this->rows()) {  // dense rows have slots from 0 on, in their order
    kept(number) = rows;
    return;
  }
  const auto from = slots().begin() + first;
  const bool are_neighbours =
      std::adjacent_find(from, from + count, [](auto left, auto right) { return right != left + 1; }) == from + count;
  if (are_neighbours) {
    room(number).slice(0, *from, *from + count).copy_(rows);
  } else {
    put_rows(room(number), places(first, count), rows);
  }
}

}  // namespace stereosweep::model
