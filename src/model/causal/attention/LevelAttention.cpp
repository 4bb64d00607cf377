#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/Error.hpp"
#include "model/causal/attention/KeyValueStore.hpp"
#include "model/causal/attention/TreeSections.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {
namespace {

// Alibi of a call stays for all layers: queries are cut where it would take more.
constexpr std::int64_t most_bias_numbers = most_scores_bytes / 4;

constexpr std::int64_t spare_places = 256;  // so that not every step of a text makes the table anew

// Each level above a row is a call of its own, and a sum of what the calls put out. Where paths are short it is cheaper
// to copy what is above in front of what is below: at most most_copies of what is there, and so many rows for each
// query (a step of generation copies anew).
constexpr std::int64_t most_copies_per_query = 128;

// In 16 bits alibi_of gives such numbers, and a power of two leaves them so. An operator whose bias has 16 bits would
// round others.
bool keeps_alibi(const CausalSpecification& specification, at::ScalarType type) {
  int exponent = 0;
  return type == at::kFloat || std::frexp(specification.alibi_scale, &exponent) == 0.5F;
}

SegmentOperator operator_for(const CausalSpecification& specification, const at::TensorOptions& options) {
  const auto type = options.dtype().toScalarType();
  if (specification.alibi_slopes.empty()) {
    return segment_operator(options.device(), type, specification.head_width);
  }
  return keeps_alibi(specification, type)
             ? segment_operator(options.device(), type, specification.head_width, ScoreBias::by_key)
             : SegmentOperator::plain;
}

class LevelAttention : public KeyValueStore {
 public:
  LevelAttention(const CausalSpecification& specification, std::vector<at::Tensor> sinks, const KeptSize& size,
                 const at::TensorOptions& options)
      : KeyValueStore(specification, size, options),
        sinks_(std::move(sinks)),
        by_(operator_for(specification, options)) {}

  void grow(const TokenTree& tree) override {
    KeyValueStore::grow(tree);
    sections_ = find_sections(tree, slots());
    if (const auto longest = longest_path(tree); !specification_.alibi_slopes.empty() && longest > known_places_) {
      known_places_ = longest + spare_places;
      const auto model_type = options_.dtype().toScalarType();
      const auto places = known_places_ + columns_of_bias(known_places_);
      const auto table = alibi_of(specification_, places, model_type).mul_(specification_.alibi_scale);
      const auto type = by_ == SegmentOperator::plain ? at::kFloat : model_type;
      alibi_ = sent_to(table.to(type), options_.device());
    }
  }

  std::unique_ptr<Queries> choose(const TokenTree&, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    auto queries = std::make_unique<LevelQueries>();
    Staging staging;
    const auto joined = join_sections(sections_, rows, {most_copies, most_copies_per_query * std::ssize(rows)});
    const auto copies = joined ? std::optional(staging.add(joined->slots)) : std::nullopt;
    add_parts(joined ? joined->sections : sections_, rows, window, staging, *queries);
    staging.send(options_.device());
    if (copies) {
      queries->copied_slots = staging.at(*copies);
    }
    for (auto& part : queries->parts) {
      for (auto& call : part.calls) {
        call.arrive(staging, alibi_);
      }
      if (part.lacks_list) {
        const auto calls = std::ssize(part.calls);
        auto by_query = staging.at(*part.lacks_list).to(at::kBool).view({calls, -1}).t();
        if (!sinks_.empty()) {
          by_query = at::constant_pad_nd(by_query, {0, 1}, 0);  // no query lacks the sink
        }
        part.lacks = by_query.expand({heads_.keys, heads_.queries / heads_.keys, -1, -1}).contiguous();
      }
    }
    return queries;
  }

  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override {
    const auto& chosen = static_cast<const LevelQueries&>(queries);
    STEREOSWEEP_ASSERT(query.size(0) >= chosen.count(), "a row for every query");
    const auto& kept = rows_of(layer);
    const auto rows = chosen.copied_slots.defined() ? kept.index_select(0, chosen.copied_slots) : kept;
    std::vector<at::Tensor> mixed;
    std::int64_t begin = 0;
    for (const auto& part : chosen.parts) {
      const auto end = begin + part.count();
      const bool is_all = end - begin == query.size(0);
      mixed.push_back(attend_part(layer, rows, part, is_all ? query : query.slice(0, begin, end), scale));
      begin = end;
    }
    if (const auto spare = query.size(0) - begin; spare > 0) {
      mixed.push_back(at::zeros({spare, query.size(1)}, query.options()));
    }
    return mixed.size() == 1 ? mixed.front() : at::cat(mixed);
  }

