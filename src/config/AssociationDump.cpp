#include "config/DumpNodes.hpp"
#include "config/ProbeFormat.hpp"

namespace stereosweep::config {
namespace {

Node dump(const domain::Group& group) {
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

Node dump(const domain::IntersectionRule& rule) {
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

Node dump(const domain::Pole& pole) {
  Node map = Node::map();
  add_text(map, "name", pole.name);
  map.add("words", texts(pole.words));
  return map;
}

Node dump(const domain::TraitPair& pair) {
  Node map = Node::map();
  add_text(map, "label", pair.label);
  add_text(map, "dimension", pair.dimension);
  map.add("left", dump(pair.left));
  map.add("right", dump(pair.right));
  return map;
}

Node dump(const domain::Template& sentence) {
  Node map = Node::map();
  add_text(map, "label", sentence.label);
  add_text(map, "kind", sentence.kind);
  add_text(map, "text", sentence.text);
  map.add("form", Node::plain(sentence.form == domain::NounForm::singular ? "singular" : "plural"));
  return map;
}

Node dump(const domain::Rephrasing& rephrasing) {
  Node map = Node::map();
  add_text(map, "label", rephrasing.label);
  add_text(map, "wrapper", rephrasing.wrapper);
  if (!rephrasing.alternatives.empty()) {
    map.add("alternatives", text_map(rephrasing.alternatives));
  }
  return map;
}

constexpr auto dump_each = [](const auto& value) { return dump(value); };

Node dump(const domain::Axes& axes) {
  Node map = Node::map();
  map.add("groups", list_of(axes.groups, dump_each));
  map.add("intersections", dump(axes.intersections));
  map.add("traits", list_of(axes.traits, dump_each));
  map.add("templates", list_of(axes.templates, dump_each));
  map.add("rephrasings", list_of(axes.rephrasings, dump_each));
  return map;
}

}  // namespace

void dump_settings(const domain::Association& settings, Extent /*extent*/, Node& job) {
  job.add("axes", dump(settings.axes));
  Node& measures = job.add("measures", Node::list());
  const std::pair<bool, const char*> named[] = {
      {settings.measures.ilps, "ilps"}, {settings.measures.ilps_star, "ilps_star"}, {settings.measures.set, "set"}};
  for (const auto& [wanted, name] : named) {
    if (wanted) {
      measures.add(Node::plain(name));
    }
  }
  Node& priors = job.add("priors", Node::map());
  priors.add("word", settings.priors.word ? texts({settings.priors.word_singular, settings.priors.word_plural})
                                          : Node::plain("false"));
  priors.add("mask", Node::plain(settings.priors.mask ? "true" : "false"));
}

Node dump_statistics(const domain::Association& settings) {
  const auto& statistics = settings.statistics;
  Node map = Node::map();
  const bool median = statistics.word_aggregate == domain::Statistics::Aggregate::median;
  map.add("word_aggregate", Node::plain(median ? "median" : "mean"));
  add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.templates.empty()) {
    map.add("templates", texts(statistics.templates));
  }
  return map;
}

}  // namespace stereosweep::config
