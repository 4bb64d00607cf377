#include <map>
#include <set>

#include "config/JobLoader.hpp"

namespace stereosweep::config {
namespace {

Node parse_dump(std::string_view text, const std::string& name) {
  base::Problems problems;
  Node node = parse_yaml(text, name, problems, resolved_limits);
  problems.raise_if_any("a resolved job cannot be read:");
  return node;
}

std::string shown(const Node& node) {
  if (node.kind == Node::Kind::scalar) {
    return node.style == Node::Style::verbatim ? "'" + node.value + "'" : node.value;
  }
  std::string text;
  for (std::size_t i = 0; i < node.children.size() && text.size() < 120; ++i) {
    text += (i == 0 ? "" : ", ") + (node.keys.empty() ? "" : node.keys[i] + ": ") + shown(node.children[i]);
  }
  text = text.size() > 120 ? text.substr(0, 120) + "..." : text;
  return node.kind == Node::Kind::map ? "{" + text + "}" : "[" + text + "]";
}

/// Name of a list entry: its label, its own text, else its place.
std::string entry_name(const Node& entry, std::size_t index) {
  const Node* label = entry.find("label");
  return label != nullptr ? label->value : entry.kind == Node::Kind::map ? std::to_string(index) : shown(entry);
}

void compare(const Node& before, const Node& after, const std::string& path, std::vector<std::string>& out);

void compare_lists(const Node& before, const Node& after, const std::string& path, std::vector<std::string>& out) {
  std::map<std::string, const Node*> known;
  for (std::size_t i = 0; i < before.children.size(); ++i) {
    known.emplace(entry_name(before.children[i], i), &before.children[i]);
  }
  std::vector<std::string> new_order;
  for (std::size_t i = 0; i < after.children.size(); ++i) {
    const std::string name = entry_name(after.children[i], i);
    if (const auto at = known.find(name); at == known.end()) {
      out.push_back(path + "[" + name + "]: only now");
    } else {
      new_order.push_back(name);
      compare(*at->second, after.children[i], path + "[" + name + "]", out);
    }
  }
  const std::set<std::string> common(new_order.begin(), new_order.end());
  std::vector<std::string> old_order;
  for (std::size_t i = 0; i < before.children.size(); ++i) {
    const std::string name = entry_name(before.children[i], i);
    if (common.contains(name)) {
      old_order.push_back(name);
    } else {
      out.push_back(path + "[" + name + "]: only before");
    }
  }
  if (old_order != new_order) {
    out.push_back(path + ": the same entries in another order");
  }
}

void compare(const Node& before, const Node& after, const std::string& path, std::vector<std::string>& out) {
  if (before.kind == Node::Kind::list && after.kind == Node::Kind::list) {
    compare_lists(before, after, path, out);
  } else if (before.kind == Node::Kind::map && after.kind == Node::Kind::map) {
    const auto child_path = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
    for (std::size_t i = 0; i < after.keys.size(); ++i) {
      if (const Node* old_child = before.find(after.keys[i])) {
        compare(*old_child, after.children[i], child_path(after.keys[i]), out);
      } else {
        out.push_back(child_path(after.keys[i]) + ": (nothing), now " + shown(after.children[i]));
      }
    }
    for (std::size_t i = 0; i < before.keys.size(); ++i) {
      if (after.find(before.keys[i]) == nullptr) {
        out.push_back(child_path(before.keys[i]) + ": " + shown(before.children[i]) + ", now (nothing)");
      }
    }
  } else if (shown(before) != shown(after)) {
    out.push_back(path + ": " + shown(before) + ", now " + shown(after));
  }
}

}  // namespace

std::string canonical_dump(const sweep::Job& job) { return emit_yaml(dump_job(job, Extent::everything)); }

std::string canonical_raw_dump(const sweep::Job& job) { return emit_yaml(dump_job(job, Extent::raw_numbers)); }

std::vector<std::string> differences(std::string_view old_dump, std::string_view new_dump) {
  std::vector<std::string> out;
  compare(parse_dump(old_dump, "old job"), parse_dump(new_dump, "new job"), "", out);
  return out;
}

}  // namespace stereosweep::config
