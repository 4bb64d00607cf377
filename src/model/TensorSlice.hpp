// Tensor parallelism: a model cut into equal slices, one per rank. Query and key heads and the feed-forward layers'
// inner numbers are shared out; what the slices of a product put out are summands of the whole.
#pragma once

#include "model/CausalSpecification.hpp"

namespace stereosweep::model {

/// Part `index` of `count`.
struct TensorSlice {
  int index = 0;
  int count = 1;
};

/// The settings of one slice: fewer heads, narrower feed-forward layers. Throws InputError with the numbers where the
/// model cannot be cut so.
CausalSpecification slice_of(const CausalSpecification& specification, TensorSlice slice);

/// First key head of a slice; with more slices than key heads several slices hold the same one.
std::int64_t first_key_head(const CausalSpecification& whole, TensorSlice slice);

}  // namespace stereosweep::model
