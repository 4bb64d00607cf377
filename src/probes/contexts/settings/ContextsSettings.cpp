#include "probes/contexts/settings/ContextsSettings.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/Text.hpp"
#include "config/AxesReader.hpp"
#include "config/AxisSource.hpp"
#include "config/DumpNodes.hpp"
#include "probes/contexts/settings/TestsReader.hpp"

namespace stereosweep::probes::contexts {
namespace {

/// Reads the keys of one mapping.
class Reading {
 public:
  Reading(config::Fields& fields, base::Problems& problems) : fields_(fields), problems_(problems) {}
  /// One of `names`, which stand in the order of the enumeration.
  template <class Choice>
  void choice(const std::string& name, Choice& target, const std::vector<std::string>& names) {
    if (const config::Node* node = fields_.optional(name)) {
      const auto index = config::read_choice(*node, fields_.key_of(name), problems_, names);
      target = index ? static_cast<Choice>(*index) : target;
    }
  }
  void integer(const std::string& name, std::int64_t& target, std::int64_t smallest, std::int64_t largest) {
    fields_.integer(name, target, smallest, largest);
  }
  void number(const std::string& name, double& target, double smallest, double largest) {
    if (const config::Node* node = fields_.optional(name)) {
      const auto text = config::read_text(*node, fields_.key_of(name), problems_);
      const auto value = text ? base::parse_double(*text) : std::nullopt;
      if (text && (!value || *value < smallest || *value > largest)) {
        problems_.add(
            node->place(fields_.key_of(name)),
            "a number from " + base::format_double(smallest) + " to " + base::format_double(largest) + " is expected",
            "here stands '" + text->substr(0, 60) + "'");
      }
      target = value.value_or(target);
    }
  }
  void line(const std::string& name, std::string& target) { fields_.line(name, target); }

 private:
  config::Fields& fields_;
  base::Problems& problems_;
};

/// Writes the same keys into a dump.
class Writing {
 public:
  explicit Writing(config::Node& map) : map_(map) {}
  template <class Choice>
  void choice(const std::string& name, Choice value, const std::vector<std::string>& names) {
    map_.add(name, config::Node::plain(names[static_cast<std::size_t>(value)]));
  }
  void integer(const std::string& name, std::int64_t value, std::int64_t /*smallest*/, std::int64_t /*largest*/) {
    map_.add(name, config::integer(value));
  }
  void number(const std::string& name, double value, double /*smallest*/, double /*largest*/) {
    map_.add(name, config::number(value));
  }
  void line(const std::string& name, const std::string& value) { map_.add(name, config::Node::text(value)); }

