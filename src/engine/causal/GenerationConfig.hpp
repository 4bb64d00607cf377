// What a checkpoint's files say about generating: end tokens, and settings that are not obeyed here.
#pragma once

#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// Ids after which a text ends: "eos_token_id" (an id or a list) of generation_config.json, else of config.json or its
/// text_config; without the first file and the key, what transformers takes for the family; none otherwise. Throws
/// InputError naming file and field for anything else in its place.
std::vector<query::TokenId> read_end_tokens(const base::FileSet& files);

/// Keys of generation_config.json that are set to something which would make transformers' `generate` choose other
/// tokens and that nobody obeys here, by name: a text follows its query's fields and the end tokens. What a query says
/// itself (temperature, top_k, top_p, lengths) is not among them. Throws InputError where the file is no JSON.
std::vector<std::string> ignored_generation_keys(const base::FileSet& files);

}  // namespace stereosweep::engine
