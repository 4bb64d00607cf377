// A checked YAML tree: what the job reader works on. No anchors, tags or duplicate keys; depth and size are bounded.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/Error.hpp"

namespace stereosweep::config {

/// One value with the place it came from. Owns its children.
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

/// "a map", "a list", "text", "nothing": for messages.
std::string kind_name(const Node& node);

}  // namespace stereosweep::config
