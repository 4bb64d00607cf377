#include "model/causal/attention/LevelAttention.hpp"

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/Check.hpp"
#include "model/causal/attention/KeyValueStore.hpp"
#include "model/causal/attention/TreeSections.hpp"
#include "model/kernels/SegmentAttention.hpp"
#include "model/kernels/Segments.hpp"

namespace stereosweep::model {
namespace {

class LevelAttention : public TreeAttention {
 public:
  LevelAttention(const AttentionRule& rule, const KeptSize& size, const at::TensorOptions& options)
      : heads_{rule.num_heads, rule.num_key_heads, rule.width},
        options_(options),
        by_(segment_operator(options.device(), options.dtype().toScalarType(), rule.width)),
        store_(rule.num_key_heads * rule.width, size, options) {}

  void grow(const TokenTree& tree) override {
    store_.grow(tree);
    sections_ = find_sections(tree, store_.slots());
  }

  std::int64_t rows() const override { return store_.rows(); }

  void keep_only(std::span<const std::int32_t> rows) override { store_.keep_only(rows); }

  std::int64_t slots_in_use() const override { return store_.rows(); }

  std::unique_ptr<Queries> choose(const TokenTree&, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    SectionLimits limits;
    limits.knows_windows = by_ != SegmentOperator::efficient;
    auto calls = cut_calls(sections_, rows, window, limits);
    auto queries = std::make_unique<LevelQueries>();
    Staging staging;
    std::vector<std::int32_t> lacks;
    bool any_lacks = false;
    for (auto& call : calls) {
      any_lacks = any_lacks || !call.lacks.empty();
      call.lacks.resize(rows.size());
      lacks.insert(lacks.end(), call.lacks.begin(), call.lacks.end());
      queries->calls.emplace_back(std::move(call.segments), heads_, by_, staging);
    }
    const auto list = staging.add(any_lacks ? lacks : std::vector<std::int32_t>{});
    staging.send(options_.device());
    for (auto& call : queries->calls) {
      call.arrive(staging);
    }
    if (any_lacks) {
      const auto by_query = staging.at(list).to(at::kBool).view({std::ssize(queries->calls), -1}).t();
      const auto groups = heads_.queries / heads_.keys;
      queries->lacks = by_query.expand({heads_.keys, groups, by_query.size(0), by_query.size(1)}).contiguous();
    }
    return queries;
  }

  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
            const at::Tensor& value) override {
    store_.keep(layer, first, count, key, value);
  }

  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override {
    const auto& chosen = static_cast<const LevelQueries&>(queries);
    const auto count = chosen.calls.front().segments().num_queries();
    STEREOSWEEP_ASSERT(query.size(0) >= count, "a row for every query");
    const auto arranged = arrange_queries(query.slice(0, 0, count), heads_, by_);
    const auto keys = store_.keys(layer);
    const auto values = store_.values(layer);
    std::vector<PartialAttention> parts;
    for (const auto& call : chosen.calls) {
      parts.push_back(call.attend(arranged, keys, values, scale));
    }
    const auto mixed = join_parts(parts, chosen.lacks, query.scalar_type());
    const auto spare = query.size(0) - count;
    return spare == 0 ? mixed : at::cat({mixed, at::zeros({spare, query.size(1)}, query.options())});
  }

 private:
  struct LevelQueries : TreeAttention::Queries {
    std::vector<PlacedSegments> calls;
    at::Tensor lacks;  ///< as in join_parts
  };

  AttentionHeads heads_;
  at::TensorOptions options_;
  SegmentOperator by_;
  KeyValueStore store_;
  TreeSections sections_;
};

}  // namespace

std::unique_ptr<TreeAttention> make_level_attention(const AttentionRule& rule, const KeptSize& size,
                                                    const at::TensorOptions& options) {
  STEREOSWEEP_ASSERT(rule.slopes.empty() && rule.softcap == 0, "the scores of levels are not changed");
  return std::make_unique<LevelAttention>(rule, size, options);
}

}  // namespace stereosweep::model
