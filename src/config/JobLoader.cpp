#include "config/JobLoader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/yaml/Fields.hpp"
#include "sweep/Product.hpp"

namespace stereosweep::config {
namespace {

constexpr std::uint64_t max_jobs = 1000;

YamlLimits limits_of(const JobFile& file) { return file.is_resolved ? resolved_limits : YamlLimits(); }

/// One key of `sweep` with the values it takes.
struct SweepAxis {
  std::string path;
  const Node* values = nullptr;
};

/// Puts `value` at a dotted path; maps on the way are made, a piece's name on the way becomes {file: NAME}.
void put(Node& root, const std::string& path, const Node& value, base::Problems& problems) {
  auto parts = base::split(path, '.');
  if (parts.front() == "sweep" && parts.size() > 2) {
    parts = {"sweep", path.substr(6)};
  }
  if (std::find(parts.begin(), parts.end(), "") != parts.end()) {
    problems.add(value.place(path), "'" + path + "' is no dotted path", "an empty part");
    return;
  }
  Node* node = &root;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (node->kind == Node::Kind::null) {
      node->kind = Node::Kind::map;
      node->file = value.file;
    } else if (node->kind == Node::Kind::scalar && i == 2 && parts[0] == "axes") {
      Node named = *node;
      node->kind = Node::Kind::map;
      node->value.clear();
      node->add("file", std::move(named));
    } else if (node->kind != Node::Kind::map) {
      problems.add(value.place(path), "'" + parts[i] + "' cannot be set", "above it stands " + kind_name(*node));
      return;
    }
    node = &node->at(parts[i]);
  }
  *node = value;
}

/// As the command line's.
void place_on_command_line(Node& node) {
  static const auto file = std::make_shared<const std::string>("command line");
  node.file = file;
  node.line = 0;
  std::ranges::for_each(node.children, place_on_command_line);
}

/// "key=value" -> the path and the value: a flow list, mapping or quoted text is read as YAML, all else as it stands.
/// The path; "" after reporting what is wrong.
std::string apply_override(Node& root, const std::string& text, base::Problems& problems) {
  const auto equals = text.find('=');
  const std::string path(base::trim(std::string_view(text).substr(0, equals)));
  const std::string value(equals == std::string::npos ? "" : base::trim(std::string_view(text).substr(equals + 1)));
  const auto refuse = [&](const std::string& problem, const std::string& why, const std::string& suggestion = "") {
    problems.add({"command line", 0, base::excerpt(text, 80)}, problem, why, suggestion);
    return "";
  };
  constexpr const char* form = "a key of the job is set as key=value";
  if (equals == std::string::npos) {
    return refuse("no '='", form, "Write " + base::excerpt(text, 80) + "=VALUE.");
  }
  if (path.empty()) {
    return refuse("no key stands before the '='", form);
  }
  if (value.empty()) {
    return refuse("no value stands behind the '='", form, "Write " + path + "=VALUE, or leave it out.");
  }
  Node node = Node::plain(value);
  if (std::string_view("[{\"'").find(value.front()) != std::string_view::npos) {
    base::Problems own;
    node = parse_yaml(value, "command line", own);
    for (const auto& line : own.lines()) {
      problems.add({}, line, "in the value of " + path);
    }
  } else if (base::find_invalid_utf8(value) || value.size() > 10'000) {
    problems.add({"command line", 0, path}, "the value is too long or no UTF-8", "limit: 10,000 bytes");
    return "";
  }
  place_on_command_line(node);
  put(root, path, node, problems);
  return path;
}

/// Equal values would be equal runs.
void check_values(const Node& values, const std::string& key, base::Problems& problems) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < values.children.size(); ++i) {
    const Node& value = values.children[i];
    problems.add_if(value.kind == Node::Kind::scalar && !seen.insert(value.value).second,
                    value.place(key + "[" + std::to_string(i) + "]"),
                    "'" + base::excerpt(value.value, 60) + "' stands twice", "each value makes one run");
  }
}

std::vector<SweepAxis> read_sweep(const Node& sweep, const std::set<std::string>& fixed, base::Problems& problems) {
  std::vector<SweepAxis> axes;
  if (!expect_kind(sweep, Node::Kind::map, "sweep", problems)) {
    return axes;
  }
  std::uint64_t num_jobs = 1;
  for (std::size_t i = 0; i < sweep.keys.size(); ++i) {
    const std::string& path = sweep.keys[i];
    const std::string key = "sweep." + path;
    const std::string first = path.substr(0, path.find('.'));
    if (first == "name" || first == "schema" || first == "sweep") {
      problems.add(sweep.children[i].place(key), "'" + path + "' cannot be swept", "it is one for the whole file");
    } else if (expect_kind(sweep.children[i], Node::Kind::list, key, problems, Emptiness::refused) &&
               !fixed.contains(path)) {
      check_values(sweep.children[i], key, problems);
      axes.push_back({path, &sweep.children[i]});
      if (__builtin_mul_overflow(num_jobs, sweep.children[i].children.size(), &num_jobs) || num_jobs > max_jobs) {
        problems.add(sweep.place("sweep"), "the sweep has more than " + std::to_string(max_jobs) + " jobs",
                     "limit of one file");
        return {};
      }
    }
  }
  return axes;
}

