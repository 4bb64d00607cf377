// What a checkpoint's files say about generating: end tokens, and settings that are not obeyed here.
#pragma once

#include <string>
#include <vector>

#include "base/files/File.hpp"
#include "base/text/Json.hpp"
#include "query/Query.hpp"

namespace stereosweep::engine {

/// Ids after which a text ends: "eos_token_id" (an id or a list) of generation_config.json, else of config.json or its
/// text_config; without the first file and the key, what transformers takes for the family; none otherwise. Throws
/// InputError naming file and field for anything else in its place.
std::vector<query::TokenId> read_end_tokens(const base::FileSet& files);

constexpr auto generation_settings = "generation_config.json";

/// What that file sets that makes transformers' `generate` choose other tokens than a text here, which follows its
/// query and the end tokens alone: keys that nobody obeys, and with both values those that the query has otherwise.
/// Numbers that only sampling reads count where one of the two samples.
std::vector<std::string> keys_not_followed(const base::Json& settings, const query::Generate& asked);

}  // namespace stereosweep::engine
