// Attention inside each sequence of a packed batch where scores depend on the places of query and key: relative
// positions (DeBERTa) and windows (ModernBERT). Torch's operators on any device, sequences of about equal lengths
// together.
//   shapes  query, key, value [tokens, heads * width], last stride 1 -> [tokens, heads * width] in the same dtype; rows
//           that belong to no sequence become zero
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "model/body/BodyWeights.hpp"
#include "model/kernels/Segments.hpp"
#include "model/masked/MaskedSpecification.hpp"

namespace stereosweep::model {

/// Rows of the table of positions for the distances -(length - 1) to length - 1, each [2 length - 1] int64.
struct RelativeIndex {
  at::Tensor keys;     ///< by key's place less query's: what a query adds up with
  at::Tensor queries;  ///< by query's place less key's: what a key adds up with
};

/// For texts of up to `length` tokens. The logarithmic scale is computed by the same operators as transformers'.
RelativeIndex relative_index(const RelativePositions& settings, std::int64_t length, const at::Device& device);

/// What a sequence of `length` tokens is filled up to on a device: a multiple of 16, beyond 128 an eighth more at most.
std::int64_t filled_length(std::int64_t length);

/// Sequences of a batch that are computed together, and what no layer changes. Made once a batch.
class SequenceGroups {
 public:
  /// exact: neighbours of equal lengths, where they lie. filled: all of about equal lengths, filled up to few shapes.
  enum class Lengths { exact, filled };

  SequenceGroups() = default;
  SequenceGroups(const Segments& segments, Lengths lengths, const at::Device& device);
  /// Prepares masks for keys at most `reach` places away, in the dtype of the scores.
  void prepare(std::int64_t reach, at::ScalarType type);

  struct Group {
    std::int64_t count = 0;
    std::int64_t length = 0;
    std::int64_t first_row = 0;  ///< exact: its rows are neighbours from here on
    at::Tensor rows;             ///< filled: [count * length] of the batch, int32; else undefined
    at::Tensor hidden;           ///< filled: [count, 1, 1, length] bool: keys that only fill up
    std::map<std::int64_t, at::Tensor>
        seen;  ///< by reach: exact [length, length] bool; filled: what is added to scores
  };
  std::span<const Group> groups() const { return groups_; }
  const Segments& segments() const { return segments_; }
  /// Of what the groups put out one after the other: [tokens of the batch] places; undefined: they lie in order.
  const at::Tensor& places() const { return places_; }

 private:
  void add_exact();
  void add_filled();

  Segments segments_;
  at::Device device_ = at::kCPU;
  std::vector<Group> groups_;
  at::Tensor places_;
};

/// softmax((q k^T + q K^T + k Q^T) / sqrt(width * terms)) v, K and Q: the layer's `rows` at the distance of each pair,
/// terms: 1 and one for each of them. Computed in float32.
at::Tensor attend_relatively(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                             const SequenceGroups& sequences, std::int64_t num_heads, const RelativeRows& rows,
                             const RelativeIndex& index);

/// softmax(q k^T / sqrt(width)) v over keys at most `reach` places away, for which the sequences were prepared. Flash
/// attention where the device has it.
at::Tensor attend_within(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const SequenceGroups& sequences, std::int64_t num_heads, std::int64_t reach);

}  // namespace stereosweep::model
