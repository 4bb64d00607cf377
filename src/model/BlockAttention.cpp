#include "model/BlockAttention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "base/Check.hpp"
#include "model/NumberType.hpp"
#include "model/TreeAttentionKernel.hpp"
#include "model/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

struct TileQueries : TreeAttention::Queries {
  explicit TileQueries(TreeTiles cut) : tiles(std::move(cut)) {}
  TreeTiles tiles;
};

// A buffer of `capacity` blocks that begins with what `old` holds.
at::Tensor grown(const at::Tensor& old, std::vector<std::int64_t> shape, const at::TensorOptions& options) {
  auto next = at::empty(shape, options);
  if (old.defined()) {
    next.slice(0, 0, old.size(0)).copy_(old);
  }
  return next;
}

}  // namespace

BlockAttention::BlockAttention(AttentionRule rule, const KeptSize& size, const at::TensorOptions& options)
    : rule_(std::move(rule)),
      options_(options),
      padded_width_(lanes::round_up(rule_.width)),
      most_blocks_(whole_blocks(size.most_rows) / slots_per_block),
      layers_(static_cast<std::size_t>(size.layers)) {}

void BlockAttention::reserve(std::int64_t blocks) {
  if (blocks <= capacity_) {
    return;
  }
  capacity_ = grown_capacity(blocks, capacity_, most_blocks_);
  for (auto& layer : layers_) {
    layer.keys = grown(layer.keys, {capacity_, rule_.num_key_heads, padded_width_, lanes::width}, options_);
    layer.values = grown(layer.values, {capacity_, rule_.num_key_heads, lanes::width, padded_width_}, options_);
  }
  if (!rule_.slopes.empty()) {
    auto wider = at::zeros({rule_.num_heads, capacity_ * lanes::width}, at::TensorOptions(at::kFloat));
    if (bias_.defined()) {
      wider.slice(1, 0, bias_.size(1)).copy_(bias_);
    }
    bias_ = wider;
  }
}

void BlockAttention::update_bias(const TokenTree& tree, std::int64_t first) {
  std::int64_t positions = 0;
  for (const auto& branch : tree.branches) {
    positions = std::max<std::int64_t>(positions, branch.depth + branch.length);
  }
  const auto table = alibi_of(rule_.slopes, positions);
  for (std::int64_t head = 0; head < rule_.num_heads; ++head) {
    const float* from = table.const_data_ptr<float>() + head * positions;
    float* to = bias_.mutable_data_ptr<float>() + head * bias_.size(1);
    for (const auto& branch : tree.branches) {
      for (std::int32_t i = 0; branch.first >= first && i < branch.length; ++i) {
        to[allocator_.slots()[branch.first + i]] = from[branch.depth + i];
      }
    }
  }
}

void BlockAttention::grow(const TokenTree& tree) {
  const auto first = rows();
  allocator_.grow(tree);
  reserve(allocator_.num_blocks());
  if (bias_.defined()) {
    update_bias(tree, first);
  }
}

std::unique_ptr<TreeAttention::Queries> BlockAttention::choose(const TokenTree& tree,
                                                               std::span<const std::int64_t> rows,
                                                               std::int64_t window) const {
  const auto most = best_tile_queries(rule_.num_heads / rule_.num_key_heads);
  return std::make_unique<TileQueries>(cut_tiles(tree, allocator_.slots(), rows, window, most));
}

template <class Number>
void BlockAttention::keep_in(const Kept& kept, std::int64_t first, std::int64_t count, const at::Tensor& key,
                             const at::Tensor& value) const {
  KeepTask<Number> task{};
  task.keys = static_cast<const Number*>(key.const_data_ptr());
  task.values = static_cast<const Number*>(value.const_data_ptr());
  task.key_stride = key.stride(0);
  task.value_stride = value.stride(0);
  task.slots = allocator_.slots().data() + first;
  task.width = rule_.width;
  task.num_key_heads = rule_.num_key_heads;
  task.padded_width = padded_width_;
  task.kept_keys = static_cast<Number*>(kept.keys.mutable_data_ptr());
  task.kept_values = static_cast<Number*>(kept.values.mutable_data_ptr());
  at::parallel_for(0, count, 64, [&](std::int64_t begin, std::int64_t end) { keep_rows(task, begin, end); });
}

void BlockAttention::keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
                          const at::Tensor& value) {
  STEREOSWEEP_ASSERT(key.stride(1) == 1 && value.stride(1) == 1, "rows must be contiguous");
  STEREOSWEEP_ASSERT(first + count <= rows(), "rows must have their slots");
  const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
  with_number(key.scalar_type(), [&]<class Number>(Number) { keep_in<Number>(kept, first, count, key, value); });
}

template <class Number>
void BlockAttention::attend_in(const Kept& kept, const TreeTiles& tiles, const at::Tensor& query, float scale,
                               const at::Tensor& out) const {
  TileTask<Number> base{};
  base.kept.keys = static_cast<const Number*>(kept.keys.const_data_ptr());
  base.kept.values = static_cast<const Number*>(kept.values.const_data_ptr());
  base.kept.num_key_heads = rule_.num_key_heads;
  base.kept.padded_width = padded_width_;
  base.tiles = &tiles;
  base.query = static_cast<const Number*>(query.const_data_ptr());
  base.out = static_cast<Number*>(out.mutable_data_ptr());
  base.query_stride = query.stride(0);
  base.out_stride = out.stride(0);
  base.width = rule_.width;
  base.group = rule_.num_heads / rule_.num_key_heads;
  base.rule.scale = scale;
  base.rule.softcap = rule_.softcap;
  if (bias_.defined()) {
    base.rule.bias = bias_.const_data_ptr<float>();
    base.rule.bias_stride = bias_.size(1);
    base.rule.bias_scale = rule_.alibi_is_scaled ? scale : 1.0F;
  }
  const auto count = std::ssize(tiles.tiles);
  const auto numbers = tile_scratch_numbers(tiles.most_blocks, padded_width_);
  at::parallel_for(0, count * rule_.num_key_heads, 4, [&](std::int64_t begin, std::int64_t end) {
    const auto scratch = at::empty({numbers}, at::TensorOptions(at::kFloat));  // torch's allocator aligns to 64 bytes
    auto task = base;
    for (auto index = begin; index < end; ++index) {
      task.key_head = index / count;
      task.tile = &tiles.tiles[index % count];
      attend_tile(task, scratch.mutable_data_ptr<float>());
    }
  });
}

at::Tensor BlockAttention::attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const {
  const auto& tiles = static_cast<const TileQueries&>(queries).tiles;
  const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
  STEREOSWEEP_ASSERT(query.stride(1) == 1 && query.size(0) >= tiles.num_queries, "a row for every query");
  const auto out = at::empty({query.size(0), query.size(1)}, query.options());
  out.slice(0, tiles.num_queries).zero_();
  with_number(query.scalar_type(), [&]<class Number>(Number) { attend_in<Number>(kept, tiles, query, scale, out); });
  return out;
}

}  // namespace stereosweep::model
