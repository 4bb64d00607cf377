#include "base/Text.hpp"
#include "config/DumpNodes.hpp"
#include "config/ProbeFormat.hpp"

namespace stereosweep::config {
namespace {

Node dump(const domain::Identity& identity) {
  Node map = Node::map();
  add_text(map, "label", identity.label);
  add_text(map, "marker", identity.marker);
  add_text(map, "people", identity.people);
  add_text(map, "definition", identity.definition);
  return map;
}

Node dump(const domain::RatedTrait& trait) {
  Node map = Node::map();
  add_text(map, "label", trait.label);
  add_text(map, "dimension", trait.dimension);
  const bool is_positive = trait.polarity == domain::RatedTrait::Polarity::positive;
  map.add("polarity", Node::plain(is_positive ? "positive" : "negative"));
  add_text(map, "definition", trait.definition);
  return map;
}

Node dump(const domain::RatingQuestion& question) {
  Node map = Node::map();
  add_text(map, "label", question.label);
  add_text(map, "style", question.style);
  add_text(map, "text", question.text);
  return map;
}

constexpr auto dump_each = [](const auto& value) { return dump(value); };

}  // namespace

void dump_settings(const domain::Rating& settings, Extent /*extent*/, Node& job) {
  Node& axes = job.add("axes", Node::map());
  axes.add("identities", list_of(settings.identities, dump_each));
  axes.add("rated_traits", list_of(settings.traits, dump_each));
  axes.add("rating_questions", list_of(settings.questions, dump_each));
  Node& scale = job.add("scale", Node::list());
  for (const auto& option : settings.scale) {
    scale.add(texts({option.text, base::format_double(option.value)}));
  }
  job.add("frame", Node::text(settings.frame));
  if (settings.sampling.runs == 0) {
    job.add("sampling", Node::plain("none"));
    return;
  }
  Node& sampling = job.add("sampling", Node::map());
  sampling.add("runs", integer(settings.sampling.runs));
  sampling.add("max_new_tokens", integer(settings.sampling.max_new_tokens));
  sampling.add("temperature", number(settings.sampling.temperature));
  sampling.add("top_k", integer(settings.sampling.top_k));
  sampling.add("top_p", number(settings.sampling.top_p));
  sampling.add("stop", texts(settings.sampling.stop));
}

Node dump_statistics(const domain::Rating& settings) {
  Node map = Node::map();
  add_text(map, "human_ratings", settings.statistics.human_ratings);
  Node& clusters = map.add("clusters", Node::map());
  const bool plus_plus = settings.statistics.start == domain::RatingStatistics::Start::plus_plus;
  clusters.add("start", Node::plain(plus_plus ? "plus_plus" : "random"));
  clusters.add("restarts", integer(settings.statistics.restarts));
  clusters.add("max_clusters", integer(settings.statistics.max_clusters));
  return map;
}

}  // namespace stereosweep::config