 private:
  // Queries in a row.
  struct Part {
    std::vector<PlacedSegments> calls;
    std::optional<std::size_t> lacks_list;  ///< in the staging, until it arrives
    at::Tensor lacks;                       ///< as in join_parts

    std::int64_t count() const { return calls.front().segments().num_queries(); }
  };
  struct LevelQueries : TreeAttention::Queries {
    std::vector<Part> parts;
    at::Tensor copied_slots;  ///< of sections that were joined; undefined: keys are read where they lie

    std::int64_t count() const {
      std::int64_t sum = 0;
      for (const auto& part : parts) {
        sum += part.count();
      }
      return sum;
    }
  };

  void add_parts(const TreeSections& sections, std::span<const std::int64_t> rows, std::int64_t window,
                 Staging& staging, LevelQueries& queries) const {
    SectionLimits limits;
    limits.knows_windows = by_ != SegmentOperator::efficient;
    auto calls = cut_calls(sections, rows, window, limits);
    const auto is_large = [&](const SectionCall& call) {
      return bias_numbers(call.segments, heads_.queries) > most_bias_numbers;
    };
    if (alibi_.defined() && by_ != SegmentOperator::plain && rows.size() > 1 && std::ranges::any_of(calls, is_large)) {
      add_parts(sections, rows.first(rows.size() / 2), window, staging, queries);
      add_parts(sections, rows.subspan(rows.size() / 2), window, staging, queries);
      return;
    }
    auto& part = queries.parts.emplace_back();
    std::vector<std::int32_t> lacks;
    bool any_lacks = false;
    for (auto& call : calls) {
      any_lacks = any_lacks || !call.lacks.empty();
      call.lacks.resize(rows.size());
      lacks.insert(lacks.end(), call.lacks.begin(), call.lacks.end());
      part.calls.emplace_back(std::move(call.segments), heads_, by_, staging);
    }
    if (any_lacks) {
      part.lacks_list = staging.add(lacks);
    }
  }

  // `rows`: keys and values.
  at::Tensor attend_part(int layer, const at::Tensor& rows, const Part& part, const at::Tensor& query,
                         float scale) const {
    const auto by_query = arrange_queries(query, heads_, by_);
    const bool has_groups = std::ranges::any_of(part.calls, &PlacedSegments::groups_are_rows);
    const auto by_group = has_groups ? arrange_groups(query, heads_) : at::Tensor();
    const auto by_head = [&](std::int64_t first) {
      return rows.as_strided({rows.size(0), heads_.keys, heads_.width}, {rows.stride(0), heads_.width, 1},
                             rows.storage_offset() + first);
    };
    const auto all_keys = by_head(0);
    const auto all_values = by_head(heads_.keys * heads_.width);
    std::vector<PartialAttention> parts;
    for (const auto& call : part.calls) {
      parts.push_back(call.attend(call.groups_are_rows() ? by_group : by_query, all_keys, all_values, scale));
    }
    const auto sinks = sinks_.empty() ? at::Tensor() : sinks_[static_cast<std::size_t>(layer)];
    return join_parts(parts, part.lacks, sinks, query.scalar_type());
  }

  std::vector<at::Tensor> sinks_;
  SegmentOperator by_;
  TreeSections sections_;
  std::int64_t known_places_ = 0;  ///< the longest path that alibi_ is made for
  at::Tensor alibi_;               ///< as bias_numbers says; undefined without alibi
};

}  // namespace

std::unique_ptr<TreeAttention> make_level_attention(const CausalSpecification& specification,
                                                    std::vector<at::Tensor> sinks, const KeptSize& size,
                                                    const at::TensorOptions& options) {
  STEREOSWEEP_ASSERT(specification.attention_softcap == 0,
                     "no operator caps scores and gives the logarithms of their sums");
  return std::make_unique<LevelAttention>(specification, std::move(sinks), size, options);
}

}  // namespace stereosweep::model
