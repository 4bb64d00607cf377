// Tree attention on the CPU by our own kernel. A row's key and value are put once into blocks of sixteen; no key is
// copied for a branch.
#pragma once

#include "model/TreeAttention.hpp"
#include "model/TreeTiles.hpp"

namespace stereosweep::model {

class BlockAttention : public TreeAttention {
 public:
  BlockAttention(AttentionRule rule, const KeptSize& size, const at::TensorOptions& options);

  void grow(const TokenTree& tree) override;
  std::int64_t rows() const override { return static_cast<std::int64_t>(allocator_.slots().size()); }
  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override;
  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key, const at::Tensor& value) override;
  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override;

 private:
  struct Kept {
    at::Tensor keys;    ///< [capacity, key heads, padded width, 16]
    at::Tensor values;  ///< [capacity, key heads, 16, padded width]
  };
  template <class Number>
  void keep_in(const Kept& kept, std::int64_t first, std::int64_t count, const at::Tensor& key,
               const at::Tensor& value) const;
  template <class Number>
  void attend_in(const Kept& kept, const TreeTiles& tiles, const at::Tensor& query, float scale,
                 const at::Tensor& out) const;
  void reserve(std::int64_t blocks);
  void update_bias(const TokenTree& tree, std::int64_t first);

  AttentionRule rule_;
  at::TensorOptions options_;
  std::int64_t padded_width_;
  std::int64_t most_blocks_ = 0;
  std::int64_t capacity_ = 0;  ///< blocks
  SlotAllocator allocator_;
  std::vector<Kept> layers_;
  at::Tensor bias_;  ///< [heads, capacity * 16]; undefined without alibi
};

}  // namespace stereosweep::model
