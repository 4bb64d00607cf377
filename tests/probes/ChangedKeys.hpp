// Changes every value of a job in turn, as its dump holds it, and looks whether the keys of its blocks change with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "config/yaml/Yaml.hpp"
#include "probes/Probe.hpp"
#include "sweep/Job.hpp"

namespace stereosweep::probes::testing {

/// The keys of all blocks, one after the other.
inline std::string keys_of(const Probe& probe) {
  std::string keys;
  for (std::uint64_t block = 0; block < probe.blocks().num_blocks(); ++block) {
    const auto key = block_key(probe, probe.blocks().block(block), {});
    keys.append(key.begin(), key.end());
  }
  return keys;
}

/// Dotted keys, "axes.groups[].label", of a job.
struct ChangedKeys {
  std::set<std::string> seen;    ///< a change changed the blocks' keys
  std::set<std::string> unseen;  ///< a change changed the job and no block's key
};

class KeyChanger {
 public:
  using Keys = std::function<std::string(const sweep::Job&)>;
  /// `keys` gives what all blocks of a job are known by.
  KeyChanger(const sweep::Job& job, Keys keys)
      : job_(with_model(job)),
        keys_(std::move(keys)),
        before_(keys_(job_)),
        dump_(config::dump_job(job_, config::Extent::everything)) {
    EXPECT_EQ(config::load_resolved(config::emit_yaml(dump_), "unchanged"), job_);
  }

  /// Of the values below these keys of the job.
  ChangedKeys change(const std::vector<std::string>& names) {
    for (const auto& name : names) {
      visit(dump_.at(name), name);
    }
    return changed_;
  }

 private:
  void visit(config::Node& node, const std::string& path) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      visit(node.children[i], path + (node.keys.empty() ? "[]" : "." + node.keys[i]));
    }
    if (node.kind != config::Node::Kind::scalar) {
      return;
    }
    const auto was = node.value;
    std::vector<std::string> values = {was + "x", was + " x"};
    if (const auto number = base::parse_double(was)) {
      values = {base::format_double(*number + 1), base::format_double(*number / 2), base::format_double(*number - 1)};
    }
    for (std::size_t i = 0; i < values.size() && i < 12; ++i) {
      node.value = values[i];
      try_change(path, values);
    }
    node.value = was;
  }

  /// Where a choice is refused, the report names those that there are: they are tried next.
  void try_change(const std::string& path, std::vector<std::string>& values) {
    try {
      const auto other = config::load_resolved(config::emit_yaml(dump_), "changed");
      if (!(other == job_)) {
        (keys_(other) == before_ ? changed_.unseen : changed_.seen).insert(path);
      }
    } catch (const base::Error& error) {
      const std::string text = error.what();
      const auto list = text.find("one of '");
      for (auto at = list; list != std::string::npos && at < text.find(')', list);) {
        const auto end = text.find('\'', text.find('\'', at) + 1);
        const auto word = text.substr(text.find('\'', at) + 1, end - text.find('\'', at) - 1);
        if (std::ranges::find(values, word) == values.end()) {
          values.push_back(word);
        }
        at = end + 1;
      }
    }
  }

  /// A job that is read needs one.
  static sweep::Job with_model(sweep::Job job) {
    job.model.path = "somewhere";
    return job;
  }

  sweep::Job job_;
  Keys keys_;
  std::string before_;
  config::Node dump_;
  ChangedKeys changed_;
};

}  // namespace stereosweep::probes::testing
