// The matrices of a checkpoint, found by name, checked, converted once, in the form in which the bodies multiply.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "base/files/File.hpp"
#include "model/causal/CausalSize.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/kernels/Linear.hpp"
#include "model/masked/MaskedSpecification.hpp"

namespace stereosweep::model {

/// One expert, or the only feed-forward layer.
struct FeedForward {
  Linear inner;  ///< [inner, hidden]; gated: [2 inner, hidden], gate before up
  Linear outer;  ///< [hidden, inner]
};

/// One layer. Rows of query_key_value: all queries (head after head), then keys, then values; an encoder has as many
/// of these as queries.
struct Layer {
  std::optional<Norm> attention_norm;         ///< before attention; after_adding: after the first sum
  std::optional<Norm> attention_output_norm;  ///< on attention's output, before it is added
  std::optional<Norm> feed_forward_norm;      ///< before the feed-forward layer; parallel: none means that
                                              ///< attention_norm serves both; after_adding: after the second sum
  std::optional<Norm> feed_forward_output_norm;
  std::optional<Norm> query_norm;  ///< [head_width] or [num_heads * head_width]
  std::optional<Norm> key_norm;
  std::optional<Linear> query_key_value;  ///< all layers but the last
  std::optional<Linear> query;            ///< the last layer: queries are needed for few rows. Not of encoders whose
  std::optional<Linear> key_value;        ///< layers share weights or have rotaries or relative positions
  Linear attention_output;
  FeedForward feed_forward;  ///< without experts
  at::Tensor sinks;          ///< [num_heads] float32: see make_tree_attention; undefined: none
  at::Tensor router;         ///< [experts, hidden]
  at::Tensor router_bias;    ///< [experts]; undefined: none
  std::vector<FeedForward> experts;
};

struct BodyWeights {
  at::Tensor words;      ///< [ids, hidden or embedding]
  at::Tensor positions;  ///< [positions, hidden or embedding]; undefined unless learned
  std::optional<Norm> embedding_norm = std::nullopt;
  std::vector<Layer> layers;
  std::optional<Norm> final_norm;
  at::Tensor head;       ///< [vocabulary, hidden or embedding]; undefined: the checkpoint has no head
  at::Tensor head_bias;  ///< [vocabulary] float32; undefined: none, of decoders alone
};

/// Relative positions as one layer's queries and keys see them: [2 span, hidden]; undefined where they do not.
struct RelativeRows {
  at::Tensor keys;
  at::Tensor queries;
};

/// Row 0 of the token types is added to the positions; without a table of positions it is the only row.
struct MaskedWeights : BodyWeights {
  std::optional<Linear> embedding_projection;  ///< [hidden, embedding]
  std::vector<RelativeRows> relative;          ///< [layer]; empty without relative positions
  std::optional<Linear> head_dense;            ///< [embedding, hidden]; without it the head reads hidden states
  std::optional<Norm> head_norm;
};

/// What a model of these weights is.
ModelShape shape_of(const BodySettings& settings, const BodyWeights& weights);

/// The projection of the head, which the weights give away; none where they have none. Tied word embeddings become its
/// memory where that holds the same numbers. A bias that our own kernels need is zeros.
OutputProjection make_head(BodyWeights& weights, Products products);

/// `specification` is that of the whole model; of the matrices that are shared out only the slice is kept, biases of
/// what is summed up are kept in slice 0. Throws InputError naming file and tensor: missing, wrong shape, not floating,
/// NaN or infinite, unexpected.
BodyWeights load_causal_weights(const base::FileSet& files, const CausalSpecification& specification,
                                const at::TensorOptions& options, TensorSlice slice = {});
/// The same of an encoder, which is never cut. Key heads that several queries share are repeated for each of them.
MaskedWeights load_masked_weights(const base::FileSet& files, const MaskedSpecification& specification,
                                  const at::TensorOptions& options);

}  // namespace stereosweep::model
