#include "model/kernels/SegmentAttention.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_efficient_attention_forward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/Error.hpp"
#include "model/kernels/Kernels.hpp"

namespace stereosweep::model {
namespace {

// With a longest query of 1 flash attention turns queries and groups of heads round, which is faster, and takes it that
// every segment has exactly one query and no window.
constexpr std::int64_t grouping_query = 1;

// Its kernels for such queries cut the keys of a segment where they would leave half of the device's multiprocessors
// without work, and a segment has more keys than a tile (flash_api.cpp, num_splits_heuristic): never from so many
// segments times key heads on, for up to 160 multiprocessors.
constexpr std::int64_t most_blocks_to_share_out = 256;

// Of the memory-efficient operator.
constexpr std::int64_t no_mask = 0;
constexpr std::int64_t causal_from_the_last = 2;

// Whether torch has the operator for such a device.
bool has_operator(const char* name, const at::Device& device) {
  const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  return handle.hasKernelForDispatchKey(c10::computeDispatchKey(std::nullopt, std::nullopt, device));
}

std::vector<std::int32_t> repeated(const std::vector<std::int32_t>& values, std::int64_t times) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < times; ++i) {
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

// The logarithms of a segment stand in whole multiples of so many columns, what is added to its scores in those.
constexpr std::int64_t sum_columns = 32;
constexpr std::int64_t bias_columns = 8;

// Heads up to so wide are faster in bundles.
constexpr std::int64_t widest_of_bundles = 64;

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

std::int64_t longest_of(const std::vector<std::int32_t>& counts) { return *std::ranges::max_element(counts); }

// The memory-efficient operator knows no shared key heads: the queries of each head of a group are segments of their
// own, which see the same keys.
struct SpreadSegments {
  std::vector<std::int32_t> query_begin{0};
  std::vector<std::int32_t> sum_places;  // [heads of each * queries] of the first head in the rows of segments
};

// `row`: logarithms of a segment.
SpreadSegments spread(const KeySegments& segments, std::int64_t times, std::int64_t row) {
  SpreadSegments out;
  for (std::int64_t i = 0; i < times; ++i) {
    for (std::size_t segment = 0; segment < segments.key_begin.size(); ++segment) {
      const auto number = std::ssize(out.query_begin) - 1;
      const auto count = segments.query_begin[segment + 1] - segments.query_begin[segment];
      for (std::int32_t query = 0; query < count; ++query) {
        out.sum_places.push_back(static_cast<std::int32_t>(number * row + query));
      }
      out.query_begin.push_back(out.query_begin.back() + count);
    }
  }
  return out;
}

}  // namespace

SegmentOperator segment_operator(const at::Device& device, at::ScalarType type, std::int64_t width, ScoreBias bias) {
  const bool two_bytes = type == at::kBFloat16 || type == at::kHalf;
  const bool capable = !device.is_cuda() || cuda_has_flash();
  if (bias == ScoreBias::none && two_bytes && width % 8 == 0 && width <= 256 && capable &&
      has_operator("aten::_flash_attention_forward", device)) {
    return SegmentOperator::flash;
  }
  const bool knows_type = type != at::kBFloat16 || (bias == ScoreBias::by_key && capable);
  if (knows_type && width % (two_bytes ? 8 : 4) == 0 && has_operator("aten::_efficient_attention_forward", device)) {
    return SegmentOperator::efficient;
  }
  return SegmentOperator::plain;
}

namespace {

// Which sequence each row of a bundle belongs to, in bundle_rows places a bundle; where there is no row, `nobody`.
struct Owners {
  std::vector<std::int32_t> begins{0};
  std::vector<std::int32_t> sequences;
  std::int64_t longest = 1;

