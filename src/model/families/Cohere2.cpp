// Command R7B and its kin: attention and feed-forward layer read the same input, norms without biases, scaled logits,
// and only layers with a window turn, neighbouring numbers together.
// (source: transformers, modeling_cohere2.py, configuration_cohere2.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_cohere2(const ConfigFields& fields) {
  auto specification = read_llama_like(fields, {.vocabulary = 256000,
                                                .hidden = 8192,
                                                .inner = 22528,
                                                .layers = 40,
                                                .heads = 64,
                                                .positions = 8192,
                                                .tied = ConfigFields::Flag::on});
  refuse_other_head_width(fields, specification);
  read_rotary(fields, {}, specification);
  specification.rotaries.front().pairs = RotaryPairs::neighbours;
  set_windows(fields, {.pattern = fields.size("sliding_window_pattern", 4)}, specification);
  for (auto& layer : specification.layers) {
    layer.rotary = layer.window > 0 ? 0 : -1;
  }
  set_attention_bias(fields, specification);
  specification.norm = NormKind::layer;
  specification.norm_epsilon = fields.positive("layer_norm_eps", 1e-5);
  specification.residual = Residual::parallel;
  specification.logits_scale = static_cast<float>(fields.number("logit_scale", 0.0625));
  specification.names.norm_bias = false;
  specification.names.feed_forward_norm = "";
  return specification;
}

}  // namespace

CausalFamily cohere2_family() { return {"cohere2", read_cohere2, 255001}; }

}  // namespace stereosweep::model::families
