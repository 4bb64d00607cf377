// The BERT body with either head, over packed rows.
#pragma once

#include <memory>

#include "model/Attention.hpp"
#include "model/EncoderWeights.hpp"
#include "model/MaskedModel.hpp"
#include "model/Projected.hpp"

namespace stereosweep::model {

class Encoder : public MaskedModel {
 public:
  Encoder(CheckpointConfig config, EncoderWeights weights);

  const EncoderShape& shape() const override { return shape_; }
  at::Tensor hidden(const Packed& batch, int layer, std::span<const std::int64_t> rows) const override;
  at::Tensor input_embeddings(std::span<const query::TokenId> ids) const override;
  at::Tensor head_input(const at::Tensor& hidden) const override;
  at::Tensor logits(const at::Tensor& head_input) const override;
  const at::Tensor& decoder_bias() const override;

 private:
  std::vector<std::int32_t> positions_of(const Packed& batch) const;
  at::Tensor embed(const at::Tensor& ids, const at::Tensor& positions) const;
  at::Tensor attend_timed(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments) const;
  /// The first of several layers: `distinct` [distinct tokens, hidden], `tokens` which of them each token is.
  at::Tensor run_first_layer(const at::Tensor& distinct, const at::Tensor& tokens, const Segments& segments) const;
  at::Tensor run_layer(const LayerWeights& layer, const at::Tensor& states, const Segments& segments,
                       const at::Tensor* rows) const;
  /// From queries [rows, hidden], keys and values [tokens, hidden] to the layer's output; `kept` is its input at
  /// `rows`.
  at::Tensor finish_layer(const LayerWeights& layer, const Projected& projected, const at::Tensor& kept,
                          const Segments& segments) const;
  at::Tensor normalize(const at::Tensor& states, const Norm& norm) const;
  const HeadWeights& head() const;

  CheckpointConfig config_;
  EncoderWeights weights_;
  EncoderShape shape_;
};

}  // namespace stereosweep::model
