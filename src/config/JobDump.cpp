#include "config/JobDump.hpp"

#include <algorithm>

#include "config/Chat.hpp"
#include "config/ProbeFormat.hpp"
#include "config/Yaml.hpp"

namespace stereosweep::config {
namespace {

Node dump(const sweep::Execution& execution, Extent extent) {
  Node map = Node::map();
  map.add("engine", Node::plain(execution.engine == query::EngineKind::fake ? "fake" : "torch"));
  if (extent == Extent::everything) {
    constexpr const char* devices[] = {"auto", "cpu", "cuda"};
    map.add("device", Node::plain(devices[static_cast<std::size_t>(execution.device)]));
  }
  map.add("threads_per_rank", Node::plain(std::to_string(execution.threads_per_rank)));
  if (execution.tensor_parallel != 1) {  // left out otherwise: dumps of older runs stay what they were
    map.add("tensor_parallel", Node::plain(std::to_string(execution.tensor_parallel)));
  }
  map.add("batch_tokens", Node::plain(std::to_string(execution.batch_tokens)));
  map.add("contexts_per_block", Node::plain(std::to_string(execution.contexts_per_block)));
  if (extent == Extent::everything) {
    map.add("max_cells", Node::plain(std::to_string(execution.max_cells)));
    if (execution.block_limit_s != 0) {
      map.add("block_limit_s", Node::plain(std::to_string(execution.block_limit_s)));
    }
  }
  return map;
}

Node dump_model(const sweep::Job& job, Extent extent) {
  Node model = Node::map();
  if (extent == Extent::everything) {
    model.add("path", Node::text(job.model.path));
  }
  model.add("dtype", Node::plain(query::name_of(job.model.dtype)));
  if (format_of(job.probe_name()).defaults().chat != ChatUse::refused) {
    model.add("chat", job.model.chat ? dump_chat(*job.model.chat) : Node::plain("none"));
  }
  return model;
}

Node dump(const sweep::Job& job, Extent extent) {
  Node map = Node::map();
  map.add("schema", Node::plain("stereosweep/1"));
  if (extent == Extent::everything) {
    map.add("name", Node::text(job.name));
  }
  if (extent == Extent::everything || job.draws()) {
    map.add("seed", Node::plain(std::to_string(job.seed)));
  }
  if (job.needs_model()) {
    map.add("model", dump_model(job, extent));
  }
  map.add("probe", Node::plain(job.probe_name()));
  const auto& format = format_of(job.probe_name());
  format.dump(job.probe, extent, map);
  map.add("execution", dump(job.execution, extent));
  if (extent == Extent::everything) {
    map.add("statistics", format.dump_statistics(job.probe));
  }
  return map;
}

Node parse_dump(std::string_view text, const std::string& name) {
  base::Problems problems;
  Node node = parse_yaml(text, name, problems, {std::size_t{256} << 20, 20'000'000, 16});
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
  std::vector<std::pair<std::string, const Node*>> old_entries;
  for (std::size_t i = 0; i < before.children.size(); ++i) {
    old_entries.emplace_back(entry_name(before.children[i], i), &before.children[i]);
  }
  std::sort(old_entries.begin(), old_entries.end());
  std::vector<std::string> common;
  for (std::size_t i = 0; i < after.children.size(); ++i) {
    const std::string name = entry_name(after.children[i], i);
    const auto at =
        std::lower_bound(old_entries.begin(), old_entries.end(), std::pair(name, static_cast<const Node*>(nullptr)));
    if (at == old_entries.end() || at->first != name) {
      out.push_back(path + "[" + name + "]: only now");
    } else {
      common.push_back(name);
      compare(*at->second, after.children[i], path + "[" + name + "]", out);
    }
  }
  const std::vector<std::string> new_order = common;
  std::sort(common.begin(), common.end());
  std::vector<std::string> old_order;
  for (std::size_t i = 0; i < before.children.size(); ++i) {
    const std::string name = entry_name(before.children[i], i);
    if (std::binary_search(common.begin(), common.end(), name)) {
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

std::string canonical_dump(const sweep::Job& job) { return emit_yaml(dump(job, Extent::everything)); }

std::string canonical_raw_dump(const sweep::Job& job) { return emit_yaml(dump(job, Extent::raw_numbers)); }

std::vector<std::string> differences(std::string_view old_dump, std::string_view new_dump) {
  std::vector<std::string> out;
  compare(parse_dump(old_dump, "old job"), parse_dump(new_dump, "new job"), "", out);
  return out;
}

}  // namespace stereosweep::config
