// GPT-OSS: experts with biases and clipped gates, a window in every second layer, and in attention a score for each
// head that takes its share of the weights and has no value. Its experts are published in blocks of four bits. (source:
// transformers, modeling_gpt_oss.py, configuration_gpt_oss.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

/// How it turns where no key says it.
ConfigFields with_usual_rope(const ConfigFields& fields) {
  if (fields.find("rope_scaling") != nullptr || fields.find("rope_parameters") != nullptr) {
    return fields;
  }
  return fields.with("rope_parameters", {{"rope_type", "yarn"},
                                         {"factor", 32.0},
                                         {"beta_fast", 32.0},
                                         {"beta_slow", 1.0},
                                         {"truncate", false},
                                         {"original_max_position_embeddings", 4096}});
}

void refuse_other_gates(const ConfigFields& fields) {
  for (const auto& [key, usual] : {std::pair("swiglu_limit", silu_clip), {"swiglu_alpha", silu_slope}}) {
    const auto given = static_cast<float>(fields.number(key, static_cast<double>(usual)));
    fields.refuse_if(given != usual, key, std::to_string(given) + " is not supported",
                     "the published models have " + std::to_string(usual));
  }
}

CausalSpecification read_gpt_oss(const ConfigFields& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 201088,
                                                .hidden = 2880,
                                                .inner = 2880,
                                                .layers = 36,
                                                .heads = 64,
                                                .key_heads = 8,
                                                .head_width = 64,
                                                .positions = 131072,
                                                .norm_epsilon = 1e-5});
  read_rotary(with_usual_rope(fields), {.theta = 150000}, specification);
  set_windows(fields, {.width = 128, .pattern = 2}, specification);
  set_experts(fields, {.count = 128, .per_token = 4}, specification);
  refuse_other_gates(fields);
  specification.norm = NormKind::rms_late;
  specification.activation = Activation::clipped_silu;
  auto& names = specification.names;
  names.query_key_value_bias = fields.is_on("attention_bias", ConfigFields::Flag::on);
  names.attention_output_bias = names.query_key_value_bias;
  names.sinks = "self_attn.sinks";
  names.router = "router";
  names.expert_packing = ExpertPacking::interleaved;
  return specification;
}

}  // namespace

CausalFamily gpt_oss_family() { return {"gpt_oss", read_gpt_oss, std::nullopt}; }

}  // namespace stereosweep::model::families