 private:
  config::Node& map_;
};

// The one list of plain keys, in the order of a dump: what has a form of its own is read and written beside it.

template <class Keys, class Settings>
void visit_file_keys(Keys&& keys, Settings& corpus) {
  keys.choice("format", corpus.format, {"automatic", "text", "json_lines"});
  keys.line("field", corpus.field);
  keys.choice("boundary", corpus.boundary, {"word", "blanks"});
  keys.choice("case", corpus.letter_case, {"exact", "ignore"});
}

template <class Keys, class Settings>
void visit_corpus_keys(Keys&& keys, Settings& corpus) {
  keys.integer("max_contexts", corpus.max_contexts, 1, 10'000'000);
}

template <class Keys, class Settings>
void visit_table_keys(Keys&& keys, Settings& table) {
  keys.choice("format", table.format, {"automatic", "word2vec_text", "word2vec_binary", "glove_text", "model"});
}

template <class Keys, class Settings>
void visit_contextual_keys(Keys&& keys, Settings& vectors) {
  keys.choice("pool", vectors.pool, {"mean", "first", "last"});
  keys.integer("window", vectors.window, 0, 10'000);
}

template <class Keys, class Settings>
void visit_keep(Keys&& keys, Settings& settings) {
  keys.choice("keep", settings.keep, {"none", "journal", "float16", "float32"});
}

template <class Keys, class Settings>
void visit_draws(Keys&& keys, Settings& settings) {
  keys.integer("samples", settings.samples, 1, 100'000'000);
  keys.choice("unequal_sets", settings.unequal_sets, {"keep", "trim"});
}

template <class Keys, class Settings>
void visit_statistics_keys(Keys&& keys, Settings& statistics) {
  keys.choice("variance", statistics.variance, {"paper", "cohen", "permutation"});
  keys.choice("estimator", statistics.estimator, {"dersimonian_laird", "reml", "paule_mandel"});
  keys.choice("permutation", statistics.permutation, {"automatic", "exact", "monte_carlo"});
  keys.integer("draws", statistics.draws, 1, 4'294'967'295);  // a draw's number has 32 bits
  keys.integer("exceedances", statistics.exceedances, 0, 1'000'000'000);
  keys.number("confidence", statistics.confidence, 0.5, 0.999999);
}

std::vector<std::string> read_files(const config::Node& node, const std::string& key, const config::ProbeReading& job) {
  std::vector<std::string> files;
  if (node.kind == config::Node::Kind::scalar) {
    files = {config::read_line(node, key, job.problems, 4000).value_or("")};
  } else {
    files = config::read_lines(node, key, job.problems).value_or(std::vector<std::string>());
  }
  for (auto& file : files) {
    if (!job.pieces.inline_only() && !file.empty()) {  // absolute: the same corpus from any working directory
      file = std::filesystem::absolute(job.pieces.resolve_path(file)).lexically_normal().string();
    }
  }
  return files;
}

/// Sentences made of templates: what only sentences of a file need is refused.
void read_generated(config::Fields& fields, const config::Node& templates, const config::ProbeReading& job,
                    Corpus& corpus) {
  for (const char* name : {"files", "format", "field", "boundary", "case"}) {
    if (const config::Node* other = fields.optional(name)) {
      job.problems.add(other->place(fields.key_of(name)), "'" + std::string(name) + "' beside templates",
                       "sentences are made of templates, or read from files");
    }
  }
  corpus.templates = config::read_templates(templates, "corpus.templates", job.pieces, job.problems);
  corpus.rephrasings = {{"none", "{prompt}", {}}};
  if (const config::Node* rephrasings = fields.optional("rephrasings")) {
    corpus.rephrasings =
        config::read_rephrasings(*rephrasings, "corpus.rephrasings", job.pieces, job.problems, corpus.templates);
  }
}

Corpus read_corpus(const config::Node& node, const config::ProbeReading& job) {
  Corpus corpus;
  config::Fields fields(node, "corpus", job.problems, "{files: [...]}, or {templates: NAME, rephrasings: NAME}");
  if (const config::Node* templates = fields.optional("templates")) {
    read_generated(fields, *templates, job, corpus);
  } else {
    if (const config::Node* files = fields.required("files")) {
      corpus.files = read_files(*files, "corpus.files", job);
    }
    visit_file_keys(Reading(fields, job.problems), corpus);
    if (const config::Node* rephrasings = fields.optional("rephrasings")) {
      job.problems.add(rephrasings->place("corpus.rephrasings"), "rephrasings without templates",
                       "sentences of files are taken as they are");
    }
  }
  visit_corpus_keys(Reading(fields, job.problems), corpus);
  fields.finish();
  return corpus;
}

/// With `file` or `format` the vectors are static; a model's hidden states otherwise.
void read_vectors(const config::Node* node, const config::ProbeReading& job, Contexts& settings) {
  ContextualVectors contextual;
  StaticVectors table;
  bool is_static = false;
  if (node != nullptr) {
    config::Fields fields(*node, "vectors", job.problems);
    const config::Node* file = fields.optional("file");
    const config::Node* format = fields.optional("format");
    is_static = file != nullptr || format != nullptr;
    if (file != nullptr) {
      table.file = job.pieces.resolve_path(config::read_line(*file, "vectors.file", job.problems, 4000).value_or(""));
    }
    visit_table_keys(Reading(fields, job.problems), table);
    if (is_static && (file != nullptr) == (table.format == StaticVectors::Format::model)) {
      job.problems.add(node->place("vectors"),
                       file != nullptr ? "a file beside format: model" : "a format without a file",
                       "vectors come from a file, or, with format: model, from the model's input embeddings");
    }
    for (const char* name : {"layer", "pool", "window"}) {
      const config::Node* own = fields.optional(name);
      if (is_static && own != nullptr) {
        job.problems.add(own->place(fields.key_of(name)), "'" + std::string(name) + "' beside static vectors",
                         "they are read off no sentence");
      }
    }
    const config::Node* layer = fields.optional("layer");
    if (layer != nullptr && layer->kind == config::Node::Kind::scalar && layer->value == "sum") {
      contextual.states = ContextualVectors::States::sum_of_layers;
    } else {
      fields.integer("layer", contextual.layer, -1000, 1000);
    }
    visit_contextual_keys(Reading(fields, job.problems), contextual);
    visit_keep(Reading(fields, job.problems), settings);
    fields.finish();
  }
  const config::Node* corpus = job.fields.optional("corpus");
  if (is_static && corpus != nullptr) {
    job.problems.add(corpus->place("corpus"), "a corpus beside static vectors", "a word has one vector everywhere",
                     "Leave 'corpus' out, or 'file' and 'format' under 'vectors'.");
  } else if (!is_static && corpus == nullptr) {
    job.problems.add(job.root.place("corpus"), "the key 'corpus' is missing",
                     "contextual vectors are read off sentences",
                     "Name text files or templates, or give static vectors: {file: PATH} or {format: model}.");
  }
  if (is_static) {
    settings.vectors = table;
    return;
  }
  if (corpus != nullptr) {
    contextual.corpus = read_corpus(*corpus, job);
  }
  settings.vectors = contextual;
}

void read_draws(const config::ProbeReading& job, Contexts& settings) {
  settings.samples = settings.is_static() ? 1 : settings.samples;
  visit_draws(Reading(job.fields, job.problems), settings);
  if (settings.is_static() && settings.samples != 1) {
    job.problems.add(job.root.find("samples")->place("samples"), "many samples of static vectors",
                     "every sample would be the same");
  }
}

BiasDetection read_detection(const config::Node& node, const std::string& key, base::Problems& problems) {
  BiasDetection detection;
  config::Fields fields(node, key, problems, "{label: ..., against: [test, ...]}");
  fields.required_line("label", detection.label);
  const auto words = [&](const config::Node* list, const std::string& name, std::vector<std::string>& target) {
    if (list != nullptr &&
        !(list->kind == config::Node::Kind::list && list->children.empty())) {  // [] stands in a dump
      target = config::read_lines(*list, key + "." + name, problems).value_or(std::vector<std::string>());
    }
  };
  if (const config::Node* against = fields.required("against")) {
    detection.against = config::read_lines(*against, key + ".against", problems).value_or(std::vector<std::string>());
  }
  words(fields.optional("single_axis"), "single_axis", detection.single_axis);
  words(fields.optional("intersectional"), "intersectional", detection.intersectional);
  words(fields.optional("emergent"), "emergent", detection.emergent);
  fields.finish();
  for (const auto& word : detection.emergent) {
    const auto& known = detection.intersectional;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      problems.add(node.place(key + ".emergent"), "'" + word + "' is not among the intersectional words",
                   "emergent words are some of them", config::suggest(word, known, problems));
    }
  }
  return detection;
}

/// Every named test exists, scores words one by one, and has the known words among its targets.
void check_detection(const config::Node& node, const std::string& key, const BiasDetection& detection,
                     const std::vector<EmbeddingTest>& tests, base::Problems& problems) {
  if (tests.empty()) {  // that none could be read is in the report already
    return;
  }
  std::vector<std::string> labels;
  labels.reserve(tests.size());
  for (const auto& test : tests) {
    labels.push_back(test.label);
  }
  const EmbeddingTest* first = nullptr;
  for (const auto* names : {&detection.against, &detection.single_axis}) {
    for (const auto& name : *names) {
      const auto at = std::find(labels.begin(), labels.end(), name);
      if (at == labels.end()) {
        problems.add(node.place(key), "no test is called '" + name.substr(0, 60) + "'", "a detection reads its scores",
                     config::suggest(name, labels, problems));
        continue;
      }
      const auto& test = tests[static_cast<std::size_t>(at - labels.begin())];
      if (test.kind != EmbeddingTest::Kind::wefat) {
        problems.add(node.place(key), "the test '" + name + "' is no wefat test", "words are scored one by one");
      } else if (first != nullptr && test.x.words != first->x.words) {
        problems.add(node.place(key), "the tests '" + first->label + "' and '" + name + "' have other targets",
                     "a detection compares the scores of one list of words");
      }
      first = first == nullptr ? &test : first;
    }
  }
  for (const auto& word : detection.intersectional) {
    if (first != nullptr && std::find(first->x.words.begin(), first->x.words.end(), word) == first->x.words.end()) {
      problems.add(node.place(key + ".intersectional"),
                   "'" + word + "' is no target of the test '" + first->label + "'", "it has no score",
                   config::suggest(word, first->x.words, problems));
    }
  }
}

std::vector<BiasDetection> read_detections(const config::Node& node, const std::vector<EmbeddingTest>& tests,
                                           const config::ProbeReading& job) {
  const auto source = config::find_source(node, "detections", "statistics.detections", job.pieces, job.problems);
  if (!source.table.empty()) {
    job.problems.add(node.place("statistics.detections"), "no table can be read here", "detections are a list");
  }
  struct Entry {
    std::string label;
    BiasDetection detection;
    const config::Node* node;
    std::string key;
  };
  std::vector<Entry> entries;
  config::LabelCheck labels(job.problems);
  for (std::size_t i = 0; source.list != nullptr && i < source.list->children.size(); ++i) {
    const config::Node& entry = source.list->children[i];
    const std::string key = source.key + "[" + std::to_string(i) + "]";
    auto detection = read_detection(entry, key, job.problems);
    labels.add(entry, key, detection.label);
    entries.push_back({detection.label, std::move(detection), &entry, key});
  }
  std::vector<BiasDetection> detections;
  for (auto& entry : config::select(std::move(entries), source, job.problems)) {
    check_detection(*entry.node, entry.key, entry.detection, tests, job.problems);
    detections.push_back(std::move(entry.detection));
  }
  return detections;
}

/// NAME: [tests]; every name is a weat test's and stands in one family.
std::vector<TestFamily> read_families(const config::Node& node, const std::vector<EmbeddingTest>& tests,
                                      base::Problems& problems) {
  const std::string key = "statistics.families";
  std::vector<TestFamily> families;
  if (!config::expect_kind(node, config::Node::Kind::map, key, problems)) {
    return families;
  }
  std::map<std::string, EmbeddingTest::Kind> kinds;
  for (const auto& test : tests) {
    kinds.emplace(test.label, test.kind);
  }
  std::vector<std::string> known;  // of weat tests
  for (const auto& [label, kind] : kinds) {
    if (kind == EmbeddingTest::Kind::weat) {
      known.push_back(label);
    }
  }
  std::map<std::string, std::string> family_of;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const config::Node& list = node.children[i];
    config::Node name = config::Node::text(node.keys[i]);
    name.line = list.line;
    name.file = list.file;
    TestFamily family{config::read_line(name, key, problems, 200).value_or(""), {}};
    const auto own_key = key + "." + family.label;
    family.tests = config::read_lines(list, own_key, problems).value_or(std::vector<std::string>());
    for (std::size_t j = 0; j < family.tests.size(); ++j) {
      const auto& test = family.tests[j];
      const auto place = list.children[j].place(own_key + "[" + std::to_string(j) + "]");
      const auto kind = kinds.find(test);
      const auto [entry, is_new] = family_of.emplace(test, family.label);
      if (kinds.empty()) {
        continue;  // that no test could be read is in the report already
      }
      if (kind == kinds.end()) {
        problems.add(place, "no test is called '" + test.substr(0, 60) + "'", "a family lists tests of this job",
                     config::suggest(test, known, problems));
      } else if (kind->second != EmbeddingTest::Kind::weat) {
        problems.add(place, "the test '" + test + "' is no weat test",
                     "words of a wefat test are a family of their own");
      } else if (!is_new) {
        problems.add(place, "the test '" + test + "' is in the family '" + entry->second + "', too",
                     "its p values are adjusted once");
      }
    }
    families.push_back(std::move(family));
  }
  return families;
}

EmbeddingStatistics read_statistics(const config::Node& node, const std::vector<EmbeddingTest>& tests,
                                    const config::ProbeReading& job) {
  EmbeddingStatistics statistics;
  config::Fields fields(node, "statistics", job.problems);
  visit_statistics_keys(Reading(fields, job.problems), statistics);
  if (const config::Node* ratings = fields.optional("human_ratings")) {
    config::read_rating_source(*ratings, job.pieces, job.problems, statistics.human_ratings, statistics.rating_aliases);
  }
  if (const config::Node* families = fields.optional("families")) {
    statistics.families = read_families(*families, tests, job.problems);
  }
  if (const config::Node* detections = fields.optional("detections")) {
    statistics.detections = read_detections(*detections, tests, job);
  }
  fields.finish();
  return statistics;
}

/// Vectors to compute and numbers to draw together stay within the limit.
void check_size(const config::ProbeReading& job, const Contexts& settings) {
  std::set<std::string> words;
  std::uint64_t targets = 0;
  for (const auto& test : settings.tests) {
    targets += test.x.words.size() + test.y.words.size();
    for (const auto* set : {&test.x, &test.y, &test.a, &test.b}) {
      words.insert(set->words.begin(), set->words.end());
    }
  }
  const auto contexts =
      static_cast<std::uint64_t>(settings.is_static() ? 1 : settings.contextual().corpus.max_contexts);
  std::uint64_t vectors = 0;
  std::uint64_t associations = 0;
  std::uint64_t cells = 0;
  const bool overflow = __builtin_mul_overflow(std::uint64_t{words.size()}, contexts, &vectors) ||
                        __builtin_mul_overflow(targets, static_cast<std::uint64_t>(settings.samples), &associations) ||
                        __builtin_add_overflow(vectors, associations, &cells);
  if (overflow || cells > static_cast<std::uint64_t>(job.execution.max_cells)) {
    job.problems.add(job.root.place("axes"),
                     base::counted(words.size(), "word") + " x " + base::counted(contexts, "context") + " and " +
                         base::counted(targets, "target") + " x " +
                         base::counted(static_cast<std::uint64_t>(settings.samples), "sample") + " are too many cells",
                     "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                     "Take fewer tests, samples or contexts, or raise execution.max_cells.");
  }
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
    visit_corpus_keys(Writing(map), corpus);
    return map;
  }
  map.add("files", config::texts(corpus.files));
  visit_file_keys(Writing(map), corpus);
  visit_corpus_keys(Writing(map), corpus);
  return map;
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

Contexts read_settings(const config::ProbeReading& job) {
  Contexts settings;
  read_vectors(job.fields.optional("vectors"), job, settings);
  if (const config::Node* axes = job.fields.required("axes")) {
    read_tests(*axes, job, settings);
  }
  read_draws(job, settings);
  if (const config::Node* statistics = job.fields.optional("statistics")) {
    settings.statistics = read_statistics(*statistics, settings.tests, job);
  }
  check_size(job, settings);
  return settings;
}

void dump_settings(const Contexts& settings, config::Extent extent, config::Node& job) {
  config::Node vectors = config::Node::map();
  if (settings.is_static()) {
    if (!settings.from_table().file.empty()) {
      vectors.add("file", path(settings.from_table().file, extent));
    }
    visit_table_keys(Writing(vectors), settings.from_table());
  } else {
    job.add("corpus", dump(settings.contextual().corpus));
    vectors.add("layer", settings.contextual().states == ContextualVectors::States::sum_of_layers
                             ? config::Node::plain("sum")
                             : config::integer(settings.contextual().layer));
    visit_contextual_keys(Writing(vectors), settings.contextual());
  }
  if (extent == config::Extent::everything) {
    visit_keep(Writing(vectors), settings);
  }
  job.add("vectors", std::move(vectors));
  dump_tests(settings, extent, job.add("axes", config::Node::map()));
  visit_draws(Writing(job), settings);
}

config::Node dump_statistics(const Contexts& settings) {
  const EmbeddingStatistics& statistics = settings.statistics;
  config::Node map = config::Node::map();
  visit_statistics_keys(Writing(map), statistics);
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
