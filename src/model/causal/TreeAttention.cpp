#include "model/causal/TreeAttention.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/Check.hpp"
#include "model/causal/TileAttention.hpp"
#include "model/kernels/Attention.hpp"
#include "model/kernels/Segments.hpp"
#include "model/kernels/VectorLanes.hpp"

namespace stereosweep::model {
namespace {

struct TileQueries : TreeAttention::Queries {
  explicit TileQueries(TreeTiles cut) : tiles(std::move(cut)) {}
  TreeTiles tiles;
};

// Room for at least `needed` where there was room for `capacity`; `most` as in KeptSize.
std::int64_t grown_capacity(std::int64_t needed, std::int64_t capacity, std::int64_t most) {
  const auto roomy = capacity + capacity / 2;
  return std::max(needed, most > 0 ? std::min(roomy, most) : roomy);
}

// [heads, positions] float32: what alibi adds to the score of a key at each position.
at::Tensor alibi_of(std::span<const float> slopes, std::int64_t positions) {
  auto rounded = at::empty({std::ssize(slopes)}, at::TensorOptions(at::kFloat));
  std::copy(slopes.begin(), slopes.end(), rounded.mutable_data_ptr<float>());
  const auto places = at::arange(positions, at::TensorOptions(at::kFloat)).to(at::kBFloat16);
  return at::outer(rounded.to(at::kBFloat16), places).to(at::kFloat);
}

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
  BlockAttention(AttentionRule rule, const KeptSize& size, const at::TensorOptions& options)
      : rule_(std::move(rule)),
        options_(options),
        padded_width_(lanes::round_up(rule_.width)),
        most_blocks_(whole_blocks(size.most_rows) / slots_per_block),
        allocator_(size.placement),
        layers_(static_cast<std::size_t>(size.layers)) {}

  void grow(const TokenTree& tree) override {
    const auto first = rows();
    allocator_.grow(tree);
    reserve(allocator_.num_blocks());
    if (bias_.defined()) {
      update_bias(tree, first);
    }
  }

  std::int64_t rows() const override { return static_cast<std::int64_t>(allocator_.slots().size()); }

  void keep_only(std::span<const std::int32_t> rows) override { allocator_.keep_only(rows); }

