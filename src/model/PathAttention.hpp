// Tree attention by torch's operators, on any device: keys and values of a path are gathered row by row. On CUDA many
// paths go through flash attention in one call where it knows the rule (two-byte numbers, no alibi, no cap); otherwise
// path by path, equal ones together, with an explicit mask.
#pragma once

#include "model/TreeAttention.hpp"
#include "model/TreePaths.hpp"

namespace stereosweep::model {

/// Keys and values that are gathered together take so many bytes at most, and so do the scores of segments that are
/// computed together without flash attention.
inline constexpr std::int64_t most_gathered_bytes = std::int64_t{1} << 29;
inline constexpr std::int64_t most_scores_bytes = std::int64_t{1} << 28;

class PathAttention : public TreeAttention {
 public:
  PathAttention(AttentionRule rule, const KeptSize& size, const at::TensorOptions& options);

  void grow(const TokenTree& tree) override;
  std::int64_t rows() const override { return rows_; }
  std::unique_ptr<Queries> choose(const TokenTree& tree, std::span<const std::int64_t> rows,
                                  std::int64_t window) const override;
  void keep(int layer, std::int64_t first, std::int64_t count, const at::Tensor& key, const at::Tensor& value) override;
  at::Tensor attend(int layer, const Queries& queries, const at::Tensor& query, float scale) const override;

 private:
  struct Kept {
    at::Tensor keys;  ///< [capacity, key heads * width]
    at::Tensor values;
  };
  struct Group {
    TreePaths paths;
    at::Tensor key_rows;  ///< the lists of `paths` on the device, int32
    at::Tensor query_begin;
    at::Tensor key_begin;
  };
  struct PathQueries;
  bool flash_knows() const;
  at::Tensor attend_by_path(const Group& group, std::int64_t window, const at::Tensor& query, const at::Tensor& key,
                            const at::Tensor& value, float scale) const;
  struct EqualSegments {
    std::int64_t count = 0;
    std::int64_t queries = 0;  ///< of each
    std::int64_t keys = 0;
    std::int64_t window = 0;
    std::int64_t first_position = 0;  ///< of the first key in its path; counts with alibi only
  };
  at::Tensor attend_equal(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, float scale,
                          const EqualSegments& segments) const;

  AttentionRule rule_;
  at::TensorOptions options_;
  PathLimits limits_;
  std::int64_t rows_ = 0;
  std::int64_t most_rows_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<Kept> layers_;
  at::Tensor alibi_;  ///< [heads, positions] on the device; undefined without alibi
};

}  // namespace stereosweep::model
