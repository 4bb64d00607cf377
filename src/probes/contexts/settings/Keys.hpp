// Plain keys of a mapping, listed once: a list of keys is called with `Reading`
// or `Writing`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/Text.hpp"
#include "config/Fields.hpp"

namespace stereosweep::probes::contexts {

/// Reads the keys of one mapping.
class Reading {
 public:
  Reading(config::Fields& fields, base::Problems& problems) : fields_(fields), problems_(problems) {}
  /// One of `names`, which stand in the order of the enumeration.
  template <class Choice>
  void choice(const std::string& name, Choice& target, const std::vector<std::string>& names) {
    fields_.choice(name, target, names);
  }
  void integer(const std::string& name, std::int64_t& target, std::int64_t smallest, std::int64_t largest) {
    fields_.integer(name, target, smallest, largest);
  }
  void number(const std::string& name, double& target, double smallest, double largest) {
    if (const config::Node* node = fields_.optional(name)) {
      const auto text = config::read_text(*node, fields_.key_of(name), problems_);
      const auto value = text ? base::parse_double(*text) : std::nullopt;
      if (text && (!value || *value < smallest || *value > largest)) {
        problems_.add(
            node->place(fields_.key_of(name)),
            "a number from " + base::format_double(smallest) + " to " + base::format_double(largest) + " is expected",
            "here stands '" + text->substr(0, 60) + "'");
      }
      target = value.value_or(target);
    }
  }
  void line(const std::string& name, std::string& target) { fields_.line(name, target); }
  void required_line(const std::string& name, std::string& target) { fields_.required_line(name, target); }
  void lines(const std::string& name, std::vector<std::string>& target) {
    const config::Node* node = fields_.optional(name);
    if (node != nullptr &&
        !(node->kind == config::Node::Kind::list && node->children.empty())) {  // [] stands in a dump
      read_lines(*node, name, target);
    }
  }
  void required_lines(const std::string& name, std::vector<std::string>& target) {
    if (const config::Node* node = fields_.required(name)) {
      read_lines(*node, name, target);
    }
  }

 private:
  void read_lines(const config::Node& node, const std::string& name, std::vector<std::string>& target) {
    target = config::read_lines(node, fields_.key_of(name), problems_).value_or(std::vector<std::string>());
  }

  config::Fields& fields_;
  base::Problems& problems_;
};

/// Writes the same keys into a dump; empty texts are left out.
class Writing {
 public:
  explicit Writing(config::Node& map) : map_(map) {}
  template <class Choice>
  void choice(const std::string& name, Choice value, const std::vector<std::string>& names) {
    map_.add(name, config::Node::plain(names[static_cast<std::size_t>(value)]));
  }
  void integer(const std::string& name, std::int64_t value, std::int64_t /*smallest*/, std::int64_t /*largest*/) {
    map_.add(name, config::integer(value));
  }
  void number(const std::string& name, double value, double /*smallest*/, double /*largest*/) {
    map_.add(name, config::number(value));
  }
  void line(const std::string& name, const std::string& value) { config::add_text(map_, name, value); }
  void required_line(const std::string& name, const std::string& value) { line(name, value); }
  void lines(const std::string& name, const std::vector<std::string>& value) { map_.add(name, config::texts(value)); }
  void required_lines(const std::string& name, const std::vector<std::string>& value) { lines(name, value); }

 private:
  config::Node& map_;
};

/// A mapping of nothing but plain keys.
template <class Entry, class Visit>
Entry read_entry(const config::Node& node, const std::string& key, base::Problems& problems, Visit visit,
                 std::string_view form = "") {
  Entry entry;
  config::Fields fields(node, key, problems, form);
  visit(Reading(fields, problems), entry);
  fields.finish();
  return entry;
}

template <class Entry, class Visit>
config::Node dump_entries(const std::vector<Entry>& entries, Visit visit) {
  return config::list_of(entries, [&](const Entry& entry) {
    config::Node map = config::Node::map();
    visit(Writing(map), entry);
    return map;
  });
}

/// An entry of a list that is selected by its label, and where it stands.
template <class Entry>
struct Placed : Entry {
  const config::Node* node = nullptr;
  std::string key = {};
};

}  // namespace stereosweep::probes::contexts
