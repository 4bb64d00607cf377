#include "config/Node.hpp"

namespace stereosweep::config {

const Node* Node::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) {
      return &children[i];
    }
  }
  return nullptr;
}

Node& Node::at(std::string_view key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == key) {
      return children[i];
    }
  }
  return add(std::string(key), Node());
}

Node Node::text(std::string value) {
  Node node = plain(std::move(value));
  node.style = Style::verbatim;
  return node;
}

Node Node::plain(std::string value) {
  Node node;
  node.kind = Kind::scalar;
  node.value = std::move(value);
  return node;
}

Node Node::list() {
  Node node;
  node.kind = Kind::list;
  return node;
}

Node Node::map() {
  Node node;
  node.kind = Kind::map;
  return node;
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