/// Of keys that were set twice the last counts; a wrapper script may rely on it, so this is said and not refused.
void note_repeated_keys(const std::vector<std::string>& paths) {
  for (auto later = paths.begin(); later != paths.end(); ++later) {
    const auto is_replaced = [&](const std::string& earlier) {
      return earlier == *later || (earlier.size() > later->size() && earlier.starts_with(*later + "."));
    };
    const auto earlier = std::find_if(paths.begin(), later, is_replaced);
    if (!later->empty() && earlier != later) {
      base::log_once(base::LogLevel::warning,
                     "the command line sets '" + *earlier + "' and then '" + *later + "': the last one counts");
    }
  }
}

/// A value as part of a folder name: the last part of a path, other characters as '_'.
std::string short_name(const Node& value) {
  std::string text = value.value;
  for (const auto& child : value.children) {
    text += (text.empty() ? "" : "+") + short_name(child);
  }
  while (text.ends_with('/')) {
    text.pop_back();
  }
  text = text.substr(text.rfind('/') + 1).substr(0, 40);
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  std::ranges::replace_if(
      text, [&](char letter) { return plain.find(letter) == std::string_view::npos; }, '_');
  return text.empty() ? "_" : text;
}

/// Values that are written in several ways ("1", "01") make equal jobs.
void refuse_equal_jobs(const std::vector<sweep::Job>& jobs, const Node& sweep, base::Problems& problems) {
  std::map<std::string, std::string> names;
  for (auto job : jobs) {
    const auto name = std::exchange(job.name, "");
    if (const auto [known, is_new] = names.emplace(canonical_dump(job), name); !is_new) {
      problems.add(sweep.place("sweep"), "two jobs of the sweep are the same: " + known->second + " and " + name,
                   "the values differ only in how they are written");
    }
  }
}

void make_names_unique(std::vector<sweep::Job>& jobs) {
  std::set<std::string> names;
  for (const auto& job : jobs) {
    names.insert(job.name);
  }
  for (std::size_t i = 0; names.size() < jobs.size() && i < jobs.size(); ++i) {
    jobs[i].name += "." + std::to_string(i + 1);
  }
}

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
  text = base::excerpt(text, 120);
  return node.kind == Node::Kind::map ? "{" + text + "}" : "[" + text + "]";
}

/// What a list or a mapping holds: an entry of a list is called by its label, its own text, else its place.
std::vector<std::pair<std::string, const Node*>> members_of(const Node& node) {
  std::vector<std::pair<std::string, const Node*>> members;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Node& child = node.children[i];
    const Node* label = child.find("label");
    members.emplace_back(node.kind == Node::Kind::map    ? node.keys[i]
                         : label != nullptr              ? label->value
                         : child.kind == Node::Kind::map ? std::to_string(i)
                                                         : shown(child),
                         &child);
  }
  return members;
}

void compare(const Node& before, const Node& after, const std::string& path, std::vector<std::string>& out) {
  const bool are_lists = before.kind == Node::Kind::list;
  if (before.kind != after.kind || (!are_lists && before.kind != Node::Kind::map)) {
    if (shown(before) != shown(after)) {
      out.push_back(path + ": " + shown(before) + ", now " + shown(after));
    }
    return;
  }
  const auto path_of = [&](const std::string& name) {
    return are_lists ? path + "[" + name + "]" : path.empty() ? name : path + "." + name;
  };
  const auto old_members = members_of(before);
  const std::map<std::string, const Node*> known(old_members.begin(), old_members.end());
  std::vector<std::string> new_order;
  for (const auto& [name, child] : members_of(after)) {
    if (const auto at = known.find(name); at != known.end()) {
      new_order.push_back(name);
      compare(*at->second, *child, path_of(name), out);
    } else {
      out.push_back(path_of(name) + (are_lists ? ": only now" : ": (nothing), now " + shown(*child)));
    }
  }
  const std::set<std::string> common(new_order.begin(), new_order.end());
  std::vector<std::string> old_order;
  for (const auto& [name, child] : old_members) {
    if (common.contains(name)) {
      old_order.push_back(name);
    } else {
      out.push_back(path_of(name) + (are_lists ? ": only before" : ": " + shown(*child) + ", now (nothing)"));
    }
  }
  if (are_lists && old_order != new_order) {
    out.push_back(path + ": the same entries in another order");
  }
}

