// One forward pass of a causal model over new rows of a tree. Rows go through a layer some hundred at a time: what a
// layer computes stays in the caches, memory does not grow with the batch, and products have few shapes. Only the
// residual stream and the keys and values are kept whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "model/CausalSpecification.hpp"
#include "model/CausalWeights.hpp"
#include "model/Projected.hpp"
#include "model/Rotary.hpp"
#include "model/TokenTree.hpp"
#include "model/TreeAttention.hpp"
#include "parallel/TensorGroup.hpp"

namespace stereosweep::model {

struct PassSettings {
  std::int64_t rows_at_once = 0;
  Kernels kernels = Kernels::own_kernels;
  /// Ranks that hold the other slices; null: this is the whole model.
  std::shared_ptr<parallel::TensorGroup> group = nullptr;
};

class CausalPass {
 public:
  /// Everything is borrowed. `routers` [layer]: float32. The tree's rows from attention.rows() on are new.
  CausalPass(const CausalSpecification& specification, const CausalWeights& weights,
             std::span<const at::Tensor> routers, const PassSettings& settings, TreeAttention& attention,
             const TokenTree& tree);

  /// The given new rows (sorted, distinct) after the first `layers` layers, before the final norm: [rows, hidden].
  at::Tensor run(int layers, std::span<const std::int64_t> rows);
  at::Tensor normalized(const at::Tensor& states, const Norm& norm) const;

 private:
  // Rows that go through a layer together. Products have `size` rows; those beyond the real ones fill up.
  struct Group {
    std::vector<std::int64_t> rows;
    std::vector<std::int32_t> positions;
    std::int64_t size = 0;
    std::map<std::int64_t, std::unique_ptr<TreeAttention::Queries>> queries;  // by window
    std::vector<Turns> turns;                                                 // by rotary, for operators only
  };

  Group group_of(std::vector<std::int64_t> rows) const;
  std::vector<Group> groups_of(std::span<const std::int64_t> rows) const;
  at::Tensor embed(const Group& group) const;
  at::Tensor before_attention(const CausalLayer& layer, const at::Tensor& states) const;
  Projected project(const CausalLayer& layer, const at::Tensor& normed) const;
  void turn(int number, const at::Tensor& rows, std::int64_t heads, const std::optional<Norm>& norm,
            const Group& group) const;
  void keep(int number, const Projected& projected, const Group& group);
  at::Tensor attend(int number, const at::Tensor& query, Group& group);
  at::Tensor summed(at::Tensor part) const;
  at::Tensor feed(int number, const at::Tensor& input, const at::Tensor& residual) const;
  at::Tensor finish(int number, const at::Tensor& states, const at::Tensor& normed, const at::Tensor& mixed) const;
  void run_layer(int number);
  at::Tensor run_last_layer(int number, std::span<const std::int64_t> rows);

  const CausalSpecification& specification_;
  const CausalWeights& weights_;
  std::span<const at::Tensor> routers_;
  PassSettings settings_;
  TreeAttention& attention_;
  const TokenTree& tree_;
  std::int64_t first_row_;
  std::vector<Turns> turns_;  // by rotary: all positions of the tree; for operators on the device
  std::vector<Group> groups_;
  std::vector<at::Tensor> states_;  // [group] of [size, hidden]
};

}  // namespace stereosweep::model