  void add(std::int32_t sequence, std::int32_t rows) { sequences.insert(sequences.end(), rows, sequence); }
  void end_bundle(std::int32_t nobody) {
    const auto whole = std::ssize(begins) * bundle_rows;
    const auto rows = std::ssize(sequences) - (whole - bundle_rows);
    begins.push_back(begins.back() + static_cast<std::int32_t>(rows));
    longest = std::max<std::int64_t>(longest, rows);
    sequences.resize(static_cast<std::size_t>(whole), nobody);
  }
};

}  // namespace

std::optional<Bundles> bundle(const Segments& segments, const at::TensorOptions& rows, std::int64_t width) {
  const auto type = rows.dtype().toScalarType();
  if (width > widest_of_bundles || longest(segments.key_begin) > bundle_rows ||
      segment_operator(rows.device(), type, width, ScoreBias::by_key) != SegmentOperator::efficient) {
    return std::nullopt;
  }
  Owners keys;
  Owners queries;
  for (std::size_t i = 0; i + 1 < segments.key_begin.size(); ++i) {
    const auto count = segments.key_begin[i + 1] - segments.key_begin[i];
    if (segments.key_begin[i + 1] - keys.begins.back() > bundle_rows) {
      keys.end_bundle(-1);
      queries.end_bundle(-2);
    }
    keys.add(static_cast<std::int32_t>(i), count);
    queries.add(static_cast<std::int32_t>(i), segments.query_begin[i + 1] - segments.query_begin[i]);
  }
  keys.end_bundle(-1);
  queries.end_bundle(-2);
  Staging staging;
  const std::array lists{staging.add(keys.begins), staging.add(queries.begins), staging.add(keys.sequences),
                         staging.add(queries.sequences)};
  staging.send(rows.device());
  const auto count = std::ssize(keys.begins) - 1;
  const auto of_key = staging.at(lists[2]).view({count, 1, bundle_rows});
  const auto of_query = staging.at(lists[3]).view({count, bundle_rows, 1});
  const auto needed = bundle_rows * std::max<std::int64_t>(1, segments.query_begin.back()) + segments.key_begin.back();
  const auto memory = at::empty({std::max(count * bundle_rows * bundle_rows, needed)}, rows);
  memory.narrow(0, 0, count * bundle_rows * bundle_rows)
      .view({count, bundle_rows, bundle_rows})
      .zero_()
      .masked_fill_(of_query.ne(of_key), hidden_score);
  return Bundles{staging.at(lists[0]), staging.at(lists[1]), memory, keys.longest, queries.longest};
}

at::Tensor attend_packed(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads, SegmentOperator by, std::int64_t reach) {
  const auto width = query.size(1) / num_heads;
  const auto scale = 1 / std::sqrt(static_cast<double>(width));
  const auto by_head = [&](const at::Tensor& rows) { return rows.unflatten(1, {num_heads, width}); };
  const auto longest_query = std::max(grouping_query + 1, longest(segments.query_begin));
  const auto longest_key = longest(segments.key_begin);
  if (by == SegmentOperator::flash) {
    return std::get<0>(at::_flash_attention_forward(by_head(query), by_head(key), by_head(value),
                                                    segments.device_query_begin, segments.device_key_begin,
                                                    longest_query, longest_key, 0.0, false, false, scale, reach, reach))
        .flatten(1, 2);
  }
  STEREOSWEEP_ASSERT(reach < 0, "windows are for flash attention");
  const auto batch = [&](const at::Tensor& rows) { return by_head(rows).unsqueeze(0); };
  const Bundles each{segments.device_key_begin, segments.device_query_begin, {}, longest_key, longest_query};
  const auto& taken = segments.bundles ? *segments.bundles : each;
  std::optional<at::Tensor> bias;
  if (taken.bias.defined()) {  // the kernel reads a bundle's from its number times the first stride on
    bias = taken.bias.as_strided({1, num_heads, query.size(0), key.size(0)},
                                 {bundle_rows * bundle_rows, 0, bundle_rows, 1});
  }
  return std::get<0>(at::_efficient_attention_forward(batch(query), batch(key), batch(value), bias, taken.query_begin,
                                                      taken.key_begin, taken.longest_query, taken.longest_key, 0.0,
                                                      no_mask, false, scale))
      .squeeze(0)
      .flatten(1, 2);
}

void KeySegments::add(std::int32_t queries, std::int32_t first_key, std::int32_t keys, std::int32_t first_place) {
  query_begin.push_back(query_begin.back() + queries);
  key_begin.push_back(first_key);
  key_count.push_back(keys);
  key_place.push_back(first_place);
}

std::int64_t columns_of_bias(std::int64_t longest_key) { return rounded_up(longest_key, bias_columns); }

std::int64_t bias_numbers(const KeySegments& segments, std::int64_t num_heads) {
  return num_heads * std::ssize(segments.key_count) * columns_of_bias(longest_of(segments.key_count));
}

PlacedSegments::PlacedSegments(KeySegments segments, const AttentionHeads& heads, SegmentOperator by, Staging& staging)
    : segments_(std::move(segments)), heads_(heads), by_(by) {
  longest_query_ = longest(segments_.query_begin);
  longest_key_ = longest_of(segments_.key_count);
  for (std::size_t i = 0; i < segments_.key_begin.size(); ++i) {
    end_of_keys_ = std::max<std::int64_t>(end_of_keys_, segments_.key_begin[i] + segments_.key_count[i]);
  }
  if (by == SegmentOperator::plain) {
    return;
  }
  const auto times = by == SegmentOperator::efficient ? heads.queries / heads.keys : 1;
  auto begins = repeated(segments_.key_begin, times);
  begins.push_back(0);  // the operators ask for one number more, and read the counts
  const auto spread_out = spread(segments_, times, heads.keys * columns_of_sums());
  lists_ = {staging.add(spread_out.query_begin), staging.add(begins),
            staging.add(repeated(segments_.key_count, times))};
  if (by == SegmentOperator::efficient) {
    lists_.push_back(staging.add(spread_out.sum_places));
    lists_.push_back(staging.add(segments_.key_place));
  }
}

std::int64_t PlacedSegments::columns_of_sums() const { return rounded_up(longest_query_, sum_columns); }

void PlacedSegments::arrive(const Staging& staging, const at::Tensor& bias) {
  if (by_ == SegmentOperator::plain) {
    bias_ = bias;
    return;
  }
  query_begin_ = groups_are_rows() ? staging.at(lists_[0]).mul(heads_.queries / heads_.keys) : staging.at(lists_[0]);
  key_begin_ = staging.at(lists_[1]);
  key_count_ = staging.at(lists_[2]);
  if (by_ == SegmentOperator::efficient) {
    const auto of_first_head = staging.at(lists_[3]);
    const auto heads = at::arange(0, heads_.keys * columns_of_sums(), columns_of_sums(), of_first_head.options());
    sum_places_ = heads.unsqueeze(1).add(of_first_head).flatten();
    if (bias.defined()) {
      bias_ = bias_by_segment(bias, staging.at(lists_[4]));
    }
  }
}

// Made once for all layers. Behind it there is room for one row of all keys: see bias_for.
at::Tensor PlacedSegments::bias_by_segment(const at::Tensor& bias, const at::Tensor& key_place) const {
  const auto columns = columns_of_bias(longest_key_);
  const auto places = key_place.unsqueeze(1).add(at::arange(columns, key_place.options())).flatten();
  const auto count = heads_.queries * places.size(0);
  const auto memory = at::empty({count + end_of_keys_}, bias.options());
  auto rows = memory.narrow(0, 0, count).view({heads_.queries, -1});
  at::index_select_out(rows, bias, 1, places);
  return memory;
}

// CUDA's kernel asks for a bias of the size [1, heads, queries, keys], and reads that of a segment from its number
// times the first stride on, whatever the size says. All queries of a segment share theirs.
std::optional<at::Tensor> PlacedSegments::bias_for(std::int64_t queries) const {
  if (!bias_.defined()) {
    return std::nullopt;
  }
  const auto columns = columns_of_bias(longest_key_);
  const auto of_key_head = heads_.queries / heads_.keys * std::ssize(segments_.key_count) * columns;
  return bias_.as_strided({1, heads_.keys, queries, end_of_keys_}, {columns, of_key_head, 0, 1});
}

PartialAttention PlacedSegments::attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                        double scale) const {
  switch (by_) {
    case SegmentOperator::flash:
      return by_flash(query, key, value, scale);
    case SegmentOperator::efficient:
      return by_efficient(query, key, value, scale);
    case SegmentOperator::plain:
      break;
  }
  return by_plain(query, key, value, scale);
}

