// The causal families: config.json -> CausalSpecification, a function each. Defaults are those of transformers.
#pragma once

#include "model/CausalSpecification.hpp"
#include "model/ConfigFields.hpp"

namespace stereosweep::model::families {

/// Each throws InputError naming the key of a setting that is impossible or not supported.
CausalSpecification read_gpt2(const ConfigFields& fields);
CausalSpecification read_openai_gpt(const ConfigFields& fields);
CausalSpecification read_gpt_bigcode(const ConfigFields& fields);
CausalSpecification read_gpt_neox(const ConfigFields& fields);
CausalSpecification read_gptj(const ConfigFields& fields);
CausalSpecification read_falcon(const ConfigFields& fields);
CausalSpecification read_opt(const ConfigFields& fields);
CausalSpecification read_llama(const ConfigFields& fields);
CausalSpecification read_mistral(const ConfigFields& fields);
CausalSpecification read_mixtral(const ConfigFields& fields);
CausalSpecification read_qwen2(const ConfigFields& fields);
CausalSpecification read_qwen3(const ConfigFields& fields);
CausalSpecification read_phi3(const ConfigFields& fields);
CausalSpecification read_olmo2(const ConfigFields& fields);
CausalSpecification read_starcoder2(const ConfigFields& fields);
CausalSpecification read_stablelm(const ConfigFields& fields);
CausalSpecification read_gemma(const ConfigFields& fields);
CausalSpecification read_gemma2(const ConfigFields& fields);
CausalSpecification read_gemma3_text(const ConfigFields& fields);
CausalSpecification read_gemma3(const ConfigFields& fields);

}  // namespace stereosweep::model::families
