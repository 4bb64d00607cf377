// GLM-4 (0414): norms on both sides of each part; half of a head turns, neighbouring numbers together.
// (source: transformers, modeling_glm4.py, configuration_glm4.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_glm4(const ConfigFields& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 151552,
                                                .inner = 13696,
                                                .layers = 40,
                                                .key_heads = 2,
                                                .head_width = 128,
                                                .positions = 131072,
                                                .norm_epsilon = 1.5625e-7});
  read_rotary(fields, {.part = 0.5, .partial = PartialRotary::supported}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  auto& names = specification.names;
  names.query_key_value_bias = fields.is_on("attention_bias", ConfigFields::Flag::on);
  names.attention_output_norm = "post_self_attn_layernorm";
  names.feed_forward_output_norm = "post_mlp_layernorm";
  names.inner = {"mlp.gate_up_proj"};
  return specification;
}

}  // namespace

CausalFamily glm4_family() { return {"glm4", read_glm4, std::nullopt}; }

}  // namespace stereosweep::model::families
