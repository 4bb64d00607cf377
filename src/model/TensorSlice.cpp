#include "model/TensorSlice.hpp"

#include <algorithm>
#include <string>

#include "base/Error.hpp"
#include "model/CausalSize.hpp"

namespace stereosweep::model {

CausalSpecification slice_of(const CausalSpecification& whole, TensorSlice slice) {
  if (slice.count == 1) {
    return whole;
  }
  const auto choices = tensor_parallel_choices(whole, slice.count);
  if (std::ranges::find(choices, slice.count) == choices.end()) {
    std::string possible;
    for (const int choice : choices) {
      possible += (possible.empty() ? "" : ", ") + std::to_string(choice);
    }
    const auto why = whole.query_key_norm == QueryKeyNorm::whole
                         ? std::string("its norm of queries and keys runs over all heads")
                         : "it has " + std::to_string(whole.num_heads) + " query heads, " +
                               std::to_string(whole.num_key_heads) + " key heads and " + std::to_string(whole.inner) +
                               " inner numbers";
    throw base::InputError(base::describe("the model cannot be cut into " + std::to_string(slice.count) + " slices",
                                          why, "execution.tensor_parallel can be " + possible));
  }
  auto part = whole;
  part.num_heads = whole.num_heads / slice.count;
  part.num_key_heads = std::max<std::int64_t>(1, whole.num_key_heads / slice.count);
  part.inner = whole.inner / slice.count;
  if (!whole.alibi_slopes.empty()) {
    const auto first = whole.alibi_slopes.begin() + slice.index * part.num_heads;
    part.alibi_slopes.assign(first, first + part.num_heads);
  }
  return part;
}

std::int64_t first_key_head(const CausalSpecification& whole, TensorSlice slice) {
  return slice.index * whole.num_key_heads / slice.count;
}

}  // namespace stereosweep::model
