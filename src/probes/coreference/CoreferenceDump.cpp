#include "config/DumpNodes.hpp"
#include "probes/coreference/Coreference.hpp"
#include "probes/coreference/CoreferenceSettings.hpp"
#include "probes/coreference/MarkedSentence.hpp"

namespace stereosweep::probes::coreference {
namespace {

config::Node note_names(const std::vector<SentenceNote>& notes) {
  config::Node list = config::Node::list();
  for (const auto note : notes) {
    list.add(config::Node::plain(sentence_note_names[static_cast<std::size_t>(note)]));
  }
  return list;
}

config::Node dump(const CoreferenceSentence& sentence) {
  constexpr const char* cases[] = {"subject", "object", "possessive", "independent", "reflexive"};
  config::Node map = config::Node::map();
  config::add_text(map, "label", sentence.label);
  config::add_text(map, "text", marked_text(sentence));
  map.add("type", config::Node::plain(sentence.type == SentenceType::ambiguous ? "ambiguous" : "unambiguous"));
  map.add("stereotype", config::Node::plain(sentence.stereotype == Stereotype::pro ? "pro" : "anti"));
  config::add_text(map, "split", sentence.split);
  map.add("case", config::Node::plain(cases[static_cast<std::size_t>(sentence.pronoun_case)]));
  map.add("notes", note_names(sentence.notes));
  return map;
}

config::Node dump(const Marker& marker) {
  constexpr const char* privileges[] = {"privileged", "disadvantaged", "unstated"};
  config::Node map = config::Node::map();
  config::add_text(map, "word", marker.word);
  config::add_text(map, "attribute", marker.attribute);
  config::add_text(map, "contrast", marker.contrast);
  map.add("privilege", config::Node::plain(privileges[static_cast<std::size_t>(marker.privilege)]));
  return map;
}

}  // namespace

void dump_settings(const Coreference& settings, config::Extent /*extent*/, config::Node& job) {
  config::Node& axes = job.add("axes", config::Node::map());
  config::Node& sentences = axes.add("sentences", config::Node::list());
  for (const auto& sentence : settings.sentences) {
    sentences.add(dump(sentence));
  }
  if (!settings.markers.empty()) {
    config::Node& markers = axes.add("markers", config::Node::list());
    for (const auto& marker : settings.markers) {
      markers.add(dump(marker));
    }
  }
  config::Node& augmentations = axes.add("augmentations", config::Node::list());
  for (const auto augmentation : settings.augmentations) {
    augmentations.add(config::Node::plain(augmentation_names[static_cast<std::size_t>(augmentation)]));
  }
  config::Node& questions = axes.add("questions", config::Node::list());
  for (const auto& question : settings.questions) {
    config::Node& entry = questions.add(config::Node::map());
    config::add_text(entry, "label", question.label);
    config::add_text(entry, "text", question.text);
  }
  axes.add("exclude", note_names(settings.excluded));
  constexpr const char* referents[] = {"first", "random", "bracketed"};
  axes.add("ambiguous_referent", config::Node::plain(referents[static_cast<std::size_t>(settings.ambiguous_referent)]));
}

config::Node dump_statistics(const Coreference& settings) {
  const auto& statistics = settings.statistics;
  config::Node map = config::Node::map();
  map.add("ties", config::Node::plain(statistics.ties == CoreferenceStatistics::Ties::half ? "half" : "loss"));
  map.add("replicates", config::integer(statistics.replicates));
  map.add("confidence", config::number(statistics.confidence));
  return map;
}

}  // namespace stereosweep::probes::coreference
