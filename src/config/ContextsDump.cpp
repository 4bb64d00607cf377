#include "config/DumpNodes.hpp"
#include "config/ProbeFormat.hpp"

namespace stereosweep::config {
namespace {

using domain::Contexts;
using domain::EmbeddingStatistics;

template <std::size_t count, class Choice>
Node choice(const char* const (&names)[count], Choice value) {
  return Node::plain(names[static_cast<std::size_t>(value)]);
}

/// A path as it stands, or only the file's own name: its content counts by a hash that every start compares.
Node path(const std::string& text, Extent extent) {
  return Node::text(extent == Extent::everything ? text : text.substr(text.rfind('/') + 1));
}

Node dump(const domain::Corpus& corpus) {
  Node map = Node::map();
  map.add("files", texts(corpus.files));
  map.add("format", choice({"automatic", "text", "json_lines"}, corpus.format));
  map.add("field", Node::text(corpus.field));
  map.add("boundary", choice({"word", "blanks"}, corpus.boundary));
  map.add("case", choice({"exact", "ignore"}, corpus.letter_case));
  map.add("max_contexts", integer(corpus.max_contexts));
  return map;
}

Node dump(const domain::WordSet& set) {
  Node map = Node::map();
  map.add("label", Node::text(set.label));
  map.add("words", texts(set.words));
  return map;
}

Node dump(const domain::EmbeddingTest& test) {
  Node map = Node::map();
  add_text(map, "label", test.label);
  add_text(map, "title", test.title);
  map.add("kind", choice({"weat", "wefat"}, test.kind));
  map.add("x", dump(test.x));
  if (test.kind == domain::EmbeddingTest::Kind::weat) {
    map.add("y", dump(test.y));
  }
  map.add("a", dump(test.a));
  map.add("b", dump(test.b));
  return map;
}

Node dump(const domain::BiasDetection& detection) {
  Node map = Node::map();
  add_text(map, "label", detection.label);
  map.add("against", texts(detection.against));
  map.add("single_axis", texts(detection.single_axis));
  map.add("intersectional", texts(detection.intersectional));
  map.add("emergent", texts(detection.emergent));
  return map;
}

}  // namespace

void dump_settings(const Contexts& settings, Extent extent, Node& job) {
  Node vectors = Node::map();
  if (settings.is_static()) {
    if (!settings.from_table().file.empty()) {
      vectors.add("file", path(settings.from_table().file, extent));
    }
    vectors.add("format", choice({"automatic", "word2vec_text", "word2vec_binary", "glove_text", "model"},
                                 settings.from_table().format));
  } else {
    job.add("corpus", dump(settings.contextual().corpus));
    vectors.add("layer", settings.contextual().states == domain::ContextualVectors::States::sum_of_layers
                             ? Node::plain("sum")
                             : integer(settings.contextual().layer));
    vectors.add("pool", choice({"mean", "first", "last"}, settings.contextual().pool));
    vectors.add("window", integer(settings.contextual().window));
  }
  if (extent == Extent::everything) {
    vectors.add("keep", choice({"none", "float16", "float32"}, settings.keep));
  }
  job.add("vectors", std::move(vectors));
  Node& tests = job.add("axes", Node::map()).add("tests", Node::list());
  for (const auto& test : settings.tests) {
    tests.add(dump(test));
  }
  job.add("samples", integer(settings.samples));
  job.add("unequal_sets", choice({"keep", "trim"}, settings.unequal_sets));
}

Node dump_statistics(const Contexts& settings) {
  const EmbeddingStatistics& statistics = settings.statistics;
  Node map = Node::map();
  map.add("variance", choice({"paper", "cohen", "permutation"}, statistics.variance));
  map.add("estimator", choice({"dersimonian_laird", "reml", "paule_mandel"}, statistics.estimator));
  map.add("permutation", choice({"automatic", "exact", "monte_carlo"}, statistics.permutation));
  map.add("draws", integer(statistics.draws));
  map.add("exceedances", integer(statistics.exceedances));
  map.add("confidence", number(statistics.confidence));
  add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.families.empty()) {
    Node& families = map.add("families", Node::map());
    for (const auto& family : statistics.families) {
      families.add(family.label, texts(family.tests));
    }
  }
  if (!statistics.detections.empty()) {
    Node& detections = map.add("detections", Node::list());
    for (const auto& detection : statistics.detections) {
      detections.add(dump(detection));
    }
  }
  return map;
}

}  // namespace stereosweep::config
