// Causal models (GPT-2, LLaMA, ...): a tree of token ids in, hidden states and vocabulary logits out.
//   shapes   hidden states [row, hidden]; logits [row, vocabulary] float32
//   rows     of a tree count its tokens from 0, branch after branch
//   errors   InputError (exit 2) from `load` names the file and the field or tensor; everything else is a contract
//   bits     a function of the tree, the rows, the dtype and the thread count alone, on one kind of processor
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>

#include "base/files/File.hpp"
#include "model/causal/TokenTree.hpp"
#include "model/kernels/Kernels.hpp"
#include "parallel/TensorGroup.hpp"
#include "query/Compute.hpp"

namespace stereosweep::model {

struct CausalSpecification;
struct BodyWeights;

struct PassSettings {
  std::int64_t rows_at_once = 0;  ///< 0: what is fastest on the weights' device with the present number of threads
  Kernels kernels = Kernels::own_kernels;
  /// Ranks that hold the other slices; null: this is the whole model.
  std::shared_ptr<parallel::TensorGroup> group = nullptr;
  /// On a device so many rows of a slice, or more, go through the layers in halves: see TensorGroup.
  std::int64_t least_rows_of_halves = parallel::least_rows_of_halves;
};

/// Immutable after loading; safe to use from several threads.
class CausalModel {
 public:
  /// Keys and values of the rows that were computed so far: for generation, where a tree grows by a token per sequence
  /// and step. Belongs to the model that made it.
  class Memory {
   public:
    virtual ~Memory() = default;
    /// Rows of the tree that are remembered.
    virtual std::int64_t rows() const = 0;
    /// Forgets all rows but these: row i is from now on what was row rows[i] (each at most once), and the next tree
    /// counts them so. The room of the others is used again.
    virtual void keep_only(std::span<const std::int32_t> rows) = 0;
    /// Rows whose room is taken: at least those that are remembered. A branch of n rows takes whole_blocks(n) at most.
    virtual std::int64_t slots_in_use() const = 0;
  };

  /// `group`: ranks that hold the model together, a slice each; all of them make the same calls, and get the same
  /// answers. Null: this rank holds all of it.
  static std::unique_ptr<CausalModel> load(const base::FileSet& files, query::Dtype dtype, query::Device device,
                                           std::shared_ptr<parallel::TensorGroup> group = nullptr);
  virtual ~CausalModel() = default;

  virtual const ModelShape& shape() const = 0;
  /// Hidden state number `layer` as transformers' hidden_states (0 = embeddings' output, num_layers = last, with the
  /// final norm) of the given rows (sorted, distinct): [rows, hidden] in the model's dtype, on its device.
  /// `layer` < num_layers: before the final norm.
  virtual at::Tensor hidden(const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const = 0;
  /// Rows of the input embedding matrix, as they are stored (without Gemma's scale): [ids, hidden] in the model's
  /// dtype, on its device.
  virtual at::Tensor input_embeddings(std::span<const query::TokenId> ids) const = 0;
  /// [rows, hidden] of the last layer -> [rows, vocabulary] float32. Needs a head.
  virtual at::Tensor logits(const at::Tensor& hidden) const = 0;

  /// Of `most_rows` rows at most, if that is known, else 0: room beyond them is taken only as it must.
  virtual std::unique_ptr<Memory> remember(std::int64_t most_rows) const = 0;
  /// The last hidden state of some of the rows from memory.rows() on; afterwards the whole tree is remembered. The tree
  /// must begin with what is remembered, and new tokens form new branches.
  virtual at::Tensor extend(Memory& memory, const TokenTree& tree, std::span<const std::int64_t> rows) const = 0;
};

/// The one decoder that every causal family is a setting of.
std::unique_ptr<CausalModel> make_causal_model(CausalSpecification specification, BodyWeights weights,
                                               PassSettings settings = {});

}  // namespace stereosweep::model
