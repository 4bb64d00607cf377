// Masked models (BERT and its kin): packed token ids in, hidden states and vocabulary logits out.
//   shapes   hidden states [row, hidden]; logits [row, vocabulary] float32
//   rows     of a packed batch count its tokens from 0, sequence after sequence
//   errors   InputError (exit 2) from `load` names the file and the field or tensor; everything else is a contract
//   bits     a function of the batch, the rows, the dtype and the thread count alone, on one kind of processor
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/files/File.hpp"
#include "model/kernels/Kernels.hpp"
#include "query/Compute.hpp"
#include "query/Query.hpp"

namespace stereosweep::model {

/// Sequences back to back, no padding. The sum of `lengths` is the number of ids; no length is 0.
struct Packed {
  std::vector<query::TokenId> ids;
  std::vector<std::int32_t> lengths;
};

struct MaskedSpecification;
struct MaskedWeights;

/// Immutable after loading; safe to use from several threads.
class MaskedModel {
 public:
  static std::unique_ptr<MaskedModel> load(const base::FileSet& files, query::Dtype dtype, query::Device device);
  virtual ~MaskedModel() = default;

  virtual const ModelShape& shape() const = 0;
  /// Hidden state number `layer` (0 = embeddings' output, num_layers = last) of the given rows (sorted, distinct):
  /// [rows, hidden] in the model's dtype, on its device.
  virtual at::Tensor hidden(const Packed& batch, int layer, std::span<const std::int64_t> rows) const = 0;
  /// Rows of the input embedding matrix, as they are stored: [ids, embedding] in the model's dtype, on its device.
  virtual at::Tensor input_embeddings(std::span<const query::TokenId> ids) const = 0;
  /// The vector that the decoder matrix multiplies (BERT: transform; RoBERTa: LayerNorm(gelu(dense h))):
  /// [rows, embedding] float32. Needs a head.
  virtual at::Tensor head_input(const at::Tensor& hidden) const = 0;
  /// [rows, vocabulary] float32, decoder bias included. Needs a head.
  virtual at::Tensor logits(const at::Tensor& head_input) const = 0;
  /// [vocabulary] float32, on the model's device. Needs a head.
  virtual const at::Tensor& decoder_bias() const = 0;
};

/// The encoder with the head of its family.
std::unique_ptr<MaskedModel> make_masked_model(MaskedSpecification specification, MaskedWeights weights);

}  // namespace stereosweep::model
