#include "model/Attention.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <cmath>

namespace stereosweep::model {

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                  std::int64_t num_heads) {
  return attend_plainly(query, key, value, segments, num_heads);
}

at::Tensor attend_plainly(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const Segments& segments, std::int64_t num_heads) {
  const auto width = query.size(1) / num_heads;
  const auto by_head = [&](const at::Tensor& rows, std::int64_t begin, std::int64_t end) {
    return rows.slice(0, begin, end).to(at::kFloat).reshape({end - begin, num_heads, width}).transpose(0, 1);
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
