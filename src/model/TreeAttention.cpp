#include "model/TreeAttention.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/outer.h>

#include <algorithm>

#include "base/Check.hpp"
#include "model/BlockAttention.hpp"
#include "model/PathAttention.hpp"

namespace stereosweep::model {

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

std::int64_t grown_capacity(std::int64_t needed, std::int64_t capacity, std::int64_t most) {
  const auto roomy = capacity + capacity / 2;
  return std::max(needed, most > 0 ? std::min(roomy, most) : roomy);
}

at::Tensor alibi_of(std::span<const float> slopes, std::int64_t positions) {
  auto rounded = at::empty({std::ssize(slopes)}, at::TensorOptions(at::kFloat));
  std::copy(slopes.begin(), slopes.end(), rounded.mutable_data_ptr<float>());
  const auto places = at::arange(positions, at::TensorOptions(at::kFloat)).to(at::kBFloat16);
  return at::outer(rounded.to(at::kBFloat16), places).to(at::kFloat);
}

}  // namespace stereosweep::model
