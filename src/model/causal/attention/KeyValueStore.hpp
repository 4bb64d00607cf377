// Tree attention by torch's operators, on any device: keys and values of a growing tree's rows lie row by row in slots.
//   shapes  keys and values of a layer: [slots, key heads * width]; last stride 1
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/causal/TokenTree.hpp"
#include "model/causal/attention/RegionAllocator.hpp"
#include "model/causal/attention/TreeAttention.hpp"
#include "model/kernels/SegmentAttention.hpp"

namespace stereosweep::model {

/// What the tree attentions by torch's operators share.
class KeyValueStore : public TreeAttention {
 public:
  KeyValueStore(const CausalSpecification& specification, const KeptSize& size, const at::TensorOptions& options);

  void grow(const TokenTree& tree) override;
  std::int64_t rows() const override { return std::ssize(slots()); }
  void keep_only(std::span<const std::int32_t> rows) override;
  std::int64_t slots_in_use() const override { return rows(); }
  /// Where one call brings all rows of a forward pass, they stay where they lie.
  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key, const at::Tensor& value) override;

 protected:
  std::span<const std::int32_t> slots() const { return allocator_.slots(); }  ///< [row]
  /// Keys and values: [slots, 2 * columns].
  const at::Tensor& rows_of(int layer) const { return kept(layer); }

  const CausalSpecification& specification_;
  AttentionHeads heads_;
  at::TensorOptions options_;

 private:
  const at::Tensor& places(std::int64_t first, std::int64_t count);
  at::Tensor& room(int number);  ///< for copies of a layer's rows
  at::Tensor& kept(int number) { return layers_[static_cast<std::size_t>(number) % layers_.size()]; }
  const at::Tensor& kept(int number) const { return layers_[static_cast<std::size_t>(number) % layers_.size()]; }

  std::int64_t columns_ = heads_.keys * heads_.width;
  std::int64_t most_rows_;
  bool one_pass_;
  std::int64_t capacity_ = 0;
  RegionAllocator allocator_;
  std::vector<at::Tensor> layers_;             ///< [slots, 2 * columns]: a row's key, then its value; or undefined
  std::map<std::int64_t, at::Tensor> places_;  ///< by first row: slots of the rows that a layer keeps together, int64
};

/// Level by level: keys and values are read where they lie. Scores have no cap.
std::unique_ptr<TreeAttention> make_level_attention(const CausalSpecification& specification,
                                                    std::vector<at::Tensor> sinks, const KeptSize& size,
                                                    const at::TensorOptions& options);

/// Where scores have a cap: keys and values are gathered path by path, and paths of equal shapes are computed together.
std::unique_ptr<TreeAttention> make_path_attention(const CausalSpecification& specification, const KeptSize& size,
                                                   const at::TensorOptions& options);

}  // namespace stereosweep::model
