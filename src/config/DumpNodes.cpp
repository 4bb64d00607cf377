#include "config/DumpNodes.hpp"

#include "base/Text.hpp"

namespace stereosweep::config {

void add_text(Node& map, const std::string& key, const std::string& value) {
  if (!value.empty()) {
    map.add(key, Node::text(value));
  }
}

Node texts(const std::vector<std::string>& values) {
  Node list = Node::list();
  for (const auto& value : values) {
    list.add(Node::text(value));
  }
  return list;
}

Node text_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Node list = Node::list();
  for (const auto& [first, second] : pairs) {
    list.add(texts({first, second}));
  }
  return list;
}

Node text_map(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Node map = Node::map();
  for (const auto& [key, value] : pairs) {
    map.add(key, Node::text(value));
  }
  return map;
}

void add_ratings(Node& map, const std::string& path, const std::vector<std::pair<std::string, std::string>>& aliases) {
  if (aliases.empty()) {
    add_text(map, "human_ratings", path);
    return;
  }
  Node ratings = Node::map();
  add_text(ratings, "path", path);
  ratings.add("aliases", text_map(aliases));
  map.add("human_ratings", std::move(ratings));
}

Node integer(std::int64_t value) { return Node::plain(std::to_string(value)); }

Node number(double value) { return Node::plain(base::format_double(value)); }

Node dump(const sweep::Group& group) {
  Node map = Node::map();
  add_text(map, "label", group.label);
  add_text(map, "domain", group.domain);
  add_text(map, "singular", group.singular);
  add_text(map, "plural", group.plural);
  add_text(map, "article", group.article);
  add_text(map, "adjective", group.adjective);
  add_text(map, "suffix", group.suffix);
  add_text(map, "suffix_plural", group.suffix_plural);
  add_text(map, "noun_singular", group.noun_singular);
  add_text(map, "noun_plural", group.noun_plural);
  return map;
}

Node dump(const sweep::IntersectionRule& rule) {
  Node map = Node::map();
  map.add("pairs", text_pairs(rule.pairs));
  map.add("domains", text_pairs(rule.domains));
  map.add("exclusions", text_pairs(rule.exclusions));
  Node lexical = Node::list();
  for (const auto& form : rule.lexical) {
    Node entry = Node::map();
    add_text(entry, "first", form.first);
    add_text(entry, "second", form.second);
    add_text(entry, "singular", form.singular);
    add_text(entry, "plural", form.plural);
    add_text(entry, "article", form.article);
    lexical.add(std::move(entry));
  }
  map.add("lexical", std::move(lexical));
  map.add("both_orders", Node::plain(rule.both_orders ? "true" : "false"));
  return map;
}

Node dump(const sweep::Pole& pole) {
  Node map = Node::map();
  add_text(map, "name", pole.name);
  map.add("words", texts(pole.words));
  return map;
}

Node dump(const sweep::TraitPair& pair) {
  Node map = Node::map();
  add_text(map, "label", pair.label);
  add_text(map, "dimension", pair.dimension);
  map.add("left", dump(pair.left));
  map.add("right", dump(pair.right));
  return map;
}

Node dump(const sweep::Template& sentence) {
  Node map = Node::map();
  add_text(map, "label", sentence.label);
  add_text(map, "kind", sentence.kind);
  add_text(map, "text", sentence.text);
  map.add("form", Node::plain(sentence.form == sweep::NounForm::singular ? "singular" : "plural"));
  return map;
}

Node dump(const sweep::Rephrasing& rephrasing) {
  Node map = Node::map();
  add_text(map, "label", rephrasing.label);
  add_text(map, "wrapper", rephrasing.wrapper);
  if (!rephrasing.alternatives.empty()) {
    map.add("alternatives", text_map(rephrasing.alternatives));
  }
  return map;
}

Node dump(const sweep::Axes& axes) {
  Node map = Node::map();
  map.add("groups", dump(axes.groups));
  map.add("intersections", dump(axes.intersections));
  map.add("traits", dump(axes.traits));
  map.add("templates", dump(axes.templates));
  map.add("rephrasings", dump(axes.rephrasings));
  return map;
}

}  // namespace stereosweep::config
