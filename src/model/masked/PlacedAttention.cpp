#include "model/masked/PlacedAttention.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/process/Profile.hpp"
#include "model/kernels/SegmentAttention.hpp"

namespace stereosweep::model {
namespace {

/// Calls attend(query, key, value, group), each [sequences, heads, length, width], for each group; it answers in that
/// shape.
at::Tensor in_groups(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                     const SequenceGroups& sequences, std::int64_t num_heads, const auto& attend) {
  const base::profile::Span span("attention");
  std::vector<at::Tensor> parts;
  std::int64_t tokens = 0;
  for (const auto& group : sequences.groups()) {
    const auto by_head = [&](const at::Tensor& rows) {
      const auto size = group.count * group.length;
      const auto some = group.rows.defined() ? rows.index_select(0, group.rows)
                                             : rows.slice(0, group.first_row, group.first_row + size);
      return some.unflatten(1, {num_heads, query.size(1) / num_heads})
          .unflatten(0, {group.count, group.length})
          .transpose(1, 2);
    };
    const auto mixed = attend(by_head(query), by_head(key), by_head(value), group);
    parts.push_back(mixed.transpose(1, 2).reshape({-1, query.size(1)}));
    tokens += parts.back().size(0);
  }
  const bool in_order = !sequences.places().defined();
  if (in_order && tokens < query.size(0)) {  // rows that belong to no sequence
    parts.push_back(at::zeros({query.size(0) - tokens, query.size(1)}, query.options()));
  }
  const auto all = parts.size() == 1 ? parts.front() : at::cat(parts);
  if (in_order) {
    return all;
  }
  const auto out = all.index_select(0, sequences.places());
  const auto spare = query.size(0) - out.size(0);
  return spare == 0 ? out : at::cat({out, at::zeros({spare, query.size(1)}, query.options())});
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

std::int64_t filled_length(std::int64_t length) {
  const auto power = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length)));
  const auto step = std::max<std::int64_t>(16, power / 16);
  return (length + step - 1) / step * step;
}

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

SequenceGroups::SequenceGroups(const Segments& segments, Lengths lengths, const at::Device& device)
    : segments_(segments), device_(device) {
  lengths == Lengths::exact ? add_exact() : add_filled();
}

void SequenceGroups::add_exact() {
  const auto& begins = segments_.key_begin;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    const std::int64_t length = begins[i + 1] - begins[i];
    if (groups_.empty() || groups_.back().length != length) {
      groups_.emplace_back();
      groups_.back().length = length;
      groups_.back().first_row = begins[i];
    }
    ++groups_.back().count;
  }
}

void SequenceGroups::add_filled() {
  const auto& begins = segments_.key_begin;
  std::map<std::int64_t, std::vector<std::size_t>> by_length;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    by_length[filled_length(begins[i + 1] - begins[i])].push_back(i);
  }
  Staging staging;
  std::vector<std::int32_t> places(static_cast<std::size_t>(begins.back()));
  std::int32_t place = 0;
  for (const auto& [length, sequences] : by_length) {
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> lengths;
    for (const auto sequence : sequences) {
      const auto first = begins[sequence];
      const auto count = begins[sequence + 1] - first;
      lengths.push_back(count);
      for (std::int32_t i = 0; i < length; ++i, ++place) {
        rows.push_back(first + std::min(i, count - 1));  // what fills up repeats the last token
        if (i < count) {
          places[static_cast<std::size_t>(first + i)] = place;
        }
      }
    }
    staging.add(rows);
    staging.add(lengths);
    auto& group = groups_.emplace_back();
    group.length = length;
    group.count = std::ssize(sequences);
  }
  const auto places_list = staging.add(places);
  staging.send(device_);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    auto& group = groups_[i];
    group.rows = staging.at(2 * i);
    const auto lengths = staging.at(2 * i + 1).view({group.count, 1, 1, 1});
    group.hidden = at::arange(group.length, at::TensorOptions(at::kInt).device(device_)).ge(lengths);
  }
  places_ = staging.at(places_list);
}

void SequenceGroups::prepare(std::int64_t reach, at::ScalarType type) {
  for (auto& group : groups_) {
    if (group.seen.contains(reach)) {
      continue;
    }
    const auto places = at::arange(group.length, at::TensorOptions(at::kLong).device(device_));
    const auto is_seen = at::abs(places.unsqueeze(1) - places.unsqueeze(0)) <= reach;
    group.seen[reach] =
        group.hidden.defined()
            ? at::zeros({group.count, 1, group.length, group.length}, at::TensorOptions(type).device(device_))
                  .masked_fill_(is_seen.logical_not().logical_or(group.hidden), hidden_score)
            : is_seen;
  }
}

at::Tensor attend_relatively(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                             const SequenceGroups& sequences, std::int64_t num_heads, const RelativeRows& rows,
                             const RelativeIndex& index) {
  const auto terms = 1 + (rows.keys.defined() ? 1 : 0) + (rows.queries.defined() ? 1 : 0);
  const auto width = static_cast<double>(query.size(1) / num_heads);
  const auto scale = 1 / std::sqrt(width * terms);
  return in_groups(
      query, key, value, sequences, num_heads, [&](const auto& q, const auto& k, const auto& v, const auto& group) {
        const auto queries = q.to(at::kFloat);
        const auto keys = k.to(at::kFloat);
        auto scores = at::matmul(queries, keys.transpose(2, 3));
        if (rows.keys.defined()) {
          scores.add_(by_place(at::matmul(queries, rows_at(rows.keys, index.keys, group.length, num_heads))));
        }
        if (rows.queries.defined()) {
          const auto by_key = by_place(at::matmul(keys, rows_at(rows.queries, index.queries, group.length, num_heads)));
          scores.add_(by_key.transpose(2, 3));
        }
        scores.mul_(scale);
        if (group.hidden.defined()) {
          scores.masked_fill_(group.hidden, hidden_score);
        }
        return at::matmul(at::softmax(scores, -1), v.to(at::kFloat)).to(v.scalar_type());
      });
}

at::Tensor attend_within(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const SequenceGroups& sequences, std::int64_t num_heads, std::int64_t reach) {
  const auto by = segment_operator(query.device(), query.scalar_type(), query.size(1) / num_heads);
  if (by == SegmentOperator::flash) {
    return attend_packed(query, key, value, sequences.segments(), num_heads, by, reach);
  }
  return in_groups(query, key, value, sequences, num_heads,
                   [&](const auto& q, const auto& k, const auto& v, const auto& group) {
                     return at::scaled_dot_product_attention(q, k, v, group.seen.at(reach));
                   });
}

}  // namespace stereosweep::model
