#include "model/masked/PlacedAttention.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "base/process/Profile.hpp"

namespace stereosweep::model {
namespace {

/// Calls attend(query, key, value), each [sequences, heads, length, width], for runs of sequences of one length; it
/// answers in that shape.
template <class Attend>
at::Tensor in_runs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const Segments& segments,
                   std::int64_t num_heads, const Attend& attend) {
  const base::profile::Span span("attention");
  const auto& begins = segments.key_begin;
  const auto sequences = begins.size() - 1;
  const auto out = at::zeros({query.size(0), query.size(1)}, query.options());
  for (std::size_t first = 0; first < sequences;) {
    const auto length = begins[first + 1] - begins[first];
    auto last = first + 1;
    while (last < sequences && begins[last + 1] - begins[last] == length) {
      ++last;
    }
    const auto by_head = [&](const at::Tensor& rows) {
      return rows.slice(0, begins[first], begins[last])
          .unflatten(1, {num_heads, query.size(1) / num_heads})
          .unflatten(0, {static_cast<std::int64_t>(last - first), length})
          .transpose(1, 2);
    };
    const auto mixed = attend(by_head(query), by_head(key), by_head(value));
    out.slice(0, begins[first], begins[last]).copy_(mixed.transpose(1, 2).reshape({-1, query.size(1)}));
    first = last;
  }
  return out;
}

/// products [.., length, 2 length - 1] with one column for each distance -> [.., length, length] with one for each
/// place: entry (i, j) is column j - i + length - 1 of row i.
at::Tensor by_place(const at::Tensor& products) {
  const auto length = products.size(2);
  const auto columns = 2 * length - 1;
  const auto dense = products.contiguous();
  return dense.as_strided({dense.size(0), dense.size(1), length, length},
                          {dense.size(1) * length * columns, length * columns, columns - 1, 1}, length - 1);
}

/// The table's rows at the distances of a text of `length` tokens: [heads, width, 2 length - 1] float32.
at::Tensor rows_at(const at::Tensor& table, const at::Tensor& index, std::int64_t length, std::int64_t num_heads) {
  const auto middle = (index.size(0) - 1) / 2;
  const auto rows = table.index_select(0, index.slice(0, middle - (length - 1), middle + length)).to(at::kFloat);
  return rows.unflatten(1, {num_heads, table.size(1) / num_heads}).permute({1, 2, 0});
}

}  // namespace

RelativeIndex relative_index(const RelativePositions& settings, std::int64_t length, const at::Device& device) {
  const auto distance = at::arange(-(length - 1), length, at::TensorOptions(at::kLong));  // query's place less key's
  auto bucket = distance;
  if (settings.buckets > 0) {
    const auto middle = settings.buckets / 2;
    const auto single = [](double value) { return at::full({}, value, at::TensorOptions(at::kFloat)); };
    const auto is_near = (distance < middle).logical_and(distance > -middle);
    const auto far = at::where(is_near, at::full({}, middle - 1, at::TensorOptions(at::kLong)), at::abs(distance));
    const auto widest = at::log(single(static_cast<double>(settings.farthest - 1) / static_cast<double>(middle)));
    const auto scaled = at::ceil(at::log(far.to(at::kFloat).div(middle)).div(widest).mul(middle - 1)).add(middle);
    bucket = at::where(far <= middle, distance.to(at::kFloat), scaled.mul(at::sign(distance))).to(at::kLong);
  }
  const auto span = settings.span();
  const auto row_of = [&](const at::Tensor& place) { return place.add(span).clamp(0, 2 * span - 1).to(device); };
  return {row_of(bucket.flip(0)), row_of(bucket)};
}

at::Tensor attend_relatively(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                             const Segments& segments, std::int64_t num_heads, const RelativeRows& rows,
                             const RelativeIndex& index) {
  const auto terms = 1 + (rows.keys.defined() ? 1 : 0) + (rows.queries.defined() ? 1 : 0);
  const auto width = static_cast<double>(query.size(1) / num_heads);
  const auto scale = 1 / std::sqrt(width * terms);
  return in_runs(query, key, value, segments, num_heads, [&](const auto& q, const auto& k, const auto& v) {
    const auto queries = q.to(at::kFloat);
    const auto keys = k.to(at::kFloat);
    auto scores = at::matmul(queries, keys.transpose(2, 3));
    if (rows.keys.defined()) {
      scores.add_(by_place(at::matmul(queries, rows_at(rows.keys, index.keys, q.size(2), num_heads))));
    }
    if (rows.queries.defined()) {
      const auto by_key = by_place(at::matmul(keys, rows_at(rows.queries, index.queries, q.size(2), num_heads)));
      scores.add_(by_key.transpose(2, 3));
    }
    return at::matmul(at::softmax(scores.mul_(scale), -1), v.to(at::kFloat)).to(v.scalar_type());
  });
}

at::Tensor attend_within(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads, std::int64_t reach) {
  return in_runs(query, key, value, segments, num_heads, [&](const auto& q, const auto& k, const auto& v) {
    const auto places = at::arange(q.size(2), at::TensorOptions(at::kLong).device(q.device()));
    const auto is_seen = at::abs(places.unsqueeze(1) - places.unsqueeze(0)) <= reach;
    return at::scaled_dot_product_attention(q, k, v, is_seen);
  });
}

}  // namespace stereosweep::model
