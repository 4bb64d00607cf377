// Attention of many segments in one call: every segment has neighbouring queries and neighbouring keys, where they lie.
//   shapes  query [queries, heads * width], key and value [keys, key heads * width], last stride 1
//   bits    a function of the segments, the heads, the operator and the numbers
// Three ways compute the same: torch's flash attention (two-byte numbers) and its memory-efficient attention (float32),
// both private operators of the pinned torch that CUDA has, and plain operators on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/kernels/Segments.hpp"

namespace stereosweep::model {

/// The score of a key that is not seen.
inline constexpr float hidden_score = -std::numeric_limits<float>::infinity();

struct AttentionHeads {
  std::int64_t queries = 0;
  std::int64_t keys = 0;  ///< divides `queries`
  std::int64_t width = 0;
};

enum class SegmentOperator { flash, efficient, plain };

/// What is added to a scaled score: by_key: a number for each head and place of the key in its text.
enum class ScoreBias { none, by_key };

/// The fastest that takes such rows. flash: a device that has it (of CUDA's: Ampere or newer), 16 bits, widths that are
/// multiples of 8 up to 256, no bias; efficient: such a device, float32 or float16, with a bias bfloat16, too, widths
/// that are multiples of 4, of 16 bits of 8.
SegmentOperator segment_operator(const at::Device& device, at::ScalarType type, std::int64_t width,
                                 ScoreBias bias = ScoreBias::none);

/// Bundles for sequences whose attention they make faster: heads up to 64 wide and sequences up to bundle_rows tokens,
/// whose queries are among their keys. Flash attention's tiles are 128 rows and hold one sequence. None for others, and
/// where no operator takes them.
std::optional<Bundles> bundle(const Segments& segments, const at::TensorOptions& rows, std::int64_t width);

/// softmax(q k^T / sqrt(width)) v inside each sequence of a packed batch in one call, by flash or efficient: [queries,
/// heads * width]. `reach`: over keys at most so many places away; -1: all. By flash alone, where all rows are queries.
at::Tensor attend_packed(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const Segments& segments, std::int64_t num_heads, SegmentOperator by, std::int64_t reach = -1);

/// Which keys of its segment a query sees. before: query i of n sees all but the last n - 1 - i.
enum class SegmentMask { all, before };

/// Segment i has the queries [query_begin[i], query_begin[i + 1]), which may be none, and the keys [key_begin[i],
/// key_begin[i] + key_count[i]), at least one. Segments may share keys.
struct KeySegments {
  std::vector<std::int32_t> query_begin{0};  ///< [segments + 1], from 0 to the number of queries
  std::vector<std::int32_t> key_begin;       ///< [segments]
  std::vector<std::int32_t> key_count;       ///< [segments]
  std::vector<std::int32_t> key_place;       ///< [segments] of the first key in its text
  SegmentMask mask = SegmentMask::all;
  std::int64_t window = 0;  ///< of the keys that `before` leaves only the last ones; 0: all. Not for `efficient`.

  std::int64_t num_queries() const { return query_begin.back(); }
  void add(std::int32_t queries, std::int32_t first_key, std::int32_t keys, std::int32_t first_place);
};

/// What a call puts out: a part of an attention over more keys, with what it weighs there.
struct PartialAttention {
  at::Tensor mixed;    ///< [queries, key heads, heads of each, width]: softmax(scale q k) v
  at::Tensor log_sum;  ///< [key heads, heads of each, queries] float32: log of the sum of e^(scale q k)
};

/// Segments with their numbers on a device, for one operator. Made in two steps, so that one copy serves several.
class PlacedSegments {
 public:
  PlacedSegments(KeySegments segments, const AttentionHeads& heads, SegmentOperator by, Staging& staging);
  /// After staging.send(). `bias`: see bias_numbers; undefined: none.
  void arrive(const Staging& staging, const at::Tensor& bias = {});

  /// `query`: what arrange_queries() made of the rows for segments like these. key, value: [rows, key heads, width].
  PartialAttention attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double scale) const;

  const KeySegments& segments() const { return segments_; }
  /// Whether the heads of a group are rows of one segment, which fills flash attention's tiles of 128 rows: where all
  /// queries of a segment see the same keys. Where each segment has one query flash attention does the same by itself,
  /// with one copy more; that is left to it where it might share out a segment's keys, too.
  bool groups_are_rows() const;

 private:
  PartialAttention by_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            double scale) const;
  PartialAttention by_efficient(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                double scale) const;
  PartialAttention by_plain(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                            double scale) const;
  bool is_single() const;                ///< every segment has one query
  bool may_share_out_keys() const;       ///< flash attention, of a single one
  std::int64_t columns_of_sums() const;  ///< of `efficient`, for a segment and a head
  at::Tensor bias_by_segment(const at::Tensor& bias, const at::Tensor& key_place) const;
  std::optional<at::Tensor> bias_for(std::int64_t queries) const;

  KeySegments segments_;
  AttentionHeads heads_;
  SegmentOperator by_;
  std::vector<std::size_t> lists_;  ///< numbers in the staging, until they arrive
  at::Tensor query_begin_;          ///< lists of int32 on the device
  at::Tensor key_begin_;
  at::Tensor key_count_;
  at::Tensor bias_;        ///< plain: as it was given; efficient: [heads, segments, columns], and room behind
  at::Tensor sum_places_;  ///< where `efficient` puts the logarithms: [key heads * heads of each * queries]
  std::int64_t longest_query_ = 0;
  std::int64_t longest_key_ = 0;
  std::int64_t end_of_keys_ = 0;  ///< no key of any segment lies behind it
};

/// Numbers that a call's bias takes on the device where its operator is `efficient`. A bias is [heads, places], for
/// `efficient` in the rows' dtype, for `plain` in float32; it has places for columns_of_bias(longest path) more than
/// the longest path.
std::int64_t bias_numbers(const KeySegments& segments, std::int64_t num_heads);
std::int64_t columns_of_bias(std::int64_t longest_key);

/// Rows as the operator wants them, once for several calls. query: [queries, heads * width].
at::Tensor arrange_queries(const at::Tensor& query, const AttentionHeads& heads, SegmentOperator by);
/// The same for segments whose groups are rows: [queries * heads of each, key heads, width].
at::Tensor arrange_groups(const at::Tensor& query, const AttentionHeads& heads);

/// Attention over all keys of all parts: [queries, heads * width] in `type`. `lacks` [key heads, heads of each,
/// queries, parts] bool, contiguous: parts that do not count for a query; undefined: all do. `sinks` [key heads * heads
/// of each] float32: the score of one key more, which has no value and is the last part of `lacks`; undefined: none.
at::Tensor join_parts(const std::vector<PartialAttention>& parts, const at::Tensor& lacks, const at::Tensor& sinks,
                      at::ScalarType type);

}  // namespace stereosweep::model
