#include "config/yaml/Node.hpp"

#include <algorithm>

namespace stereosweep::config {

const Node* Node::find(std::string_view key) const {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? nullptr : &children[static_cast<std::size_t>(at - keys.begin())];
}

Node& Node::at(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  return at == keys.end() ? add(std::string(key), Node()) : children[static_cast<std::size_t>(at - keys.begin())];
}

Node Node::take(std::string_view key) {
  const auto at = std::ranges::find(keys, key);
  if (at == keys.end()) {
    return {};
  }
  const auto child = children.begin() + (at - keys.begin());
  Node taken = std::move(*child);
  children.erase(child);
  keys.erase(at);
  return taken;
}

Node& Node::add(std::string key, Node child) {
  keys.push_back(std::move(key));
  children.push_back(std::move(child));
  return children.back();
}

Node& Node::add(Node child) {
  children.push_back(std::move(child));
  return children.back();
}

std::string kind_name(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return "nothing";
    case Node::Kind::scalar:
      return node.style == Node::Style::verbatim ? "quoted text" : "the word '" + node.value.substr(0, 40) + "'";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a mapping";
    case Node::Kind::broken:
      break;
  }
  return "a broken value";
}

}  // namespace stereosweep::config
