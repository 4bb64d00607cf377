#include "model/causal/attention/TreeAttention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "base/Error.hpp"
#include "model/causal/attention/KeyValueStore.hpp"
#include "model/causal/attention/RegionAllocator.hpp"
#include "model/causal/attention/TileAttention.hpp"
#include "model/kernels/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

struct TileQueries : TreeAttention::Queries {
  explicit TileQueries(TreeTiles cut) : tiles(std::move(cut)) {}
  TreeTiles tiles;
};

// A buffer of this shape that begins with what `old` holds.
at::Tensor grown(const at::Tensor& old, std::vector<std::int64_t> shape, const at::TensorOptions& options) {
  auto next = at::empty(shape, options);
  if (old.defined()) {
    next.slice(0, 0, old.size(0)).copy_(old);
  }
  return next;
}

// Tree attention on the CPU by our own kernel. A row's key and value are put once into blocks of sixteen; no key is
// copied for a branch.
class BlockAttention : public TreeAttention {
 public:
  BlockAttention(const CausalSpecification& specification, std::vector<at::Tensor> sinks, const KeptSize& size,
                 const at::TensorOptions& options)
      : specification_(specification),
        heads_{specification.num_heads, specification.num_key_heads, specification.head_width},
        sinks_(std::move(sinks)),
        options_(options),
        padded_width_(lanes::round_up(heads_.width)),
        most_blocks_(whole_blocks(size.most_rows) / slots_per_block),
        allocator_(whole_blocks(size.most_rows), size.placement, slots_per_block),
        layers_(static_cast<std::size_t>(size.layers)) {}

  void grow(const TokenTree& tree) override {
    const auto first = rows();
    allocator_.grow(tree);
    reserve(allocator_.end() / slots_per_block);
    if (bias_.defined()) {
      update_bias(tree, first);
    }
  }

  std::int64_t rows() const override { return static_cast<std::int64_t>(allocator_.slots().size()); }

  void keep_only(std::span<const std::int32_t> rows) override { allocator_.keep_only(rows); }

