// LLaMA's more distant relatives: Phi-3, OLMo 2, StarCoder2, StableLM.
// (source: transformers, modeling_phi3.py, modeling_olmo2.py, modeling_starcoder2.py, modeling_stablelm.py)
#include <optional>

#include "model/families/Common.hpp"
#include "model/families/Families.hpp"
#include "model/families/Llama.hpp"
#include "model/families/Rope.hpp"

namespace stereosweep::model::families {

CausalSpecification read_phi3(const ConfigFields& fields) {
  auto specification = read_llama_like(
      fields, {.vocabulary = 32064, .hidden = 3072, .inner = 8192, .positions = 4096, .norm_epsilon = 1e-5});
  read_rotary(fields, {.partial = PartialRotary::supported, .yarn = "longrope", .original_positions = 4096},
              specification);
  set_window(fields.size_or_none("sliding_window", std::nullopt).value_or(0), specification);
  specification.names.packing = QueryKeyValuePacking::blocks;
  specification.names.query_key_value = {"self_attn.qkv_proj"};
  specification.names.inner = {"mlp.gate_up_proj"};
  return specification;
}

CausalSpecification read_olmo2(const ConfigFields& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 50304, .norm_epsilon = 1e-5});
  read_rotary(fields, {}, specification);
  set_attention_bias(fields, specification);
  specification.norm = NormKind::rms_late;
  specification.query_key_norm = QueryKeyNorm::whole;
  specification.names.query_norm = "self_attn.q_norm";
  specification.names.key_norm = "self_attn.k_norm";
  specification.names.attention_norm = "";
  specification.names.attention_output_norm = "post_attention_layernorm";
  specification.names.feed_forward_norm = "";
  specification.names.feed_forward_output_norm = "post_feedforward_layernorm";
  return specification;
}

CausalSpecification read_starcoder2(const ConfigFields& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 49152,
                                                .hidden = 3072,
                                                .inner = 12288,
                                                .layers = 30,
                                                .heads = 24,
                                                .key_heads = 2,
                                                .positions = 4096,
                                                .activation = "gelu_pytorch_tanh",
                                                .tied = ConfigFields::Flag::on});
  read_rotary(fields, {}, specification);
  set_window(fields.size_or_none("sliding_window", std::nullopt).value_or(0), specification);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("norm_epsilon", 1e-5);
  specification.gated = false;
  const bool biases = fields.is_on("use_bias", ConfigFields::Flag::on);
  specification.names.query_key_value_bias = biases;
  specification.names.attention_output_bias = biases;
  specification.names.feed_forward_bias = biases;
  specification.names.inner = {"mlp.c_fc"};
  specification.names.outer = "mlp.c_proj";
  return specification;
}

CausalSpecification read_stablelm(const ConfigFields& fields) {
  auto specification =
      read_llama_like(fields, {.vocabulary = 50304, .hidden = 2560, .inner = 6912, .key_heads = 32, .positions = 4096});
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {.part = 0.25, .partial = PartialRotary::even}, specification);
  if (fields.is_on("qk_layernorm")) {
    fields.refuse("qk_layernorm", "true is not supported", "heads without norms of their own are");
  }
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_eps", 1e-5);
  specification.names.query_key_value_bias = fields.is_on("use_qkv_bias");
  if (fields.is_on("use_parallel_residual")) {
    specification.residual = Residual::parallel;
    specification.names.feed_forward_norm = "";
  }
  return specification;
}

}  // namespace stereosweep::model::families