  std::int64_t slots_in_use() const override { return std::int64_t{allocator_.used_blocks()} * slots_per_block; }

  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    const auto most = best_tile_queries(rule_.num_heads / rule_.num_key_heads);
    return std::make_unique<TileQueries>(cut_tiles(tree, allocator_.slots(), rows, window, most));
  }

  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
            const at::Tensor& value) override {
    STEREOSWEEP_ASSERT(key.stride(1) == 1 && value.stride(1) == 1, "rows must be contiguous");
    STEREOSWEEP_ASSERT(first + count <= rows(), "rows must have their slots");
    const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
    with_number(key.scalar_type(), [&]<class Number>(Number) {
      at::parallel_for(0, rule_.num_key_heads, 1, [&](std::int64_t begin, std::int64_t end) {
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
      const auto whole = task_of<Number>(kept, tiles, query, scale, out);
      at::parallel_for(0, count * rule_.num_key_heads, 4, [&](std::int64_t begin, std::int64_t end) {
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
      const auto start = (block * rule_.num_key_heads + head) * padded_width_ * lanes::width;
      const auto* key = numbers_of<Number>(keys) + row * keys.stride(0) + head * rule_.width;
      const auto* value = numbers_of<Number>(values) + row * values.stride(0) + head * rule_.width;
      auto* kept_key = numbers_to<Number>(kept.keys) + start + lane;
      for (std::int64_t d = 0; d < rule_.width; ++d) {
        kept_key[d * lanes::width] = key[d];
      }
      std::copy_n(value, rule_.width, numbers_to<Number>(kept.values) + start + lane * padded_width_);
    }
  }

  template <class Number>
  TileTask<Number> task_of(const Kept& kept, const TreeTiles& tiles, const at::Tensor& query, float scale,
                           const at::Tensor& out) const {
    TileTask<Number> task{};
    task.kept = {numbers_of<Number>(kept.keys), numbers_of<Number>(kept.values), rule_.num_key_heads, padded_width_};
    task.tiles = &tiles;
    task.query = numbers_of<Number>(query);
    task.out = numbers_to<Number>(out);
    task.query_stride = query.stride(0);
    task.out_stride = out.stride(0);
    task.width = rule_.width;
    task.group = rule_.num_heads / rule_.num_key_heads;
    task.rule = {scale, rule_.softcap};
    if (bias_.defined()) {
      task.rule.bias = bias_.const_data_ptr<float>();
      task.rule.bias_stride = bias_.size(1);
      task.rule.bias_scale = rule_.alibi_is_scaled ? scale : 1.0F;
    }
    return task;
  }

  void reserve(std::int64_t blocks) {
    if (blocks <= capacity_) {
      return;
    }
    capacity_ = std::max(blocks, most_blocks_);  // the system gives pages as they are written
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

  void update_bias(const TokenTree& tree, std::int64_t first) {
    const auto positions = longest_path(tree);
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

  AttentionRule rule_;
  at::TensorOptions options_;
  std::int64_t padded_width_;
  std::int64_t most_blocks_ = 0;
  std::int64_t capacity_ = 0;  ///< blocks
  SlotAllocator allocator_;
  std::vector<Kept> layers_;
  at::Tensor bias_;  ///< [heads, capacity * 16]; undefined without alibi
};

constexpr std::int64_t most_scores = most_scores_bytes / 4;

PathLimits limits_of(const AttentionRule& rule, const at::TensorOptions& options) {
  const auto bytes_per_row =
      2 * rule.num_key_heads * rule.width * static_cast<std::int64_t>(options.dtype().itemsize());
  return {1024, std::clamp<std::int64_t>(most_gathered_bytes / bytes_per_row, 1, std::int64_t{1} << 17)};
}

// Tree attention by torch's operators, on any device: keys and values of a path are gathered row by row. On CUDA many
// paths go through flash attention in one call where it knows the rule (two-byte numbers, no alibi, no cap); otherwise
// path by path, equal ones together, with an explicit mask.
class PathAttention : public TreeAttention {
 public:
  PathAttention(AttentionRule rule, const KeptSize& size, const at::TensorOptions& options)
      : rule_(std::move(rule)),
        options_(options),
        limits_(limits_of(rule_, options)),
        most_rows_(size.most_rows),
        layers_(static_cast<std::size_t>(size.layers)) {}

  void grow(const TokenTree& tree) override {
    const auto missing = std::ssize(tree.ids) - rows();
    const auto again = std::min<std::int64_t>(missing, std::ssize(free_));
    slots_.insert(slots_.end(), free_.begin(), free_.begin() + again);
    free_.erase(free_.begin(), free_.begin() + again);
    for (auto i = again; i < missing; ++i) {
      slots_.push_back(num_slots_++);
    }
    if (num_slots_ > capacity_) {
      capacity_ = grown_capacity(num_slots_, capacity_, most_rows_);
      for (auto& layer : layers_) {
        for (auto* kept : {&layer.keys, &layer.values}) {
          *kept = grown(*kept, {capacity_, rule_.num_key_heads * rule_.width}, options_);
        }
      }
    }
    if (!rule_.slopes.empty()) {
      alibi_ = alibi_of(rule_.slopes, longest_path(tree)).to(options_.device());
    }
  }

  std::int64_t rows() const override { return std::ssize(slots_); }

  void keep_only(std::span<const std::int32_t> rows) override {
    std::vector<char> is_used(static_cast<std::size_t>(num_slots_));
    std::vector<std::int32_t> kept;
    kept.reserve(rows.size());
    for (const auto row : rows) {
      kept.push_back(slots_[row]);
      is_used[kept.back()] = 1;
    }
    slots_ = std::move(kept);
    free_.clear();
    for (std::int32_t slot = 0; slot < num_slots_; ++slot) {
      if (is_used[slot] == 0) {
        free_.push_back(slot);
      }
    }
  }

  std::int64_t slots_in_use() const override { return rows(); }

  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override {
    auto queries = std::make_unique<PathQueries>();
    queries->window = window;
    queries->count = std::ssize(rows);
    for (auto& paths : cut_paths(tree, rows, window, limits_)) {
      std::ranges::transform(paths.key_rows, paths.key_rows.begin(), [&](std::int32_t row) { return slots_[row]; });
      Staging staging;
      const auto key_rows = staging.add(paths.key_rows);
      const auto query_begin = staging.add(paths.query_begin);
      const auto key_begin = staging.add(paths.key_begin);
      staging.send(options_.device());
      queries->groups.push_back(
          {std::move(paths), staging.at(key_rows), staging.at(query_begin), staging.at(key_begin)});
    }
    return queries;
  }

  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key,
            const at::Tensor& value) override {
    const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
    const auto begin = std::int64_t{slots_[first]};
    if (slots_[first + count - 1] == begin + count - 1) {  // slots that are taken ascend
      kept.keys.slice(0, begin, begin + count).copy_(key.slice(0, 0, count));
      kept.values.slice(0, begin, begin + count).copy_(value.slice(0, 0, count));
      return;
    }
    const auto places =
        on_device(std::vector<std::int32_t>(slots_.begin() + first, slots_.begin() + first + count), options_.device())
            .to(at::kLong);
    kept.keys.index_copy_(0, places, key.slice(0, 0, count));
    kept.values.index_copy_(0, places, value.slice(0, 0, count));
  }

  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override {
    const auto& chosen = static_cast<const PathQueries&>(queries);
    const auto& kept = layers_[static_cast<std::size_t>(layer) % layers_.size()];
    const bool flash = flash_knows() && flash_takes(query, rule_.num_heads);
    auto out = at::empty({query.size(0), query.size(1)}, query.options());
    out.slice(0, chosen.count).zero_();
    for (const auto& group : chosen.groups) {
      const auto count = group.paths.query_begin.back();
      const auto rows = query.slice(0, group.paths.first_query, group.paths.first_query + count);
      const auto key = kept.keys.index_select(0, group.key_rows);
      const auto value = kept.values.index_select(0, group.key_rows);
      const auto mixed = flash ? flash_attend(rows, key, value,
                                              {group.query_begin, group.key_begin, longest(group.paths.query_begin),
                                               longest(group.paths.key_begin), rule_.num_heads, rule_.num_key_heads,
                                               scale, FlashMask::causal, chosen.window})
                               : attend_by_path(group, chosen.window, rows, key, value, scale);
      out.slice(0, group.paths.first_query, group.paths.first_query + count).copy_(mixed);
    }
    return out;
  }

 private:
  struct Kept {
    at::Tensor keys;  ///< [capacity, key heads * width]
    at::Tensor values;
  };
  struct Group {
    TreePaths paths;
    at::Tensor key_rows;  ///< slots of the keys, and the lists of `paths`, on the device, int32
    at::Tensor query_begin;
    at::Tensor key_begin;
  };
  struct PathQueries : TreeAttention::Queries {
    std::vector<Group> groups;
    std::int64_t window = 0;
    std::int64_t count = 0;
  };

  bool flash_knows() const { return rule_.slopes.empty() && rule_.softcap == 0; }

  at::Tensor attend_by_path(const Group& group, std::int64_t window, const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value, float scale) const {
    const auto& paths = group.paths;
    const auto num_segments = paths.key_begin.size() - 1;
    const auto shape_of = [&](std::size_t i) {
      return EqualSegments{1, paths.query_begin[i + 1] - paths.query_begin[i],
                           paths.key_begin[i + 1] - paths.key_begin[i], window,
                           alibi_.defined() ? paths.first_position[i] : 0};
    };
    auto out = at::empty({query.size(0), query.size(1)}, query.options());
    for (std::size_t first = 0; first < num_segments;) {
      auto segments = shape_of(first);
      const auto most = std::max<std::int64_t>(1, most_scores / (rule_.num_heads * segments.queries * segments.keys));
      auto last = first + 1;
      for (; last < num_segments && segments.count < most; ++last, ++segments.count) {
        const auto next = shape_of(last);
        if (next.queries != segments.queries || next.keys != segments.keys ||
            next.first_position != segments.first_position) {
          break;
        }
      }
      const auto keys = [&](const at::Tensor& rows) {
        return rows.slice(0, paths.key_begin[first], paths.key_begin[last]);
      };
      const auto queries = [&](const at::Tensor& rows) {
        return rows.slice(0, paths.query_begin[first], paths.query_begin[last]);
      };
      queries(out).copy_(attend_equal(queries(query), keys(key), keys(value), scale, segments));
      first = last;
    }
    return out;
  }

  struct EqualSegments {
    std::int64_t count = 0;
    std::int64_t queries = 0;  ///< of each
    std::int64_t keys = 0;
    std::int64_t window = 0;
    std::int64_t first_position = 0;  ///< of the first key in its path; counts with alibi only
  };

  // Segments of equal shape together. Query i stands at position last - queries + 1 + i of its path, key j at
  // first_position + j.
  at::Tensor attend_equal(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, float scale,
                          const EqualSegments& segments) const {
    const auto count = segments.count;
    const auto queries = segments.queries;
    const auto keys = segments.keys;
    const auto group = rule_.num_heads / rule_.num_key_heads;
    // [segments, heads, queries, width]; of the key heads each stands once for every head of its group
    const auto q = query.unflatten(0, {count, queries}).unflatten(2, {rule_.num_heads, rule_.width}).transpose(1, 2);
    const auto by_head = [&](const at::Tensor& rows) {
      const auto shared = rows.unflatten(0, {count, keys}).unflatten(2, {rule_.num_key_heads, 1, rule_.width});
      return shared.permute({0, 2, 3, 1, 4}).expand({-1, -1, group, -1, -1}).flatten(1, 2);
    };
    const auto k = by_head(key);
    const auto v = by_head(value);
    const auto integers = at::TensorOptions(at::kLong).device(options_.device());
    const auto distance =
        at::arange(keys - queries, keys, integers).unsqueeze(1).sub(at::arange(keys, integers).unsqueeze(0));
    auto hidden = distance.lt(0);
    if (segments.window > 0) {
      hidden = hidden.logical_or(distance.ge(segments.window));
    }
    auto mask = at::zeros({queries, keys}, at::TensorOptions(at::kFloat).device(options_.device()))
                    .masked_fill_(hidden, -std::numeric_limits<float>::infinity());
    if (alibi_.defined()) {
      const auto bias = alibi_.slice(1, segments.first_position, segments.first_position + keys).unsqueeze(1);
      mask = mask.add(rule_.alibi_is_scaled ? bias.mul(scale) : bias).unsqueeze(0);
    }
    at::Tensor mixed;
    const bool wide = query.scalar_type() == at::kFloat;  // in bfloat16 a far key's alibi would lose its last digits
    if (rule_.softcap == 0 && (wide || !alibi_.defined())) {
      mixed = at::scaled_dot_product_attention(q, k, v, mask.to(query.scalar_type()), 0.0, false, scale);
    } else {
      const auto scores = at::matmul(q.to(at::kFloat), k.to(at::kFloat).transpose(2, 3)).mul_(scale);
      if (rule_.softcap != 0) {
        scores.div_(rule_.softcap).tanh_().mul_(rule_.softcap);
      }
      mixed = at::matmul(at::softmax(scores.add_(mask), -1), v.to(at::kFloat)).to(query.scalar_type());
    }
    return mixed.transpose(1, 2).reshape({count * queries, query.size(1)});
  }

  AttentionRule rule_;
  at::TensorOptions options_;
  PathLimits limits_;
  std::int64_t most_rows_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<std::int32_t> slots_;  ///< [row] where its key and value are kept
  std::vector<std::int32_t> free_;   ///< slots without a row, ascending
  std::int32_t num_slots_ = 0;
  std::vector<Kept> layers_;
  at::Tensor alibi_;  ///< [heads, positions] on the device; undefined without alibi
};

}  // namespace

std::unique_ptr<TreeAttention> make_tree_attention(const AttentionRule& rule, const KeptSize& size,
                                                   const at::TensorOptions& options, Kernels kernels) {
  STEREOSWEEP_ASSERT(
      rule.num_key_heads > 0 && rule.num_heads % rule.num_key_heads == 0 && rule.width > 0 && size.layers > 0,
      "key heads must divide the heads");
  STEREOSWEEP_ASSERT(rule.slopes.empty() || std::ssize(rule.slopes) == rule.num_heads, "one slope for every head");
  if (kernels == Kernels::own_kernels) {
    STEREOSWEEP_ASSERT(options.device().is_cpu(), "our own kernels run on the CPU");
    return std::make_unique<BlockAttention>(rule, size, options);
  }
  return std::make_unique<PathAttention>(rule, size, options);
}

}  // namespace stereosweep::model
