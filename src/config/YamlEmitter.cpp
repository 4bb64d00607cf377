#include "base/Text.hpp"
#include "config/Yaml.hpp"

namespace stereosweep::config {
namespace {

bool is_plain_key(std::string_view key) {
  return !key.empty() && key != "null" && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
}

std::string scalar(const Node& node) {
  return node.style == Node::Style::verbatim ? base::json_quote(node.value) : node.value;
}

void emit(const Node& node, std::size_t indent, std::string& out);

void emit_child(const Node& child, std::size_t indent, std::string& out) {
  const bool nested = child.kind == Node::Kind::map || child.kind == Node::Kind::list;
  if (!nested || child.children.empty()) {
    out += ' ';
    emit(child, indent, out);
    out += '\n';
  } else {
    out += '\n';
    emit(child, indent, out);
  }
}

void emit(const Node& node, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (node.kind == Node::Kind::map && !node.children.empty()) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      out += margin + (is_plain_key(node.keys[i]) ? node.keys[i] : base::json_quote(node.keys[i])) + ':';
      emit_child(node.children[i], indent + 2, out);
    }
  } else if (node.kind == Node::Kind::list && !node.children.empty()) {
    for (const auto& child : node.children) {
      out += margin + '-';
      emit_child(child, indent + 2, out);
    }
  } else if (node.kind == Node::Kind::scalar) {
    out += scalar(node);
  } else {
    out += node.kind == Node::Kind::map ? "{}" : node.kind == Node::Kind::list ? "[]" : "null";
  }
}

}  // namespace

std::string emit_yaml(const Node& node) {
  std::string out;
  emit(node, 0, out);
  return out;
}

}  // namespace stereosweep::config
