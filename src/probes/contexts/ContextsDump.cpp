#include "config/DumpNodes.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/ContextsSettings.hpp"

namespace stereosweep::probes::contexts {
namespace {

template <std::size_t count, class Choice>
config::Node choice(const char* const (&names)[count], Choice value) {
  return config::Node::plain(names[static_cast<std::size_t>(value)]);
}

/// A path as it stands, or only the file's own name: its content counts by a hash that every start compares.
config::Node path(const std::string& text, config::Extent extent) {
  return config::Node::text(extent == config::Extent::everything ? text : text.substr(text.rfind('/') + 1));
}

config::Node dump(const Corpus& corpus) {
  config::Node map = config::Node::map();
  if (corpus.is_generated()) {
    map.add("templates", config::dump(corpus.templates));
    map.add("rephrasings", config::dump(corpus.rephrasings));
    map.add("max_contexts", config::integer(corpus.max_contexts));
    return map;
  }
  map.add("files", config::texts(corpus.files));
  map.add("format", choice({"automatic", "text", "json_lines"}, corpus.format));
  map.add("field", config::Node::text(corpus.field));
  map.add("boundary", choice({"word", "blanks"}, corpus.boundary));
  map.add("case", choice({"exact", "ignore"}, corpus.letter_case));
  map.add("max_contexts", config::integer(corpus.max_contexts));
  return map;
}

config::Node dump(const WordSet& set) {
  config::Node map = config::Node::map();
  map.add("label", config::Node::text(set.label));
  map.add("words", config::texts(set.words));
  return map;
}

config::Node dump(const EmbeddingTest& test) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", test.label);
  config::add_text(map, "title", test.title);
  map.add("kind", choice({"weat", "wefat"}, test.kind));
  map.add("x", dump(test.x));
  if (test.kind == EmbeddingTest::Kind::weat) {
    map.add("y", dump(test.y));
  }
  map.add("a", dump(test.a));
  map.add("b", dump(test.b));
  return map;
}

config::Node dump(const TargetSubject& subject) {
  config::Node map = config::Node::map();
  config::add_text(map, "word", subject.word);
  config::add_text(map, "label", subject.label);
  map.add("form", choice({"singular", "plural"}, subject.form));
  config::add_text(map, "article", subject.article);
  config::add_text(map, "domain", subject.domain);
  config::add_text(map, "first", subject.first);
  config::add_text(map, "second", subject.second);
  return map;
}

config::Node dump(const sweep::Omission& omission) {
  config::Node map = config::Node::map();
  config::add_text(map, "first", omission.first);
  config::add_text(map, "second", omission.second);
  config::add_text(map, "reason", omission.reason);
  return map;
}

void add_subjects(const Contexts& settings, config::Node& axes) {
  if (!settings.subjects.empty()) {
    axes.add("subjects", config::list_of(settings.subjects, [](const auto& subject) { return dump(subject); }));
  }
  if (!settings.omissions.empty()) {
    axes.add("omissions", config::list_of(settings.omissions, [](const auto& omission) { return dump(omission); }));
  }
}

config::Node dump(const BiasDetection& detection) {
  config::Node map = config::Node::map();
  config::add_text(map, "label", detection.label);
  map.add("against", config::texts(detection.against));
  map.add("single_axis", config::texts(detection.single_axis));
  map.add("intersectional", config::texts(detection.intersectional));
  map.add("emergent", config::texts(detection.emergent));
  return map;
}

}  // namespace

void dump_settings(const Contexts& settings, config::Extent extent, config::Node& job) {
  config::Node vectors = config::Node::map();
  if (settings.is_static()) {
    if (!settings.from_table().file.empty()) {
      vectors.add("file", path(settings.from_table().file, extent));
    }
    vectors.add("format", choice({"automatic", "word2vec_text", "word2vec_binary", "glove_text", "model"},
                                 settings.from_table().format));
  } else {
    job.add("corpus", dump(settings.contextual().corpus));
    vectors.add("layer", settings.contextual().states == ContextualVectors::States::sum_of_layers
                             ? config::Node::plain("sum")
                             : config::integer(settings.contextual().layer));
    vectors.add("pool", choice({"mean", "first", "last"}, settings.contextual().pool));
    vectors.add("window", config::integer(settings.contextual().window));
  }
  if (extent == config::Extent::everything) {
    vectors.add("keep", choice({"none", "journal", "float16", "float32"}, settings.keep));
  }
  job.add("vectors", std::move(vectors));
  config::Node& axes = job.add("axes", config::Node::map());
  axes.add("tests", config::list_of(settings.tests, [](const auto& test) { return dump(test); }));
  if (extent == config::Extent::everything) {  // that a target is a group changes no number but those of its sentences
    add_subjects(settings, axes);
  }
  job.add("samples", config::integer(settings.samples));
  job.add("unequal_sets", choice({"keep", "trim"}, settings.unequal_sets));
}

config::Node dump_statistics(const Contexts& settings) {
  const EmbeddingStatistics& statistics = settings.statistics;
  config::Node map = config::Node::map();
  map.add("variance", choice({"paper", "cohen", "permutation"}, statistics.variance));
  map.add("estimator", choice({"dersimonian_laird", "reml", "paule_mandel"}, statistics.estimator));
  map.add("permutation", choice({"automatic", "exact", "monte_carlo"}, statistics.permutation));
  map.add("draws", config::integer(statistics.draws));
  map.add("exceedances", config::integer(statistics.exceedances));
  map.add("confidence", config::number(statistics.confidence));
  config::add_ratings(map, statistics.human_ratings, statistics.rating_aliases);
  if (!statistics.families.empty()) {
    config::Node& families = map.add("families", config::Node::map());
    for (const auto& family : statistics.families) {
      families.add(family.label, config::texts(family.tests));
    }
  }
  if (!statistics.detections.empty()) {
    config::Node& detections = map.add("detections", config::Node::list());
    for (const auto& detection : statistics.detections) {
      detections.add(dump(detection));
    }
  }
  return map;
}

}  // namespace stereosweep::probes::contexts
