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

/// Writes each field that it is shown: the counterpart of `Fields`, so that one list of fields reads and dumps.
class FieldsDump {
 public:
  void line(const std::string& name, const std::string& value) { add_text(map_, name, value); }
  void required_line(const std::string& name, const std::string& value) { add_text(map_, name, value); }
  void integer(const std::string& name, std::int64_t value, std::int64_t /*smallest*/, std::int64_t /*largest*/) {
    map_.add(name, config::integer(value));
  }
  void number(const std::string& name, double value, double /*smallest*/, double /*largest*/) {
    map_.add(name, config::number(value));
  }
  template <class Choice>
  void choice(const std::string& name, Choice value, const std::vector<std::string>& names) {
    map_.add(name, Node::plain(names[static_cast<std::size_t>(value)]));
  }
  Node take() { return std::move(map_); }

 private:
  Node map_ = Node::map();
};

/// What `read_fields` reads back.
template <class Item>
Node dump_fields(const Item& item) {
  FieldsDump fields;
  Item::each_key(item, fields);
  return fields.take();
}

/// The names of values of an enumeration, in whose order `names` stand.
template <class Choice>
Node choice_list(const std::vector<Choice>& values, const std::vector<std::string>& names) {
  return list_of(values, [&](Choice value) { return Node::plain(names[static_cast<std::size_t>(value)]); });
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
