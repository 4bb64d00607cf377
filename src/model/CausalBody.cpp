#include "model/CausalBody.hpp"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/Check.hpp"
#include "model/Devices.hpp"
#include "model/Segments.hpp"

namespace stereosweep::model {
namespace {

// Rows of one product: on one core 512 rows of float32 keep a layer's numbers in the caches. In bfloat16 products are
// so fast that reading the weights for 512 rows took 3 % of the time; float16 weights are widened for each product.
// Experts share the rows out.
constexpr std::int64_t rows_in_float32 = 512;
constexpr std::int64_t rows_in_16_bits = 1024;
constexpr std::int64_t most_rows_at_once = 2048;
constexpr std::int64_t rows_on_device = 16384;
// A float32 head that shares the word embeddings' memory stays as it is where a packed copy would be larger than this.
constexpr std::int64_t most_copied_bytes = std::int64_t{1} << 29;

PassSettings completed(PassSettings settings, const CausalSpecification& specification, const at::Tensor& words) {
  if (settings.rows_at_once == 0) {
    const auto spread = specification.experts.count > 0
                            ? specification.experts.count / std::max<std::int64_t>(1, specification.experts.per_token)
                            : 1;
    const auto rows_per_thread = words.scalar_type() == at::kFloat ? rows_in_float32 : rows_in_16_bits;
    settings.rows_at_once = kernels_on(words.device()) == Kernels::own_kernels
                                ? std::min(most_rows_at_once, rows_per_thread * at::get_num_threads() * spread)
                                : rows_on_device;
  }
  return settings;
}

void check_tree(const TokenTree& tree, const CausalShape& shape) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tree.branches.size(); ++i) {
    const auto& branch = tree.branches[i];
    STEREOSWEEP_ASSERT(branch.first == total && branch.length > 0, "branches lie one after the other");
    STEREOSWEEP_ASSERT(branch.parent >= -1 && branch.parent < static_cast<std::int64_t>(i), "a parent comes first");
    const auto depth = branch.parent < 0 ? 0 : tree.branches[branch.parent].depth + tree.branches[branch.parent].length;
    STEREOSWEEP_ASSERT(branch.depth == depth, "the depth is the sum of the ancestors' lengths");
    STEREOSWEEP_ASSERT(depth + branch.length <= shape.max_tokens, "length " + std::to_string(depth + branch.length));
    total += branch.length;
  }
  STEREOSWEEP_ASSERT(total > 0 && total == std::ssize(tree.ids), "the branches' lengths do not sum to the ids");
  for (const auto id : tree.ids) {
    STEREOSWEEP_ASSERT(id >= 0 && id < shape.ids, "token id " + std::to_string(id));
  }
}

void check_rows(std::span<const std::int64_t> rows, std::int64_t begin, std::int64_t end) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    STEREOSWEEP_ASSERT(rows[i] >= begin && rows[i] < end && (i == 0 || rows[i - 1] < rows[i]),
                       "rows must be sorted, distinct, new and inside the tree");
  }
}

struct KeptTree : CausalModel::Memory {
  explicit KeptTree(std::unique_ptr<TreeAttention> kept) : attention(std::move(kept)) {}
  std::int64_t rows() const override { return attention->rows(); }
  std::unique_ptr<TreeAttention> attention;
};

Decoder make_head(const CausalSpecification& specification, CausalWeights& weights) {
  if (!weights.head.defined()) {
    return {};
  }
  const auto bias = weights.head_bias.defined()
                        ? weights.head_bias
                        : at::zeros({weights.head.size(0)}, weights.head.options().dtype(at::kFloat));
  const bool shared =
      specification.tied_head && weights.head.scalar_type() == at::kFloat && weights.head.is_alias_of(weights.words);
  const bool large = static_cast<std::int64_t>(weights.head.nbytes()) > most_copied_bytes;
  Decoder head(weights.head, bias, shared && large ? Products::plain : Products::fastest);
  weights.head = at::Tensor();
  return head;
}

}  // namespace

CausalBody::CausalBody(CausalSpecification specification, CausalWeights weights)
    : CausalBody(std::move(specification), std::move(weights), PassSettings{}) {}

