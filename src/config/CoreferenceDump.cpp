#include "config/DumpNodes.hpp"
#include "config/MarkedSentence.hpp"
#include "config/ProbeFormat.hpp"

namespace stereosweep::config {
namespace {

Node note_names(const std::vector<domain::SentenceNote>& notes) {
  Node list = Node::list();
  for (const auto note : notes) {
    list.add(Node::plain(domain::sentence_note_names[static_cast<std::size_t>(note)]));
  }
  return list;
}

Node dump(const domain::CoreferenceSentence& sentence) {
  constexpr const char* cases[] = {"subject", "object", "possessive", "independent", "reflexive"};
  Node map = Node::map();
  add_text(map, "label", sentence.label);
  add_text(map, "text", marked_text(sentence));
  map.add("type", Node::plain(sentence.type == domain::SentenceType::ambiguous ? "ambiguous" : "unambiguous"));
  map.add("stereotype", Node::plain(sentence.stereotype == domain::Stereotype::pro ? "pro" : "anti"));
  add_text(map, "split", sentence.split);
  map.add("case", Node::plain(cases[static_cast<std::size_t>(sentence.pronoun_case)]));
  map.add("notes", note_names(sentence.notes));
  return map;
}

Node dump(const domain::Marker& marker) {
  constexpr const char* privileges[] = {"privileged", "disadvantaged", "unstated"};
  Node map = Node::map();
  add_text(map, "word", marker.word);
  add_text(map, "attribute", marker.attribute);
  add_text(map, "contrast", marker.contrast);
  map.add("privilege", Node::plain(privileges[static_cast<std::size_t>(marker.privilege)]));
  return map;
}

}  // namespace

void dump_settings(const domain::Coreference& settings, Extent /*extent*/, Node& job) {
  Node& axes = job.add("axes", Node::map());
  Node& sentences = axes.add("sentences", Node::list());
  for (const auto& sentence : settings.sentences) {
    sentences.add(dump(sentence));
  }
  if (!settings.markers.empty()) {
    Node& markers = axes.add("markers", Node::list());
    for (const auto& marker : settings.markers) {
      markers.add(dump(marker));
    }
  }
  Node& augmentations = axes.add("augmentations", Node::list());
  for (const auto augmentation : settings.augmentations) {
    augmentations.add(Node::plain(domain::augmentation_names[static_cast<std::size_t>(augmentation)]));
  }
  Node& questions = axes.add("questions", Node::list());
  for (const auto& question : settings.questions) {
    Node& entry = questions.add(Node::map());
    add_text(entry, "label", question.label);
    add_text(entry, "text", question.text);
  }
  axes.add("exclude", note_names(settings.excluded));
  constexpr const char* referents[] = {"first", "random", "bracketed"};
  axes.add("ambiguous_referent", Node::plain(referents[static_cast<std::size_t>(settings.ambiguous_referent)]));
}

Node dump_statistics(const domain::Coreference& settings) {
  const auto& statistics = settings.statistics;
  Node map = Node::map();
  map.add("ties", Node::plain(statistics.ties == domain::CoreferenceStatistics::Ties::half ? "half" : "loss"));
  map.add("replicates", integer(statistics.replicates));
  map.add("confidence", number(statistics.confidence));
  return map;
}

}  // namespace stereosweep::config