  std::int64_t slots_in_use() const override { return allocator_.slots_in_use(); }

  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    const auto most = best_tile_queries(heads_.queries / heads_.keys);
    return std::make_unique<TileQueries>(cut_tiles(tree, allocator_.slots(), rows, window, most));
  }

  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
            const at::Tensor& value) override {
    STEREOSWEEP_ASSERT(key.stride(1) == 1 && value.stride(1) == 1, "rows must be contiguous");
    STEREOSWEEP_ASSERT(first + count <= rows(), "rows must have their slots");
    const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
    with_number(key.scalar_type(), [&]<class Number>(Number) {
      at::parallel_for(0, heads_.keys, 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto head = begin; head < end; ++head) {  // so that a head's blocks stay in the cache
          keep_head<Number>(kept, head, first, count, key, value);
        }
      });
    });
  }

  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override {
    const auto& tiles = static_cast<const TileQueries&>(queries).tiles;
    const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
    STEREOSWEEP_ASSERT(query.stride(1) == 1 && query.size(0) >= std::ssize(tiles.queries), "a row for every query");
    const auto out = at::empty({query.size(0), query.size(1)}, query.options());
    out.slice(0, std::ssize(tiles.queries)).zero_();
    const auto count = std::ssize(tiles.tiles);
    const auto numbers = tile_scratch_numbers(tiles.most_blocks, padded_width_);
    with_number(query.scalar_type(), [&]<class Number>(Number) {
      auto whole = task_of<Number>(kept, tiles, query, scale, out);
      whole.rule.sinks = sinks_.empty() ? nullptr : sinks_[static_cast<std::size_t>(layer)].const_data_ptr<float>();
      at::parallel_for(0, count * heads_.keys, 4, [&](std::int64_t begin, std::int64_t end) {
        const auto scratch = at::empty({numbers}, at::TensorOptions(at::kFloat));  // torch aligns to 64 bytes
        auto task = whole;
        for (auto index = begin; index < end; ++index) {
          task.key_head = index / count;
          task.tile = &tiles.tiles[index % count];
          task.next_key_head = (index + 1) / count;
          task.next_tile = index + 1 < end ? &tiles.tiles[(index + 1) % count] : nullptr;
          attend_tile(task, scratch.mutable_data_ptr<float>());
        }
      });
    });
    return out;
  }

 private:
  struct Kept {
    at::Tensor keys;    ///< [capacity, key heads, padded width, 16]
    at::Tensor values;  ///< [capacity, key heads, 16, padded width]
  };

  template <class Number>
  void keep_head(const Kept& kept, std::int64_t head, std::int64_t first, std::int64_t count, const at::Tensor& keys,
                 const at::Tensor& values) const {
    for (std::int64_t row = 0; row < count; ++row) {
      const auto slot = std::int64_t{allocator_.slots()[static_cast<std::size_t>(first + row)]};
      const auto block = slot / slots_per_block;
      const auto lane = slot % slots_per_block;
      const auto start = (block * heads_.keys + head) * padded_width_ * lanes::width;
      const auto* key = numbers_of<Number>(keys) + row * keys.stride(0) + head * heads_.width;
      const auto* value = numbers_of<Number>(values) + row * values.stride(0) + head * heads_.width;
      auto* kept_key = numbers_to<Number>(kept.keys) + start + lane;
      for (std::int64_t d = 0; d < heads_.width; ++d) {
        kept_key[d * lanes::width] = key[d];
      }
      std::copy_n(value, heads_.width, numbers_to<Number>(kept.values) + start + lane * padded_width_);
    }
  }

  template <class Number>
  TileTask<Number> task_of(const Kept& kept, const TreeTiles& tiles, const at::Tensor& query, float scale,
                           const at::Tensor& out) const {
    TileTask<Number> task{};
    task.kept = {numbers_of<Number>(kept.keys), numbers_of<Number>(kept.values), heads_.keys, padded_width_};
    task.tiles = &tiles;
    task.query = numbers_of<Number>(query);
    task.out = numbers_to<Number>(out);
    task.query_stride = query.stride(0);
    task.out_stride = out.stride(0);
    task.width = heads_.width;
    task.group = heads_.queries / heads_.keys;
    task.rule = {scale, specification_.attention_softcap};
    if (bias_.defined()) {
      task.rule.bias = bias_.const_data_ptr<float>();
      task.rule.bias_stride = bias_.size(1);
      task.rule.bias_scale = specification_.alibi_scale;
    }
    return task;
  }

  void reserve(std::int64_t blocks) {
    if (blocks <= capacity_) {
      return;
    }
    capacity_ = std::max(blocks, most_blocks_);  // the system gives pages as they are written
    for (auto& layer : layers_) {
      layer.keys = grown(layer.keys, {capacity_, heads_.keys, padded_width_, lanes::width}, options_);
      layer.values = grown(layer.values, {capacity_, heads_.keys, lanes::width, padded_width_}, options_);
    }
    if (!specification_.alibi_slopes.empty()) {
      auto wider = at::zeros({heads_.queries, capacity_ * lanes::width}, at::TensorOptions(at::kFloat));
      if (bias_.defined()) {
        wider.slice(1, 0, bias_.size(1)).copy_(bias_);
      }
      bias_ = wider;
    }
  }

  void update_bias(const TokenTree& tree, std::int64_t first) {
    const auto positions = longest_path(tree);
    const auto table = alibi_of(specification_, positions, c10::typeMetaToScalarType(options_.dtype()));
    for (std::int64_t head = 0; head < heads_.queries; ++head) {
      const float* from = table.const_data_ptr<float>() + head * positions;
      float* to = bias_.mutable_data_ptr<float>() + head * bias_.size(1);
      for (const auto& branch : tree.branches) {
        for (std::int32_t i = 0; branch.first >= first && i < branch.length; ++i) {
          to[allocator_.slots()[branch.first + i]] = from[branch.depth + i];
        }
      }
    }
  }

  const CausalSpecification& specification_;
  AttentionHeads heads_;
  std::vector<at::Tensor> sinks_;
  at::TensorOptions options_;
  std::int64_t padded_width_;
  std::int64_t most_blocks_ = 0;
  std::int64_t capacity_ = 0;  ///< blocks
  RegionAllocator allocator_;
  std::vector<Kept> layers_;
  at::Tensor bias_;  ///< [heads, capacity * 16]; undefined without alibi
};

}  // namespace

at::Tensor alibi_of(const CausalSpecification& specification, std::int64_t positions, at::ScalarType type) {
  auto slopes = at::empty({std::ssize(specification.alibi_slopes)}, at::TensorOptions(at::kFloat));
  std::copy(specification.alibi_slopes.begin(), specification.alibi_slopes.end(), slopes.mutable_data_ptr<float>());
  const auto places = at::arange(positions, at::TensorOptions(at::kFloat));
  return specification.alibi_rounding == AlibiRounding::model
             ? at::outer(slopes, places).to(type).to(at::kFloat)
             : at::outer(slopes.to(at::kBFloat16), places.to(at::kBFloat16)).to(at::kFloat);
}

std::unique_ptr<TreeAttention> make_tree_attention(const CausalSpecification& specification,
                                                   std::vector<at::Tensor> sinks, const KeptSize& size,
                                                   const at::TensorOptions& options, Kernels kernels) {
  STEREOSWEEP_ASSERT(specification.num_key_heads > 0 && specification.num_heads % specification.num_key_heads == 0 &&
                         specification.head_width > 0 && size.layers > 0,
                     "key heads must divide the heads");
  STEREOSWEEP_ASSERT(
      specification.alibi_slopes.empty() || std::ssize(specification.alibi_slopes) == specification.num_heads,
      "one slope for every head");
  STEREOSWEEP_ASSERT((specification.alibi_slopes.empty() && sinks.empty()) || specification.attention_softcap == 0,
                     "alibi and sinks, or a cap");
  if (kernels == Kernels::own_kernels) {
    STEREOSWEEP_ASSERT(options.device().is_cpu(), "our own kernels run on the CPU");
    return std::make_unique<BlockAttention>(specification, std::move(sinks), size, options);
  }
  return specification.attention_softcap == 0 ? make_level_attention(specification, std::move(sinks), size, options)
                                              : make_path_attention(specification, size, options);
}

}  // namespace stereosweep::model
