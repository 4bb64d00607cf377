#include "model/FlashAttention.hpp"

#include "base/Check.hpp"
#include "model/CudaLibrary.hpp"

#ifdef STEREOSWEEP_WITH_CUDA
#include <ATen/ops/_flash_attention_forward.h>
#endif

#include <algorithm>
#include <cmath>

namespace stereosweep::model {

#ifdef STEREOSWEEP_WITH_CUDA

bool flash_takes(const at::Tensor& query, std::int64_t num_heads) {
  const auto width = query.size(1) / num_heads;
  return query.is_cuda() && (query.scalar_type() == at::kBFloat16 || query.scalar_type() == at::kHalf) &&
         width % 8 == 0 && width <= 256 && cuda_has_flash();
}

at::Tensor flash_attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const Segments& segments, std::int64_t num_heads) {
  STEREOSWEEP_ASSERT(flash_takes(query, num_heads), "the operator does not take these rows");
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows) { return rows.unflatten(1, {num_heads, width}); };
  // With a longest query of 1 the operator may take a path that assumes one query in every sequence; ours may have
  // none.
  const auto longest_query = std::max<std::int64_t>(2, longest(segments.query_begin));
  const auto out = at::_flash_attention_forward(
      by_head(query), by_head(key), by_head(value), segments.device_query_begin, segments.device_key_begin,
      longest_query, longest(segments.key_begin), 0.0, false, false, 1 / std::sqrt(static_cast<double>(width)));
  return std::get<0>(out).flatten(1, 2);
}

at::Tensor flash_attend_paths(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                              const FlashPaths& paths) {
  STEREOSWEEP_ASSERT(flash_takes(query, paths.num_heads), "the operator does not take these rows");
  const auto width = query.size(1) / paths.num_heads;
  const auto keys_by_head = [&](const at::Tensor& rows) { return rows.unflatten(1, {paths.num_key_heads, width}); };
  const std::int64_t window_left = paths.window > 0 ? paths.window - 1 : -1;  // -1: no window
  // Causal is aligned at the last query and the last key. With a longest query of 1 and grouped heads the operator
  // swaps queries and groups, which the window does not survive.
  const auto out = at::_flash_attention_forward(
      query.unflatten(1, {paths.num_heads, width}), keys_by_head(key), keys_by_head(value), paths.query_begin,
      paths.key_begin, std::max<std::int64_t>(2, paths.longest_query), paths.longest_key, 0.0, true, false,
      static_cast<double>(paths.scale), window_left, std::nullopt);
  return std::get<0>(out).flatten(1, 2);
}

#else

bool flash_takes(const at::Tensor&, std::int64_t) { return false; }

at::Tensor flash_attend(const at::Tensor&, const at::Tensor&, const at::Tensor&, const Segments&, std::int64_t) {
  STEREOSWEEP_ASSERT(false, "built without CUDA");
  return {};
}

at::Tensor flash_attend_paths(const at::Tensor&, const at::Tensor&, const at::Tensor&, const FlashPaths&) {
  STEREOSWEEP_ASSERT(false, "built without CUDA");
  return {};
}

#endif

}  // namespace stereosweep::model
