#include <algorithm>
#include <map>
#include <set>

#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/files/Sha256.hpp"
#include "base/text/Text.hpp"
#include "config/yaml/Yaml.hpp"
#include "findings/runs/RunComparison.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::findings {
namespace {

using Values = std::vector<std::string>;  // one of each run

constexpr std::size_t most_bytes = 40;
constexpr std::size_t hash_digits = 8;
constexpr std::size_t most_entries = 2;  // of a list that a label names

std::string hash_of(std::string_view text) { return base::to_hex(base::sha256(text)).substr(0, hash_digits); }

/// A scalar, "a, b" of a list; entries that are none by the first scalar in them, which is a label in most lists, and
/// behind them "#" and the list's hash.
std::string text_of(const config::Node& node) {
  if (node.kind == config::Node::Kind::scalar) {
    return node.value.size() <= most_bytes || node.value.find('/') != std::string::npos
               ? node.value
               : base::excerpt(node.value, most_bytes) + " " + hash_of(node.value);
  }
  Values entries;
  bool is_whole = node.kind == config::Node::Kind::list;
  for (const auto& child : node.children) {
    const auto* leaf = &child;
    while (!leaf->children.empty()) {
      leaf = &leaf->children.front();
      is_whole = false;
    }
    entries.push_back(base::excerpt(leaf->value, most_bytes));
  }
  return base::join(entries, ", ") + (is_whole ? "" : ", #" + hash_of(config::emit_yaml(node)));
}

void add_keys(const config::Node& node, const std::string& path,
              std::vector<std::pair<std::string, std::string>>& keys) {
  if (node.kind != config::Node::Kind::map || node.children.empty()) {
    keys.emplace_back(path, text_of(node));
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    add_keys(node.children[i], path.empty() ? node.keys[i] : path + "." + node.keys[i], keys);
  }
}

const std::string* value_of(const RunOrigin& run, const std::string& key) {
  const auto found = std::ranges::find(run.keys, key, [](const auto& pair) { return pair.first; });
  return found == run.keys.end() ? nullptr : &found->second;
}

struct Difference {
  std::string key;
  Values values;
};

std::size_t num_different(const Values& values) { return std::set<std::string>(values.begin(), values.end()).size(); }

/// In the order in which labels name them.
std::vector<Difference> differences_of(std::span<const RunOrigin> runs) {
  std::vector<std::string> order = {"model.path", "probe"};
  for (const auto& run : runs) {
    for (const auto& [key, value] : run.keys) {
      base::add_once(order, key);
    }
  }
  const bool is_mixed = std::ranges::any_of(runs, [&](const auto& run) { return run.probe != runs.front().probe; });
  const bool has_one_model = !runs.front().model_sha256.empty() && std::ranges::all_of(runs, [&](const auto& run) {
    return run.model_sha256 == runs.front().model_sha256;
  });
  if (has_one_model) {
    order.erase(order.begin());  // in several places
  }
  std::vector<Difference> differences;
  for (const auto& key : order) {
    const auto found = base::mapped(runs, [&](const auto& run) { return value_of(run, key); });
    const auto values = base::mapped(found, [](const auto* value) { return value == nullptr ? "" : *value; });
    const bool is_everywhere = std::ranges::all_of(found, [](const auto* value) { return value != nullptr; });
    if (num_different(values) > 1 && (is_everywhere || !is_mixed)) {
      differences.push_back({key, values});
    }
  }
  return differences;
}

/// Of each run the entries of its list that not all runs have: "nurses, teachers and 3 more".
Values own_entries(const Values& values) {
  std::map<std::string, std::size_t> counts;
  const auto entries = base::mapped(values, [](const auto& value) {
    return base::mapped(base::split(value, ','), [](const auto& entry) { return std::string(base::trim(entry)); });
  });
  for (const auto& run : entries) {
    for (const auto& entry : std::set<std::string>(run.begin(), run.end())) {
      ++counts[entry];
    }
  }
  return base::mapped(entries, [&](auto own) {
    const auto all = own.size();
    std::erase_if(own, [&](const auto& entry) { return counts[entry] == values.size() || entry.starts_with('#'); });
    return own.empty() ? base::counted(all, "entry") : results::first_names(own, most_entries);
  });
}

/// Short, where these differ as the values do: of paths the last part, of lists what is not in all.
Values shown_values(const Difference& difference) {
  const auto lasts = base::mapped(difference.values, [](const auto& value) {
    const auto path = std::filesystem::path(value).lexically_normal();
    return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
  });
  const auto shorter = difference.key == "model.path" ? lasts : own_entries(difference.values);
  return num_different(shorter) == num_different(difference.values) ? shorter : difference.values;
}

/// The last part of the key where no other that differs ends so.
std::string name_of(const std::string& key, const std::vector<Difference>& differences) {
  const auto last = key.substr(key.rfind('.') + 1);
  const auto ends_so = [&](const auto& other) { return other.key == last || other.key.ends_with("." + last); };
  return key == "model.path" ? "model" : std::ranges::count_if(differences, ends_so) == 1 ? last : key;
}

Values labels_of(std::span<const RunOrigin> runs, const std::vector<Difference>& differences) {
  std::vector<std::pair<std::string, Values>> used;
  Values joined(runs.size());
  for (const auto& difference : differences) {
    if (num_different(joined) == runs.size()) {
      break;
    }
    auto values = shown_values(difference);
    Values longer = joined;
    for (std::size_t run = 0; run < runs.size(); ++run) {
      longer[run] += (used.empty() ? "" : ", ") + name_of(difference.key, differences) + "=" + values[run];
    }
    if (num_different(longer) > num_different(joined)) {
      joined = std::move(longer);
      used.emplace_back(difference.key, std::move(values));
    }
  }
  if (used.size() == 1 && (used.front().first == "model.path" || used.front().first == "probe")) {
    joined = used.front().second;
  }
  if (num_different(joined) < runs.size()) {
    for (std::size_t run = 0; run < runs.size(); ++run) {
      joined[run] += (joined[run].empty() ? "" : ", ") + runs[run].digest.substr(0, hash_digits);
    }
  }
  // Two files of different models whose numbers are equal, say: their order is what is left.
  const auto plain = joined;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (std::ranges::count(plain, plain[run]) > 1) {
      joined[run] += " (" + std::to_string(run + 1) + ")";
    }
  }
  return joined;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> keys_of(const config::Node& job) {
  std::vector<std::pair<std::string, std::string>> keys;
  add_keys(job, "", keys);
  std::erase_if(keys, [](const auto& pair) { return pair.first == "schema" || pair.first == "name"; });
  return keys;
}

results::AxisSchema run_axis(std::span<const RunOrigin> runs) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& run : runs) {
    base::refuse_if(!seen.emplace(run.job_sha256, run.digest).second, "one and the same result is named twice",
                    "job '" + run.name + "', digest " + run.digest.substr(0, hash_digits));
  }
  const auto differences = differences_of(runs);
  results::AxisSchema axis{"run", "result; what differs between the jobs names it", labels_of(runs, differences), {}};
  const auto add = [&](const std::string& name, const std::string& long_name, std::string RunOrigin::*field) {
    axis.coordinates.push_back({name, long_name, base::mapped(runs, field)});
  };
  add("name", "name of the job", &RunOrigin::name);
  add("probe", "probe of the job", &RunOrigin::probe);
  add("digest", "SHA-256 of the raw numbers", &RunOrigin::digest);
  add("job_sha256", "SHA-256 of the job", &RunOrigin::job_sha256);
  add("model_sha256", "SHA-256 of the model", &RunOrigin::model_sha256);
  add("complete", "whether every block was scored", &RunOrigin::complete);
  for (const auto& difference : differences) {
    const auto name = base::replace_all(difference.key, ".", "_");
    if (axis.find_coordinate(name) == nullptr) {
      axis.coordinates.push_back({name, "key of the job: " + difference.key, difference.values});
    }
  }
  return axis;
}

}  // namespace stereosweep::findings
