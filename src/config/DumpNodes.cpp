#include "config/DumpNodes.hpp"

#include "base/Text.hpp"

namespace stereosweep::config {

void add_text(Node& map, const std::string& key, const std::string& value) {
  if (!value.empty()) {
    map.add(key, Node::text(value));
  }
}

Node texts(const std::vector<std::string>& values) {
  Node list = Node::list();
  for (const auto& value : values) {
    list.add(Node::text(value));
  }
  return list;
}

Node text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Node list = Node::list();
  for (const auto& [first, second] : pairs) {
    list.add(texts({first, second}));
  }
  return list;
}

Node text_map(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Node map = Node::map();
  for (const auto& [key, value] : pairs) {
    map.add(key, Node::text(value));
  }
  return map;
}

void add_ratings(Node& map, const std::string& path, const std::vector<std::pair<std::string, std::string>>& aliases) {
  if (aliases.empty()) {
    add_text(map, "human_ratings", path);
    return;
  }
  Node ratings = Node::map();
  add_text(ratings, "path", path);
  ratings.add("aliases", text_map(aliases));
  map.add("human_ratings", std::move(ratings));
}

Node integer(std::int64_t value) { return Node::plain(std::to_string(value)); }

Node number(double value) { return Node::plain(base::format_double(value)); }

}  // namespace stereosweep::config
