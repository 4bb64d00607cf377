#include "config/axes/Selections.hpp"

#include <utility>

namespace stereosweep::config {

using sweep::Selection;

std::vector<Selection> read_selections(const Node& node, const std::string& key, base::Problems& problems) {
  std::vector<Selection> selections;
  if (!expect_kind(node, Node::Kind::map, key, problems)) {
    return selections;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const auto& value = node.children[i];
    const auto place = key + "." + node.keys[i];
    Selection selection{node.keys[i], {}};
    if (value.kind == Node::Kind::list) {
      selection.values = read_lines(value, place, problems).value_or(std::vector<std::string>());
    } else if (const auto line = read_line(value, place, problems)) {
      selection.values = {*line};
    }
    selections.push_back(std::move(selection));
  }
  return selections;
}

void read_labels(Fields& fields, const std::string& name, base::Problems& problems, std::vector<std::string>& labels) {
  const Node* node = fields.optional(name);
  if (node != nullptr && node->kind == Node::Kind::scalar) {
    read_choice(*node, fields.key_of(name), problems, std::vector<std::string>{"all"});
  } else {
    fields.lines(name, labels);
  }
}

Node dump_labels(const std::vector<std::string>& labels) { return labels.empty() ? Node::plain("all") : texts(labels); }

Node dump_selections(const std::vector<Selection>& selections) {
  Node map = Node::map();
  for (const auto& selection : selections) {
    map.add(selection.axis, texts(selection.values));
  }
  return map;
}

}  // namespace stereosweep::config