/// At most `most` bytes of an open pipe or terminal, which is closed. Where no program opens a named pipe to write, it
/// ends after 10 s.
std::string read_pipe(int pipe, const std::string& name, std::size_t most) {
  base::refuse_if(pipe < 0, "cannot read " + name, std::strerror(errno));
  pollfd begun{pipe, POLLIN, 0};
  ::poll(&begun, 1, 10'000);
  ::fcntl(pipe, F_SETFL, 0);  // from here on reading waits as long as there is a writer
  std::string text(most, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got != 0 && size < most;) {
    got = ::read(pipe, text.data() + size, most - size);
    base::refuse_if(got < 0 && errno != EINTR, "cannot read " + name, std::strerror(errno));
    size += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  ::close(pipe);
  base::refuse_if(size == 0, "cannot read " + name, "nothing was written into it");
  text.resize(size);
  return text;
}

}  // namespace

JobFile read_job_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const bool is_input = path == "-";
  const auto type = std::filesystem::status(path, ignored).type();
  JobFile file{is_input ? "standard input" : path.string(), path.parent_path(), "", path.filename() == resolved_name};
  const auto most = limits_of(file).max_bytes;
  if (path.string().starts_with("/dev/") || path.string().starts_with("/proc/")) {
    file.directory.clear();  // nobody keeps jobs there: it stands for one that lies where the command was typed
  }
  if (!is_input && type != std::filesystem::file_type::fifo && type != std::filesystem::file_type::character) {
    file.text = base::read_file(path, most);
    return file;
  }
  file.text = read_pipe(is_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC),
                        file.name, most + 1);
  return file;  // what is too long is refused as a file is
}

std::vector<sweep::Job> load_jobs(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  return load_jobs(read_job_file(path), overrides);
}

std::vector<sweep::Job> load_jobs(const JobFile& file, const std::vector<std::string>& overrides, const JobCheck& check,
                                  NamedRuns named) {
  base::Problems problems;
  const std::string headline = "the job " + file.name + " cannot be used:";
  Node root = parse_yaml(file.text, file.name, problems, limits_of(file));
  if (root.kind == Node::Kind::broken || !expect_kind(root, Node::Kind::map, "", problems)) {
    problems.raise_if_any(headline);
  }
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const bool has_value_apart = overrides[i].find('=') == std::string::npos && i + 1 < overrides.size() &&
                                 overrides[i + 1].find('=') == std::string::npos;
    if (has_value_apart) {
      problems.add({"command line", 0, base::excerpt(overrides[i], 80)}, "no '=' between key and value",
                   "a key of the job is set as key=value",
                   "Write " + base::excerpt(overrides[i], 80) + "=" + base::excerpt(overrides[i + 1], 80) + ".");
      ++i;
      continue;
    }
    paths.push_back(apply_override(root, overrides[i], problems));
  }
  note_repeated_keys(paths);
  const std::set<std::string> fixed(paths.begin(), paths.end());
  const Node sweep = root.find("sweep") != nullptr ? root.take("sweep") : Node::map();
  const auto axes = read_sweep(sweep, fixed, problems);
  const sweep::Product product(
      base::mapped(axes, [](const SweepAxis& axis) -> std::uint64_t { return axis.values->children.size(); }));
  std::vector<sweep::Job> jobs;
  // axes of a resolved job need no table of their language, unless texts are given with it that no table has seen
  const bool has_new_texts = std::ranges::any_of(paths, [](const std::string& path) {
    return base::contains(std::array{"axes", "priors", "language", "probe", "sweep"}, path.substr(0, path.find('.')));
  });
  Pieces pieces(file.directory, file.is_resolved && !has_new_texts ? Pieces::Access::resolved : Pieces::Access::files);
  std::set<std::string> reported;
  for (std::uint64_t number = 0; number < product.num_contexts(); ++number) {
    const auto choice = product.coordinates(number);
    base::Problems own;
    Node combination = root;
    std::string suffix;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const Node& value = axes[i].values->children[choice[i]];
      put(combination, axes[i].path, value, own);
      suffix += (i == 0 ? "." : "-") + short_name(value);
    }
    jobs.push_back(read_job(combination, pieces, own, check, named));
    jobs.back().name = (jobs.back().name + suffix).substr(0, 140);
    for (const auto& line : own.lines()) {
      problems.add_if(reported.insert(line).second, {}, line, "");
    }
  }
  problems.raise_if_any(headline);
  if (jobs.size() > 1) {
    refuse_equal_jobs(jobs, sweep, problems);
    problems.raise_if_any(headline);
  }
  make_names_unique(jobs);
  return jobs;
}

sweep::Job load_resolved(std::string_view text, const std::string& name, const std::vector<std::string>& overrides) {
  base::Problems problems;
  Node root = parse_yaml(text, name, problems, resolved_limits);
  Pieces pieces("", Pieces::Access::inline_only);
  sweep::Job job;
  if (root.kind != Node::Kind::broken) {
    for (const auto& override_text : overrides) {
      apply_override(root, override_text, problems);
    }
    job = read_job(root, pieces, problems);
  }
  problems.raise_if_any("the resolved job " + name + " cannot be used:");
  return job;
}

std::string canonical_dump(const sweep::Job& job) { return emit_yaml(dump_job(job, Extent::everything)); }

std::string canonical_raw_dump(const sweep::Job& job) { return emit_yaml(dump_job(job, Extent::raw_numbers)); }

std::vector<std::string> differences(std::string_view old_dump, std::string_view new_dump) {
  std::vector<std::string> out;
  compare(parse_dump(old_dump, "old job"), parse_dump(new_dump, "new job"), "", out);
  return out;
}

}  // namespace stereosweep::config
