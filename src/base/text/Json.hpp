// Strict JSON: duplicate keys, depth over a limit, invalid UTF-8 and trailing text are errors.
// nlohmann-json keeps the last of two equal keys and copies deep trees by recursion; hostile files use both.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string_view>

#include "base/Error.hpp"

namespace stereosweep::base {

using Json = nlohmann::ordered_json;

/// Limits of one document.
struct JsonLimits {
  std::size_t max_depth = 32;
  std::size_t max_bytes = std::size_t{1} << 30;
};

/// The parsed document. Throws InputError "name: problem (why)" with the byte offset of the fault.
Json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

}  // namespace stereosweep::base