bool PlacedSegments::is_single() const {
  return longest_query_ == grouping_query && segments_.num_queries() == std::ssize(segments_.key_begin) &&
         segments_.window == 0;
}

bool PlacedSegments::may_share_out_keys() const {
  const std::int64_t tile = heads_.width <= 64 ? 256 : heads_.width <= 128 ? 128 : 64;
  return longest_key_ > tile && heads_.keys * std::ssize(segments_.key_begin) < most_blocks_to_share_out;
}

bool PlacedSegments::groups_are_rows() const {
  return by_ == SegmentOperator::flash && heads_.queries > heads_.keys && segments_.mask == SegmentMask::all &&
         segments_.window == 0 && (!is_single() || !may_share_out_keys());
}

PartialAttention PlacedSegments::by_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          double scale) const {
  // Causal is aligned at the last query and the last key.
  const auto rows_of_query = groups_are_rows() ? heads_.queries / heads_.keys : 1;
  const std::int64_t window_left = segments_.window > 0 ? segments_.window - 1 : -1;  // -1: no window
  const auto longest =
      is_single() && !groups_are_rows() ? grouping_query : std::max(grouping_query + 1, longest_query_ * rows_of_query);
  const auto out = at::_flash_attention_forward(query, key, value, query_begin_, key_begin_, longest, longest_key_, 0.0,
                                                segments_.mask == SegmentMask::before, false, scale, window_left,
                                                std::nullopt, key_count_);
  const auto& mixed = std::get<0>(out);
  const auto& log_sum = std::get<1>(out);
  const auto group = heads_.queries / heads_.keys;
  const auto queries = segments_.num_queries();
  const auto views = [&](std::array<std::int64_t, 3> of_mixed, std::array<std::int64_t, 3> of_sum) {
    return PartialAttention{mixed.as_strided({queries, heads_.keys, group, heads_.width},
                                             {of_mixed[0], of_mixed[1], of_mixed[2], mixed.stride(2)}),
                            log_sum.as_strided({heads_.keys, group, queries}, of_sum)};
  };
  if (groups_are_rows()) {
    return views({group * mixed.stride(0), mixed.stride(1), mixed.stride(0)}, {log_sum.stride(0), 1, group});
  }
  return views({mixed.stride(0), group * mixed.stride(1), mixed.stride(1)},
               {group * log_sum.stride(0), log_sum.stride(0), 1});
}

