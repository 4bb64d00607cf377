// Keys and values of a tree's rows and the attention over them: every row attends to the rows of its path up to itself.
//   shapes  query [queries, heads * width], key and value [rows, key heads * width], last stride 1
//           -> [queries, heads * width] in the same dtype
//   bits    a function of the tree, the queries and the order of the calls
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/causal/CausalModel.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {

/// One forward pass, or all steps of a generation. Not for several threads at once.
class TreeAttention : public CausalModel::Memory {
 public:
  /// Queries that were chosen once for all layers with the same window.
  class Queries {
   public:
    virtual ~Queries() = default;
  };

  /// Makes room for the rows of `tree` from rows() on. What was kept stays.
  virtual void grow(const TokenTree& tree) = 0;
  /// The given rows (sorted, distinct) with the keys that they see; window as in LayerKind.
  virtual std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                          std::int64_t window) const = 0;
  /// Keeps the first `count` rows of `key` and `value` as the tree's rows from `first` on: copies of them, or, of a
  /// single forward pass, the tensors themselves, which must not be changed before the layer has attended.
  virtual void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
                    const at::Tensor& value) = 0;
  /// softmax(cap(scale * q k), sink) v for the chosen queries; rows of `query` beyond them become zero. All keys that
  /// they see must have been kept.
  virtual at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const = 0;
};

/// What is kept: `layers` layers (with one, each layer of a forward pass takes the place of the one before), of
/// `most_rows` rows at most if that is known, else 0. Our own kernels ask for room for all of them at once (the system
/// gives memory when it is written); on a device room grows by halves up to them, and beyond them only as it must.
struct KeptSize {
  int layers = 1;
  std::int64_t most_rows = 0;
  Placement placement = Placement::dense;
};

/// By our own kernels (CPU only), or by torch's operators, on any device.
/// `specification` must outlive it. `sinks`: by layer [heads] float32: a score that takes its share of the weights and
/// has no value; or empty. Neither they nor alibi go with a cap.
std::unique_ptr<TreeAttention> make_tree_attention(const CausalSpecification& specification,
                                                   std::vector<at::Tensor> sinks, const KeptSize& size,
                                                   const at::TensorOptions& options, Kernels kernels);

/// [heads, positions] float32 on the CPU: what alibi adds to the score of a key at each position of a model of that
/// type, before alibi_scale.
at::Tensor alibi_of(const CausalSpecification& specification, std::int64_t positions, at::ScalarType type);

/// Scores that are computed together without an operator for attention take so many bytes at most, and so do the rows
/// that they are made of.
inline constexpr std::int64_t most_scores_bytes = std::int64_t{1} << 28;
/// Rows of keys and values that attention may copy for each row that is seen, to read short paths in one piece.
inline constexpr std::int64_t most_copies = 4;

}  // namespace stereosweep::model
