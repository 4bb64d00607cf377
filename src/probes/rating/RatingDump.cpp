#include "base/Text.hpp"
#include "config/DumpNodes.hpp"
#include "probes/rating/Rating.hpp"
#include "probes/rating/RatingSettings.hpp"

namespace stereosweep::probes::rating {
namespace {

config::Node dump(const Identity& identity) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", identity.label);
  config::add_text(map, "marker", identity.marker);
  config::add_text(map, "people", identity.people);
  config::add_text(map, "definition", identity.definition);
  return map;
}

config::Node dump(const RatedTrait& trait) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", trait.label);
  config::add_text(map, "dimension", trait.dimension);
  const bool is_positive = trait.polarity == RatedTrait::Polarity::positive;
  map.add("polarity", config::Node::plain(is_positive ? "positive" : "negative"));
  config::add_text(map, "definition", trait.definition);
  return map;
}

config::Node dump(const RatingQuestion& question) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", question.label);
  config::add_text(map, "style", question.style);
  config::add_text(map, "text", question.text);
  return map;
}

constexpr auto dump_each = [](const auto& value) { return dump(value); };

}  // namespace

void dump_settings(const Rating& settings, config::Extent /*extent*/, config::Node& job) {
  config::Node& axes = job.add("axes", config::Node::map());
  axes.add("identities", config::list_of(settings.identities, dump_each));
  axes.add("rated_traits", config::list_of(settings.traits, dump_each));
  axes.add("rating_questions", config::list_of(settings.questions, dump_each));
  config::Node& scale = job.add("scale", config::Node::list());
  for (const auto& option : settings.scale) {
    scale.add(config::texts({option.text, base::format_double(option.value)}));
  }
  job.add("frame", config::Node::text(settings.frame));
  if (settings.sampling.runs == 0) {
    job.add("sampling", config::Node::plain("none"));
    return;
  }
  config::Node& sampling = job.add("sampling", config::Node::map());
  sampling.add("runs", config::integer(settings.sampling.runs));
  sampling.add("max_new_tokens", config::integer(settings.sampling.max_new_tokens));
  sampling.add("temperature", config::number(settings.sampling.temperature));
  sampling.add("top_k", config::integer(settings.sampling.top_k));
  sampling.add("top_p", config::number(settings.sampling.top_p));
  sampling.add("stop", config::texts(settings.sampling.stop));
}

config::Node dump_statistics(const Rating& settings) {
  config::Node map = config::Node::map();
  config::add_text(map, "human_ratings", settings.statistics.human_ratings);
  config::Node& clusters = map.add("clusters", config::Node::map());
  const bool plus_plus = settings.statistics.start == RatingStatistics::Start::plus_plus;
  clusters.add("start", config::Node::plain(plus_plus ? "plus_plus" : "random"));
  clusters.add("restarts", config::integer(settings.statistics.restarts));
  clusters.add("max_clusters", config::integer(settings.statistics.max_clusters));
  return map;
}

}  // namespace stereosweep::probes::rating