PartialAttention PlacedSegments::by_efficient(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                              double scale) const {
  STEREOSWEEP_ASSERT(segments_.window == 0, "the operator's windows are not used");
  const auto by_head = [&](const at::Tensor& rows) { return rows.slice(0, 0, end_of_keys_).unsqueeze(0); };
  const auto found = at::_efficient_attention_forward(
      query.unsqueeze(0), by_head(key), by_head(value), bias_for(query.size(0)), query_begin_, key_begin_,
      longest_query_, longest_key_, 0.0, segments_.mask == SegmentMask::before ? causal_from_the_last : no_mask, true,
      scale, key_count_);
  const std::vector<std::int64_t> spread_out{heads_.queries / heads_.keys, segments_.num_queries()};
  const auto sums = std::get<1>(found).flatten().index_select(0, sum_places_);
  return {std::get<0>(found).squeeze(0).unflatten(0, spread_out).permute({1, 2, 0, 3}),
          sums.view({heads_.keys, spread_out[0], spread_out[1]})};
}

// Segment by segment, in float32.
PartialAttention PlacedSegments::by_plain(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                          double scale) const {
  const auto group = heads_.queries / heads_.keys;
  const auto options = query.options().dtype(at::kFloat);
  PartialAttention out{at::empty({segments_.num_queries(), heads_.keys, group, heads_.width}, options),
                       at::empty({heads_.keys, group, segments_.num_queries()}, options)};
  for (std::size_t i = 0; i < segments_.key_begin.size(); ++i) {
    const auto first = segments_.query_begin[i];
    const auto last = segments_.query_begin[i + 1];
    if (first == last) {
      continue;
    }
    const std::int64_t keys = segments_.key_count[i];
    const auto by_head = [&](const at::Tensor& rows) {  // [key heads, 1, keys, width]
      const auto some = rows.slice(0, segments_.key_begin[i], segments_.key_begin[i] + keys);
      return some.transpose(0, 1).unsqueeze(1).to(at::kFloat);
    };
    const auto some = query.slice(0, first, last).unflatten(1, {heads_.keys, group}).permute({1, 2, 0, 3});
    auto scores = at::matmul(some.to(at::kFloat), by_head(key).transpose(2, 3)).mul_(scale);
    if (bias_.defined()) {
      scores.add_(bias_.narrow(1, segments_.key_place[i], keys).unflatten(0, {heads_.keys, group}).unsqueeze(2));
    }
    if (segments_.mask == SegmentMask::before) {
      const auto integers = at::TensorOptions(at::kLong).device(query.device());
      const auto distance =
          at::arange(keys - (last - first), keys, integers).unsqueeze(1).sub(at::arange(keys, integers));
      auto hidden = distance.lt(0);
      if (segments_.window > 0) {
        hidden = hidden.logical_or(distance.ge(segments_.window));
      }
      scores.masked_fill_(hidden, hidden_score);
    }
    out.log_sum.slice(2, first, last).copy_(at::logsumexp(scores, -1));
    const auto mixed = at::matmul(at::softmax(scores, -1), by_head(value));
    out.mixed.slice(0, first, last).copy_(mixed.permute({2, 0, 1, 3}));
  }
  return out;
}

