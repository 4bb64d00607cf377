// The only door to yaml-cpp. Text in, a checked tree out; events are checked one by one and no YAML::Node is built:
// a cyclic alias of 13 bytes ("a: &x\n  - *x") would send any walker of such a tree into the ground.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/Error.hpp"

namespace stereosweep::config {

/// One value of the tree that the job reader works on, with the place it came from. Owns its children.
struct Node {
  /// `broken` marks a value whose fault is already reported: readers pass over it in silence.
  enum class Kind { null, scalar, list, map, broken };
  /// `verbatim` scalars were quoted: they are texts, never numbers or booleans.
  enum class Style { plain, verbatim };

  Kind kind = Kind::null;
  Style style = Style::plain;
  std::string value;              ///< of a scalar
  std::vector<std::string> keys;  ///< of a map, parallel to `children`
  std::vector<Node> children;     ///< of a map or a list
  int line = 0;                   ///< 1-based; 0 for values from the command line
  std::shared_ptr<const std::string> file;

  Node() = default;
  explicit Node(Kind of_kind, std::string of_value = "", Style of_style = Style::plain)
      : kind(of_kind), style(of_style), value(std::move(of_value)) {}
  static Node text(std::string value) { return Node(Kind::scalar, std::move(value), Style::verbatim); }
  static Node plain(std::string value) { return Node(Kind::scalar, std::move(value)); }
  static Node list() { return Node(Kind::list); }
  static Node map() { return Node(Kind::map); }

  /// The same values, wherever they stand.
  bool operator==(const Node& other) const {
    return kind == other.kind && value == other.value && keys == other.keys && children == other.children;
  }
  const Node* find(std::string_view key) const;
  /// The value under `key`, added as null if it is missing.
  Node& at(std::string_view key);
  /// The same, taken out; null where it is missing.
  Node take(std::string_view key);
  base::Place place(std::string key) const { return {file ? *file : std::string(), line, std::move(key)}; }
  Node& add(std::string key, Node child);
  Node& add(Node child);
};

/// "a mapping", "a list", "quoted text", "nothing", ...: for messages.
std::string kind_name(const Node& node);

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
