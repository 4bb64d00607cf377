// Qwen 3 with experts in every layer.
// (source: transformers, modeling_qwen3_moe.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_qwen3_moe(const ConfigFields& fields) {
  auto specification = read_qwen3_like(
      fields, {.vocabulary = 151936, .hidden = 2048, .inner = 6144, .layers = 24, .key_heads = 4, .positions = 32768});
  // All layers or none: max_window_layers is no key of this family.
  set_window(fields.is_on("use_sliding_window") ? fields.size_or_none("sliding_window", 4096).value_or(0) : 0,
             specification);
  const auto* plain = fields.find("mlp_only_layers");
  fields.refuse_if(plain != nullptr && !plain->empty(), "mlp_only_layers", "layers without experts are not supported",
                   "all layers of the published models have them");
  fields.refuse_if(fields.size("decoder_sparse_step", 1) != 1, "decoder_sparse_step",
                   "layers without experts are not supported", "all layers of the published models have them");
  specification.inner = fields.size("moe_intermediate_size", 768);
  set_experts(fields, {.count = 128, .per_token = 8}, specification);
  specification.experts.renormalize = fields.is_on("norm_topk_prob");
  specification.names.expert_inner = {"gate_proj", "up_proj"};
  specification.names.expert_outer = "down_proj";
  return specification;
}

}  // namespace

CausalFamily qwen3_moe_family() { return {"qwen3_moe", read_qwen3_moe, std::nullopt}; }

}  // namespace stereosweep::model::families
