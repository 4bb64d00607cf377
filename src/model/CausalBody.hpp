// The one decoder that every causal family is a setting of.
#pragma once

#include <memory>
#include <vector>

#include "model/CausalModel.hpp"
#include "model/CausalPass.hpp"
#include "model/CausalSpecification.hpp"
#include "model/CausalWeights.hpp"
#include "model/Decoder.hpp"

namespace stereosweep::model {

class CausalBody : public CausalModel {
 public:
  /// `settings.rows_at_once` 0: what is fastest on the weights' device with the present number of threads.
  CausalBody(CausalSpecification specification, CausalWeights weights);
  CausalBody(CausalSpecification specification, CausalWeights weights, PassSettings settings);

  const CausalShape& shape() const override { return shape_; }
  at::Tensor hidden(const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const override;
  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override;
  at::Tensor logits(const at::Tensor& hidden) const override;
  std::unique_ptr<Memory> remember(std::int64_t most_rows) const override;
  at::Tensor extend(Memory& memory, const TokenTree& tree, std::span<const std::int64_t> rows) const override;

 private:
  std::unique_ptr<TreeAttention> attention(const KeptSize& size) const;
  at::Tensor run(TreeAttention& attention, const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const;

  CausalSpecification specification_;
  CausalWeights weights_;
  std::vector<at::Tensor> routers_;  ///< [layer] float32; undefined without experts
  PassSettings settings_;
  CausalShape shape_;
  Decoder head_;
};

}  // namespace stereosweep::model
