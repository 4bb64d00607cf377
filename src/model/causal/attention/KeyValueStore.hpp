// Keys and values of a growing tree's rows on any device, row by row in slots.
//   shapes  keys and values of a layer: [slots, key heads * width]; last stride 1
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/RegionAllocator.hpp"
#include "model/causal/attention/TreeAttention.hpp"

namespace stereosweep::model {

class KeyValueStore {
 public:
  /// `columns`: key heads * width.
  KeyValueStore(std::int64_t columns, const KeptSize& size, const at::TensorOptions& options);

  void grow(const TokenTree& tree);
  std::int64_t rows() const { return std::ssize(slots()); }
  void keep_only(std::span<const std::int32_t> rows);
  /// As TreeAttention::keep. Where one call brings all rows of a forward pass, they stay where they lie.
  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key, const at::Tensor& value);

  std::span<const std::int32_t> slots() const { return allocator_.slots(); }  ///< [row]
  at::Tensor keys(int layer) const;
  at::Tensor values(int layer) const;
  /// Both: [slots, 2 * columns].
  const at::Tensor& rows_of(int layer) const { return kept(layer); }

 private:
  const at::Tensor& places(std::int64_t first, std::int64_t count);
  at::Tensor& room(int number);  ///< for copies of a layer's rows
  at::Tensor& kept(int number) { return layers_[static_cast<std::size_t>(number) % layers_.size()]; }
  const at::Tensor& kept(int number) const { return layers_[static_cast<std::size_t>(number) % layers_.size()]; }

  std::int64_t columns_;
  at::TensorOptions options_;
  std::int64_t most_rows_;
  bool one_pass_;
  std::int64_t capacity_ = 0;
  RegionAllocator allocator_;
  std::vector<at::Tensor> layers_;             ///< [slots, 2 * columns]: a row's key, then its value; or undefined
  std::map<std::int64_t, at::Tensor> places_;  ///< by first row: slots of the rows that a layer keeps together, int64
};

/// What the tree attentions by torch's operators share.
class StoredAttention : public TreeAttention {
 public:
  StoredAttention(std::int64_t columns, const KeptSize& size, const at::TensorOptions& options)
      : store_(columns, size, options) {}

  void grow(const TokenTree& tree) override { store_.grow(tree); }
  std::int64_t rows() const override { return store_.rows(); }
  void keep_only(std::span<const std::int32_t> rows) override { store_.keep_only(rows); }
  std::int64_t slots_in_use() const override { return store_.rows(); }
  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
            const at::Tensor& value) override {
    store_.keep(layer, first, count, key, value);
  }

 protected:
  KeyValueStore store_;
};

}  // namespace stereosweep::model
