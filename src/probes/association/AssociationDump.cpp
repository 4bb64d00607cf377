#include "config/DumpNodes.hpp"
#include "probes/association/Association.hpp"
#include "probes/association/AssociationSettings.hpp"

namespace stereosweep::probes::association {
void dump_settings(const Association& settings, config::Extent /*extent*/, config::Node& job) {
  job.add("axes", config::dump(settings.axes));
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
