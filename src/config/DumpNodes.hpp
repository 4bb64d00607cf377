// Lists and maps of texts as the dumps write them: texts are quoted, so that no reader takes them for anything else.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/Node.hpp"
#include "sweep/Axes.hpp"

namespace stereosweep::config {

/// Leaves empty texts out.
void add_text(Node& map, const std::string& key, const std::string& value);
Node texts(const std::vector<std::string>& values);
/// A list of lists of two.
Node text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs);
Node text_map(const std::vector<std::pair<std::string, std::string>>& pairs);
/// `statistics.human_ratings`; nothing for an empty path without aliases.
void add_ratings(Node& map, const std::string& path, const std::vector<std::pair<std::string, std::string>>& aliases);
Node integer(std::int64_t value);
Node number(double value);

/// A list of what `dump` makes of each value.
template <class Value, class Dump>
Node list_of(const std::vector<Value>& values, Dump dump) {
  Node list = Node::list();
  for (const auto& value : values) {
    list.add(dump(value));
  }
  return list;
}

// What the readers of AxesReader.hpp read back.
Node dump(const sweep::Group& group);
Node dump(const sweep::IntersectionRule& rule);
Node dump(const sweep::Pole& pole);
Node dump(const sweep::TraitPair& pair);
Node dump(const sweep::Template& sentence);
Node dump(const sweep::Rephrasing& rephrasing);
template <class Value>
Node dump(const std::vector<Value>& values) {
  return list_of(values, [](const Value& value) { return dump(value); });
}
Node dump(const sweep::Axes& axes);

}  // namespace stereosweep::config