at::Tensor arrange_queries(const at::Tensor& query, const AttentionHeads& heads, SegmentOperator by) {
  if (by != SegmentOperator::efficient) {
    return query.as_strided({query.size(0), heads.queries, heads.width}, {query.stride(0), heads.width, 1},
                            query.storage_offset());
  }
  return query.unflatten(1, {heads.keys, -1, heads.width}).permute({2, 0, 1, 3}).flatten(0, 1);
}

at::Tensor arrange_groups(const at::Tensor& query, const AttentionHeads& heads) {
  const auto group = heads.queries / heads.keys;
  return query
      .as_strided({query.size(0), group, heads.keys, heads.width},
                  {query.stride(0), heads.width, group * heads.width, 1}, query.storage_offset())
      .contiguous()
      .view({-1, heads.keys, heads.width});
}

at::Tensor join_parts(const std::vector<PartialAttention>& parts, const at::Tensor& lacks, const at::Tensor& sinks,
                      at::ScalarType type) {
  if (parts.size() == 1 && !sinks.defined()) {
    const auto& mixed = parts.front().mixed;
    return mixed.contiguous().view({mixed.size(0), -1}).to(type);
  }
  std::vector<at::Tensor> sums;
  for (const auto& part : parts) {
    sums.push_back(part.log_sum);
  }
  if (sinks.defined()) {
    sums.push_back(sinks.view({sums.front().size(0), -1, 1}).expand_as(sums.front()));
  }
  auto all = at::stack(sums, -1);
  if (lacks.defined()) {
    all.masked_fill_(lacks, -std::numeric_limits<float>::infinity());
  }
  const auto by_query = at::softmax(all, -1);
  const auto weights = by_query.permute({3, 2, 0, 1}).unsqueeze(-1);  // [parts, queries, .., .., 1]
  auto out = at::empty(parts.front().mixed.sizes(), parts.front().mixed.options().dtype(type));
  if (parts.size() == 1) {
    return at::mul_out(out, parts.front().mixed, weights[0]).flatten(1, 3);
  }
  auto mixed = at::mul(parts.front().mixed, weights[0]);  // float32
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    mixed.addcmul_(parts[i].mixed, weights[static_cast<std::int64_t>(i)]);
  }
  at::addcmul_out(out, mixed, parts.back().mixed, weights[std::ssize(parts) - 1]);
  return out.flatten(1, 3);
}

}  // namespace stereosweep::model
