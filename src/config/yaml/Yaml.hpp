// The only door to yaml-cpp. Text in, a checked tree out; events are checked one by one and no YAML::Node is built:
// a cyclic alias of 13 bytes ("a: &x\n  - *x") would send any walker of such a tree into the ground.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "config/yaml/Node.hpp"

namespace stereosweep::config {

/// Limits of one document.
struct YamlLimits {
  std::size_t max_bytes = std::size_t{1} << 20;
  std::size_t max_nodes = 100'000;
  std::size_t max_depth = 16;
};

/// Of a job that this program has written out: a table of 100,000 rows grows there.
constexpr YamlLimits resolved_limits{std::size_t{256} << 20, 20'000'000, 16};

/// The one document of `text`. Anchors, aliases, tags, duplicate or complex keys, several documents, NUL and other
/// control characters and invalid UTF-8 go to `problems` with `name:line`; one UTF-8 byte order mark is dropped.
/// Never throws for bad text: a document that cannot be read at all is a node of kind `broken`.
Node parse_yaml(std::string_view text, const std::string& name, base::Problems& problems,
                const YamlLimits& limits = {});

/// The tree as YAML that `parse_yaml` reads back: block style; numbers, booleans and names that were not in
/// quotes are not, all other scalars are, as JSON's.
std::string emit_yaml(const Node& node);

}  // namespace stereosweep::config
