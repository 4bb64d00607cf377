// The families of models: a row for each `model_type` of config.json. What a family is stands in its own file; bodies
// and weights know none. Keys that are left out or null take transformers' defaults.
#pragma once

#include <optional>
#include <string_view>

#include "base/File.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/checkpoint/ConfigFields.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "query/Query.hpp"

namespace stereosweep::model {

/// Each of these throws InputError naming config.json and the key: an unknown family, an impossible or unsupported
/// setting, and a model of the other kind are refused before a weight is read.
CausalSpecification read_causal_specification(const base::FileSet& files);
MaskedSpecification read_masked_specification(const base::FileSet& files);

/// Whether config.json names a causal family (also one that is not supported): what `make_engine` decides by.
bool is_causal(const base::FileSet& files);

/// The end token that transformers takes for a causal family where no file names one; nothing for others.
std::optional<query::TokenId> usual_end_token(std::string_view model_type);

namespace families {

struct CausalFamily {
  std::string_view model_type;
  CausalSpecification (*read)(const ConfigFields& fields);
  std::optional<query::TokenId> end_token;
};

struct MaskedFamily {
  std::string_view model_type;
  MaskedSpecification (*read)(const ConfigFields& fields);
};

extern const CausalFamily gpt2;
extern const CausalFamily openai_gpt;
extern const CausalFamily gpt_bigcode;
extern const CausalFamily gpt_neox;
extern const CausalFamily gptj;
extern const CausalFamily falcon;
extern const CausalFamily opt;
extern const CausalFamily llama;
extern const CausalFamily mistral;
extern const CausalFamily mixtral;
extern const CausalFamily qwen2;
extern const CausalFamily qwen3;
extern const CausalFamily phi3;
extern const CausalFamily olmo2;
extern const CausalFamily starcoder2;
extern const CausalFamily stablelm;
extern const CausalFamily gemma;
extern const CausalFamily gemma2;
extern const CausalFamily gemma3_text;
extern const CausalFamily gemma3;
extern const MaskedFamily bert;
extern const MaskedFamily roberta;
extern const MaskedFamily xlm_roberta;
extern const MaskedFamily camembert;

}  // namespace families

}  // namespace stereosweep::model