CausalBody::CausalBody(CausalSpecification specification, CausalWeights weights, PassSettings settings)
    : specification_(std::move(specification)), weights_(std::move(weights)) {
  const c10::InferenceMode guard;
  const auto device = weights_.words.device();
  if (kernels_on(device) == Kernels::operators) {
    settings.kernels = Kernels::operators;
  }
  settings_ = completed(settings, specification_, weights_.words);
  shape_.num_layers = static_cast<int>(weights_.layers.size());
  shape_.hidden = specification_.hidden;
  shape_.has_head = weights_.head.defined();
  shape_.vocabulary = shape_.has_head ? weights_.head.size(0) : specification_.vocabulary;
  shape_.ids = weights_.words.size(0);
  shape_.max_tokens = specification_.max_tokens;
  shape_.kernels = settings_.kernels;
  shape_.dtype = dtype_of(weights_.words.scalar_type());
  head_ = make_head(specification_, weights_);
  for (auto& layer : weights_.layers) {
    routers_.push_back(layer.router.defined() ? layer.router.to(at::kFloat) : at::Tensor());
  }
}

std::unique_ptr<TreeAttention> CausalBody::attention(const KeptSize& size) const {
  AttentionRule rule;
  rule.num_heads = specification_.num_heads;
  rule.num_key_heads = specification_.num_key_heads;
  rule.width = specification_.head_width;
  rule.softcap = specification_.attention_softcap;
  if (specification_.position == PositionKind::alibi) {
    rule.slopes = specification_.alibi_slopes;
    rule.alibi_is_scaled = specification_.alibi_is_scaled;
  }
  return make_tree_attention(rule, size, weights_.words.options(), settings_.kernels);
}

at::Tensor CausalBody::run(TreeAttention& attention, const TokenTree& tree, int layer,
                           std::span<const std::int64_t> rows) const {
  CausalPass pass(specification_, weights_, routers_, settings_, attention, tree);
  const auto states = pass.run(layer, rows);
  return layer == shape_.num_layers && weights_.final_norm ? pass.normalized(states, *weights_.final_norm) : states;
}

at::Tensor CausalBody::hidden(const TokenTree& tree, int layer, std::span<const std::int64_t> rows) const {
  const c10::InferenceMode guard;
  check_tree(tree, shape_);
  check_rows(rows, 0, std::ssize(tree.ids));
  STEREOSWEEP_ASSERT(layer >= 0 && layer <= shape_.num_layers, "layer " + std::to_string(layer));
  if (rows.empty()) {
    return at::empty({0, shape_.hidden}, weights_.words.options());
  }
  return run(*attention({}), tree, layer, rows);
}

at::Tensor CausalBody::input_embeddings(std::span<const query::TokenId> ids) const {
  const c10::InferenceMode guard;
  return rows_of(weights_.words, ids);
}

at::Tensor CausalBody::logits(const at::Tensor& hidden) const {
  const c10::InferenceMode guard;
  STEREOSWEEP_ASSERT(shape_.has_head, "the model has no head: ask shape().has_head first");
  auto logits = head_.apply(hidden);
  if (specification_.logits_scale != 1) {
    logits.mul_(specification_.logits_scale);
  }
  if (specification_.logits_softcap != 0) {
    logits.div_(specification_.logits_softcap).tanh_().mul_(specification_.logits_softcap);
  }
  return logits;
}

std::unique_ptr<CausalModel::Memory> CausalBody::remember(std::int64_t most_rows) const {
  return std::make_unique<KeptTree>(attention({std::max(1, shape_.num_layers), most_rows}));
}

at::Tensor CausalBody::extend(Memory& memory, const TokenTree& tree, std::span<const std::int64_t> rows) const {
  const c10::InferenceMode guard;
  auto* kept = dynamic_cast<KeptTree*>(&memory);
  STEREOSWEEP_ASSERT(kept != nullptr, "a memory belongs to the model that made it");
  check_tree(tree, shape_);
  check_rows(rows, memory.rows(), std::ssize(tree.ids));
  STEREOSWEEP_ASSERT(memory.rows() < std::ssize(tree.ids), "the tree must have grown");
  return run(*kept->attention, tree, shape_.num_layers, rows);
}

}  // namespace stereosweep::model
