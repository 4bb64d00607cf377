#include "config/DumpNodes.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/AssociationSettings.hpp"

namespace stereosweep::probes::association {
namespace {

config::Node dump(const sweep::Group& group) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", group.label);
  config::add_text(map, "domain", group.domain);
  config::add_text(map, "singular", group.singular);
  config::add_text(map, "plural", group.plural);
  config::add_text(map, "article", group.article);
  config::add_text(map, "adjective", group.adjective);
  config::add_text(map, "suffix", group.suffix);
  config::add_text(map, "suffix_plural", group.suffix_plural);
  config::add_text(map, "noun_singular", group.noun_singular);
  config::add_text(map, "noun_plural", group.noun_plural);
  return map;
}

config::Node dump(const sweep::IntersectionRule& rule) {
  config::Node map = config::Node::map();
  map.add("pairs", config::text_pairs(rule.pairs));
  map.add("domains", config::text_pairs(rule.domains));
  map.add("exclusions", config::text_pairs(rule.exclusions));
  config::Node lexical = config::Node::list();
  for (const auto& form : rule.lexical) {
    config::Node entry = config::Node::map();
    config::add_text(entry, "first", form.first);
    config::add_text(entry, "second", form.second);
    config::add_text(entry, "singular", form.singular);
    config::add_text(entry, "plural", form.plural);
    config::add_text(entry, "article", form.article);
    lexical.add(std::move(entry));
  }
  map.add("lexical", std::move(lexical));
  map.add("both_orders", config::Node::plain(rule.both_orders ? "true" : "false"));
  return map;
}

config::Node dump(const sweep::Pole& pole) {
  config::Node map = config::Node::map();
  config::add_text(map, "name", pole.name);
  map.add("words", config::texts(pole.words));
  return map;
}

config::Node dump(const sweep::TraitPair& pair) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", pair.label);
  config::add_text(map, "dimension", pair.dimension);
  map.add("left", dump(pair.left));
  map.add("right", dump(pair.right));
  return map;
}

config::Node dump(const sweep::Template& sentence) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", sentence.label);
  config::add_text(map, "kind", sentence.kind);
  config::add_text(map, "text", sentence.text);
  map.add("form", config::Node::plain(sentence.form == sweep::NounForm::singular ? "singular" : "plural"));
  return map;
}

config::Node dump(const sweep::Rephrasing& rephrasing) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", rephrasing.label);
  config::add_text(map, "wrapper", rephrasing.wrapper);
  if (!rephrasing.alternatives.empty()) {
    map.add("alternatives", config::text_map(rephrasing.alternatives));
  }
  return map;
}

constexpr auto dump_each = [](const auto& value) { return dump(value); };

config::Node dump(const sweep::Axes& axes) {
  config::Node map = config::Node::map();
  map.add("groups", config::list_of(axes.groups, dump_each));
  map.add("intersections", dump(axes.intersections));
  map.add("traits", config::list_of(axes.traits, dump_each));
  map.add("templates", config::list_of(axes.templates, dump_each));
  map.add("rephrasings", config::list_of(axes.rephrasings, dump_each));
  return map;
}

}  // namespace

void dump_settings(const Association& settings, config::Extent /*extent*/, config::Node& job) {
  job.add("axes", dump(settings.axes));
  config::Node& measures = job.add("measures", config::Node::list());
  const std::pair<bool, const char*> named[] = {
      {settings.measures.ilps, "ilps"}, {settings.measures.ilps_star, "ilps_star"}, {settings.measures.set, "set"}};
  for (const auto& [wanted, name] : named) {
    if (wanted) {
      measures.add(config::Node::plain(name));
    }
  }
  config::Node& priors = job.add("priors", config::Node::map());
  priors.add("word", settings.priors.word ? config::texts({settings.priors.word_singular, settings.priors.word_plural})
                                          : config::Node::plain("false"));
  priors.add("mask", config::Node::plain(settings.priors.mask ? "true" : "false"));
}

config::Node dump_statistics(const Association& settings) {
  const auto& statistics = settings.statistics;
  config::Node map = config::Node::map();
  const bool median = statistics.word_aggregate == Statistics::Aggregate::median;
  map.add("word_aggregate", config::Node::plain(median ? "median" : "mean"));
  config::add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.templates.empty()) {
    map.add("templates", config::texts(statistics.templates));
  }
  return map;
}

}  // namespace stereosweep::probes::association
