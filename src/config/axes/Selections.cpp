#include "config/axes/Selections.hpp"

namespace stereosweep::config {

void read_labels(Fields& fields, const std::string& name, base::Problems& problems, std::vector<std::string>& labels) {
  const Node* node = fields.optional(name);
  if (node != nullptr && node->kind == Node::Kind::scalar) {
    read_choice(*node, fields.key_of(name), problems, std::vector<std::string>{"all"});
  } else {
    fields.lines(name, labels);
  }
}

Node dump_labels(const std::vector<std::string>& labels) { return labels.empty() ? Node::plain("all") : texts(labels); }

}  // namespace stereosweep::config
