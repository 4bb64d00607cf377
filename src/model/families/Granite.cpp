// Granite 3: LLaMA with factors of the embeddings, the scores, what each part adds, and the logits.
// (source: transformers, modeling_granite.py)
#include "model/families/LlamaLike.hpp"

namespace stereosweep::model::families {
namespace {

CausalSpecification read_granite(const ConfigFields& fields) {
  auto specification = read_plain_llama(fields, {}, 10000);
  specification.embedding_scale = static_cast<float>(fields.number("embedding_multiplier", 1));
  specification.attention_scale = static_cast<float>(fields.number("attention_multiplier", 1));
  specification.residual_scale = static_cast<float>(fields.number("residual_multiplier", 1));
  specification.logits_scale = static_cast<float>(1 / fields.number("logits_scaling", 1));
  return specification;
}

}  // namespace

CausalFamily granite_family() { return {"granite", read_granite, 2}; }

}  // namespace stereosweep::model::families
