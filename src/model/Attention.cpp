#include "model/Attention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <cmath>

#include "base/Check.hpp"
#include "model/AttentionKernel.hpp"
#include "model/FlashAttention.hpp"
#include "model/Kernels.hpp"
#include "model/NumberType.hpp"

namespace stereosweep::model {
namespace {

template <class Number>
const Number* data(const at::Tensor& rows) {
  return static_cast<const Number*>(rows.const_data_ptr());
}

constexpr std::int64_t cache_line = 64;

/// Part number `part` of `parts` of a sequence's rows is fetched into the second-level cache.
void fetch_part(const at::Tensor& rows, std::span<const std::int32_t> begins, std::int64_t sequence, std::int64_t part,
                std::int64_t parts) {
  const std::int64_t first = begins[sequence];
  const std::int64_t count = begins[sequence + 1] - first;
  const auto stride = rows.stride(0) * rows.element_size();
  const auto bytes = rows.size(1) * rows.element_size();
  const auto* start = static_cast<const char*>(rows.const_data_ptr());
  for (auto row = first + count * part / parts; row < first + count * (part + 1) / parts; ++row) {
    for (std::int64_t byte = 0; byte < bytes; byte += cache_line) {
      __builtin_prefetch(start + row * stride + byte, 0, 2);
    }
  }
}

template <class Number>
void attend_in(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
               std::int64_t num_heads, const at::Tensor& out) {
  const auto width = query.size(1) / num_heads;
  const auto sequences = static_cast<std::int64_t>(segments.key_begin.size()) - 1;
  const auto one_pair = [&](std::int64_t index, float* scratch) {
    const auto sequence = index / num_heads;
    const auto column = index % num_heads * width;
    const auto first_key = segments.key_begin[sequence];
    const auto first_query = segments.query_begin[sequence];
    HeadTask<Number> task{};
    task.query = data<Number>(query) + first_query * query.stride(0) + column;
    task.key = data<Number>(key) + first_key * key.stride(0) + column;
    task.value = data<Number>(value) + first_key * value.stride(0) + column;
    task.out = static_cast<Number*>(out.mutable_data_ptr()) + first_query * out.stride(0) + column;
    task.query_stride = query.stride(0);
    task.key_stride = key.stride(0);
    task.value_stride = value.stride(0);
    task.out_stride = out.stride(0);
    task.num_queries = segments.query_begin[sequence + 1] - first_query;
    task.num_keys = segments.key_begin[sequence + 1] - first_key;
    task.width = width;
    task.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
    if (task.num_queries > 0) {
      attend_one(task, scratch);
    }
  };
  // What a product has put out is larger than the second-level cache, and one head's part of a row is too short for the
  // processor to guess what comes next: half of the time went by waiting. So each head fetches a part of the rows that
  // the next sequence needs.
  const auto fetch_next = [&](std::int64_t index) {
    const auto next = index / num_heads + 1;
    if (next < sequences) {
      fetch_part(key, segments.key_begin, next, index % num_heads, num_heads);
      fetch_part(value, segments.key_begin, next, index % num_heads, num_heads);
      fetch_part(query, segments.query_begin, next, index % num_heads, num_heads);
    }
  };
  const auto numbers = scratch_numbers(longest(segments.key_begin), width);
  at::parallel_for(0, sequences * num_heads, 16, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = at::empty({numbers}, at::TensorOptions(at::kFloat));  // torch's allocator aligns to 64 bytes
    for (auto index = begin; index < end; ++index) {
      fetch_next(index);
      one_pair(index, scratch.mutable_data_ptr<float>());
    }
  });
}

}  // namespace

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads) {
  STEREOSWEEP_ASSERT(query.stride(1) == 1 && key.stride(1) == 1 && value.stride(1) == 1, "rows must be contiguous");
  if (kernels_on(query.device()) == Kernels::own_kernels) {
    return attend_on_cpu(query, key, value, segments, num_heads);
  }
  return flash_takes(query, num_heads) ? flash_attend(query, key, value, segments, num_heads)
                                       : attend_in_runs(query, key, value, segments, num_heads);
}

at::Tensor attend_on_cpu(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads) {
  const auto out = at::empty({query.size(0), query.size(1)}, query.options());
  out.slice(0, segments.query_begin.back()).zero_();  // rows that belong to no sequence
  with_number(query.scalar_type(),
              [&]<class Number>(Number) { attend_in<Number>(query, key, value, segments, num_heads, out); });
  return out;
}

at::Tensor attend_in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads) {
  const auto& keys = segments.key_begin;
  const auto& queries = segments.query_begin;
  const auto sequences = keys.size() - 1;
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows, std::int64_t begin, std::int64_t end, std::int64_t count) {
    return rows.slice(0, begin, end).unflatten(1, {num_heads, width}).unflatten(0, {count, -1}).transpose(1, 2);
  };
  const auto same_lengths = [&](std::size_t left, std::size_t right) {
    return keys[left + 1] - keys[left] == keys[right + 1] - keys[right] &&
           queries[left + 1] - queries[left] == queries[right + 1] - queries[right];
  };
  auto out = at::empty({query.size(0), query.size(1)}, query.options());
  for (std::size_t first = 0; first < sequences;) {
    auto last = first + 1;
    while (last < sequences && same_lengths(first, last)) {
      ++last;
    }
    const auto count = static_cast<std::int64_t>(last - first);
    if (queries[last] > queries[first]) {
      const auto mixed = at::scaled_dot_product_attention(by_head(query, queries[first], queries[last], count),
                                                          by_head(key, keys[first], keys[last], count),
                                                          by_head(value, keys[first], keys[last], count));
      out.slice(0, queries[first], queries[last]).copy_(mixed.transpose(1, 2).reshape({-1, query.size(1)}));
    }
    first = last;
  }
  return out;
}

at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads) {
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows, std::int64_t begin, std::int64_t end) {
    return rows.slice(0, begin, end).to(at::kDouble).reshape({end - begin, num_heads, width}).transpose(0, 1);
  };
  auto out = at::empty({query.size(0), query.size(1)}, query.options());
  for (std::size_t i = 0; i + 1 < segments.key_begin.size(); ++i) {
    const auto first = segments.query_begin[i];
    const auto last = segments.query_begin[i + 1];
    if (first == last) {
      continue;
    }
    const auto q = by_head(query, first, last);
    const auto k = by_head(key, segments.key_begin[i], segments.key_begin[i + 1]);
    const auto v = by_head(value, segments.key_begin[i], segments.key_begin[i + 1]);
    const auto scores = at::matmul(q, k.transpose(1, 2)).mul(1 / std::sqrt(static_cast<double>(width)));
    const auto mixed = at::matmul(at::softmax(scores, -1), v).transpose(0, 1).reshape({last - first, query.size(1)});
    out.slice(0, first, last).copy_(mixed);
  }
  return out;
}

}  // namespace stereosweep::model
