// The families of models: a row for each `model_type` of config.json. What a family is stands in the file of its kin;
// bodies and weights know none. Keys that are left out or null take transformers' defaults.
#pragma once

#include <optional>
#include <string_view>

#include "base/files/File.hpp"
#include "model/causal/CausalSpecification.hpp"
#include "model/masked/MaskedSpecification.hpp"
#include "query/Query.hpp"

namespace stereosweep::model {

/// Each of these throws InputError naming config.json and the key: an unknown family, an impossible or unsupported
/// setting, and a model of the other kind are refused before a weight is read.
CausalSpecification read_causal_specification(const base::FileSet& files);
MaskedSpecification read_masked_specification(const base::FileSet& files);

/// Whether config.json names a causal family: what `make_engine` decides by. Throws InputError where it names none.
bool is_causal(const base::FileSet& files);

/// The end token that transformers takes for a causal family where no file names one; nothing for others.
std::optional<query::TokenId> usual_end_token(std::string_view model_type);

}  // namespace stereosweep::model
