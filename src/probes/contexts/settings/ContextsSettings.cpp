#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/axes/AxesReader.hpp"
#include "config/axes/AxisSource.hpp"
#include "config/yaml/Yaml.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"

namespace stereosweep::probes::contexts {
namespace {

/// A number, or a word in its place, which says that there is none.
void number_or_word_key(config::Fields& keys, const std::string& name, std::optional<std::int64_t>& number,
                        const char* word, std::int64_t smallest, std::int64_t largest, std::string_view /*about*/) {
  const config::Node* node = keys.optional(name);
  if (node != nullptr && node->kind == config::Node::Kind::scalar && node->value == word) {
    number.reset();
  } else {
    keys.integer(name, *number, smallest, largest);
  }
}
void number_or_word_key(config::ShownKeys& keys, const std::string& name, const std::optional<std::int64_t>& number,
                        const char* word, std::int64_t smallest, std::int64_t largest, std::string_view about) {
  if (keys.describes()) {
    const auto integer = config::integer_schema(smallest, largest);
    keys.describe(name, config::either_schema({config::choice_schema({word}), integer}), about, *number);
  } else {
    keys.add(name, number ? config::integer(*number) : config::Node::plain(word));
  }
}

// The one list of plain keys, in the order of a dump: what has a form of its own is read and written beside it.

constexpr auto file_keys = [](auto& keys, auto& corpus) {
  keys.choice("format", corpus.format, {"automatic", "text", "json_lines"});
  keys.line("field", corpus.field);
  keys.choice("boundary", corpus.boundary, {"word", "blanks"});
  keys.choice("case", corpus.letter_case, {"exact", "ignore"});
};

constexpr auto corpus_keys = [](auto& keys, auto& corpus) {
  keys.integer("max_contexts", corpus.max_contexts, 1, 10'000'000);
};

constexpr auto contextual_keys = [](auto& keys, auto& vectors) {
  number_or_word_key(keys, "layer", vectors.layer, "sum", -1000, 1000,
                     "as hidden_states of transformers: -1 is the last");
  keys.choice("pool", vectors.pool, {"mean", "first", "last"});
  number_or_word_key(keys.told_by_block(), "window", vectors.window, "guo2021", 0, 10'000,
                     "words that are kept on each side; 0: the whole sentence");
};

constexpr auto keep_keys = [](auto& keys, auto& settings) {
  keys.not_raw().choice("keep", settings.keep, {"none", "journal", "float16", "float32"});
};

std::vector<std::string> read_files(const config::Node& node, const std::string& key, const config::Fields& job) {
  auto files = node.kind == config::Node::Kind::scalar
                   ? std::vector{config::read_line(node, key, job.problems(), 4000).value_or("")}
                   : config::read_lines(node, key, job.problems()).value_or(std::vector<std::string>());
  for (auto& file : files) {
    if (!job.pieces().inline_only() && !file.empty()) {  // absolute: the same corpus from any working directory
      file = std::filesystem::absolute(job.pieces().resolve_path(file)).lexically_normal().string();
    }
  }
  return files;
}

/// Reports keys that mean nothing beside another one.
void refuse_keys(config::Fields& fields, std::initializer_list<const char*> names, base::Problems& problems,
                 const std::string& beside, const std::string& why) {
  for (const char* name : names) {
    if (const config::Node* node = fields.optional(name)) {
      problems.add(node->place(fields.key_of(name)), "'" + std::string(name) + "' beside " + beside, why);
    }
  }
}

/// Sentences made of templates.
void read_generated(config::Fields& fields, const config::Node& templates, const config::Fields& job, Corpus& corpus) {
  refuse_keys(fields, {"files", "format", "field", "boundary", "case"}, job.problems(), "templates",
              "sentences are made of templates, or read from files");
  corpus.templates = config::read_templates(templates, "corpus.templates", job.pieces(), job.problems());
  const auto has_article = [](const auto& sentence) { return sentence.text.find("{a group}") != std::string::npos; };
  job.problems().add_if(!job.pieces().language().is_english() && std::ranges::any_of(corpus.templates, has_article),
                        templates.place("corpus.templates"),
                        "{a group} in the language '" + job.pieces().language().name() + "'",
                        "sentences are made of single words, which have no gender", "Write the article and {group}.");
  config::rephrasings_key(fields, corpus.rephrasings, corpus.templates);
}

Corpus read_corpus(const config::Node& node, const config::Fields& job) {
  Corpus corpus;
  config::Fields fields(node, "corpus", job.problems(), "{files: [...]}, or {templates: NAME, rephrasings: NAME}",
                        &job.pieces());
  if (const config::Node* templates = fields.optional("templates")) {
    read_generated(fields, *templates, job, corpus);
  } else {
    if (const config::Node* files = fields.required("files")) {
      corpus.files = read_files(*files, "corpus.files", job);
    }
    file_keys(fields, corpus);
    if (const config::Node* rephrasings = fields.optional("rephrasings")) {
      job.problems().add(rephrasings->place("corpus.rephrasings"), "rephrasings without templates",
                         "sentences of files are taken as they are");
    }
  }
  corpus_keys(fields, corpus);
  fields.finish();
  return corpus;
}

/// Nothing is drawn where a word has one vector.
void check_draws(const config::ProbeReading& job, const Contexts& settings) {
  job.problems.add_if(settings.is_static() && settings.sample_draws == SampleDraws::shared, job.place("draws"),
                      "shared draws of static vectors", "a word has one vector: nothing is drawn");
  job.problems.add_if(settings.is_static() && settings.samples != 1, job.place("samples"),
                      "many samples of static vectors", "every sample would be the same");
}

BiasDetection read_detection(const config::Node& node, const std::string& key, base::Problems& problems) {
  BiasDetection detection;
  config::read_fields(node, key, problems, detection, "{label: ..., against: [test, ...]}");
  for (const auto& word : detection.emergent) {
    const auto& known = detection.intersectional;
    if (!base::contains(known, word)) {
      problems.add(node.place(key + ".emergent"), "'" + word + "' is not among the intersectional words",
                   "emergent words are some of them", config::suggest(word, known, problems));
    }
  }
  return detection;
}

/// The tests, for the statistics that name them.
struct NamedTests {
  const std::vector<EmbeddingTest>& tests;
  base::Problems& problems;
  /// Null after a report that there is none of the kind (nothing: of any), or in silence where no test could be read.
  /// `why`: what the statistic does with it; `why_kind`: why no other kind will do.
  const EmbeddingTest* find(const base::Place& place, const std::string& name, std::optional<EmbeddingTest::Kind> kind,
                            const char* why, const char* why_kind) const {
    const auto is_fit = [&](const EmbeddingTest& test) { return !kind || test.kind == *kind; };
    const auto found = std::ranges::find(tests, name, &EmbeddingTest::label);
    if (found != tests.end() && is_fit(*found)) {
      return &*found;
    }
    if (found != tests.end()) {
      problems.add(place, "the test '" + name + "' is no " + name_of(*kind) + " test", why_kind);
    } else if (!tests.empty()) {
      auto fit = tests | std::views::filter(is_fit);
      problems.add(place, "no test is called '" + base::excerpt(name, 60) + "'", why,
                   config::suggest(name, base::mapped(fit, &EmbeddingTest::label), problems));
    }
    return nullptr;
  }
};

/// Every named test exists, scores words one by one, and has the known words among its targets.
void check_detection(const config::Node& node, const std::string& key, const BiasDetection& detection,
                     const NamedTests& tests, base::Problems& problems) {
  const EmbeddingTest* first = nullptr;
  for (const auto* names : {&detection.against, &detection.single_axis}) {
    for (const auto& name : *names) {
      const auto* test = tests.find(node.place(key), name, EmbeddingTest::Kind::wefat, "a detection reads its scores",
                                    "words are scored one by one");
      if (test != nullptr && first != nullptr && test->x.words != first->x.words) {
        problems.add(node.place(key), "the tests '" + first->label + "' and '" + name + "' have other targets",
                     "a detection compares the scores of one list of words");
      }
      first = first == nullptr ? test : first;
    }
  }
  for (const auto& word : detection.intersectional) {
    if (first != nullptr && !base::contains(first->x.words, word)) {
      problems.add(node.place(key + ".intersectional"),
                   "'" + word + "' is no target of the test '" + first->label + "'", "it has no score",
                   config::suggest(word, first->x.words, problems));
    }
  }
}

std::vector<BiasDetection> read_detections(const config::Node& node, const NamedTests& tests,
                                           const config::ProbeReading& job) {
  using Entry = config::Placed<BiasDetection>;
  const auto read = [&](const config::Node& entry, const std::string& key) {
    return std::vector{Entry{read_detection(entry, key, job.problems), &entry, key}};
  };
  std::vector<BiasDetection> detections;
  for (const auto& entry :
       config::read_entries<Entry>(node, "detections", "statistics.detections", job.pieces, job.problems, read)) {
    check_detection(*entry.node, entry.key, entry, tests, job.problems);
    detections.push_back(entry);
  }
  return detections;
}

/// NAME: [tests]; every name is a test's and stands in one family.
std::vector<TestFamily> read_families(const config::Node& node, const NamedTests& tests, base::Problems& problems) {
  const std::string key = "statistics.families";
  std::vector<TestFamily> families;
  if (!config::expect_kind(node, config::Node::Kind::map, key, problems)) {
    return families;
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
      const auto [entry, is_new] = family_of.emplace(test, family.label);
      const auto* found = tests.find(place, test, std::nullopt, "a family lists tests of this job", "");
      if (found != nullptr && !is_new) {
        problems.add(place, "the test '" + test + "' is in the family '" + entry->second + "', too",
                     "its p values are adjusted once");
      }
    }
    families.push_back(std::move(family));
  }
  return families;
}

void read_named_tests(const config::ProbeReading& job, Contexts& settings) {
  const NamedTests tests{settings.tests, job.problems};
  if (const config::Node* families = job.statistics.optional("families")) {
    settings.statistics.families = read_families(*families, tests, job.problems);
  }
  if (const config::Node* detections = job.statistics.optional("detections")) {
    settings.statistics.detections = read_detections(*detections, tests, job);
  }
}

/// Vectors to compute and numbers to draw together stay within the limit.
void check_size(const config::ProbeReading& job, const Contexts& settings) {
  const std::uint64_t words = list_words(settings.tests).size();
  const auto samples = static_cast<std::uint64_t>(settings.samples);
  const auto contexts =
      static_cast<std::uint64_t>(settings.is_static() ? 1 : settings.contextual().corpus.max_contexts);
  std::uint64_t targets = 0;
  for (const auto& test : settings.tests) {
    targets += test.num_targets();
  }
  const auto cells = words * contexts + targets * samples;  // far below 2^64: all words are in memory
  job.problems.add_if(cells > static_cast<std::uint64_t>(job.execution.max_cells), job.root.place("axes"),
                      base::counted(words, "word") + " x " + base::counted(contexts, "context") + " and " +
                          base::counted(targets, "target") + " x " + base::counted(samples, "sample") +
                          " are too many cells",
                      "limit: " + base::with_thousands(static_cast<std::uint64_t>(job.execution.max_cells)),
                      "Take fewer tests, samples or contexts, or raise execution.max_cells.");
}

/// A path as it stands, or only the file's own name: its content counts by a hash that every start compares.
std::string shown_path(const std::string& text, config::Extent extent) {
  return extent == config::Extent::everything ? text : text.substr(text.rfind('/') + 1);
}

/// A dump has files or templates, a schema both.
void show_corpus(config::ShownKeys& keys, const Corpus& corpus) {
  if (!corpus.is_generated()) {
    keys.own("files", config::texts(corpus.files), "texts to read", config::text_or_lines_schema);
    file_keys(keys, corpus);
  }
  if (keys.describes() || corpus.is_generated()) {
    keys.sourced("templates", corpus.templates, "in place of files: sentences that are made");
    config::rephrasings_key(keys, corpus.rephrasings, corpus.templates);
  }
  corpus_keys(keys, corpus);
}

}  // namespace

void named_tests_keys(config::Fields& keys, EmbeddingStatistics& /*statistics*/) {
  keys.optional("families");
  keys.optional("detections");
}

void named_tests_keys(config::ShownKeys& keys, const EmbeddingStatistics& statistics) {
  config::Node families = statistics.families.empty() ? config::Node() : config::Node::map();
  for (const auto& family : statistics.families) {
    families.add(family.label, config::texts(family.tests));
  }
  keys.own("families", std::move(families), "tests that are adjusted together",
           [] { return config::names_schema(config::lines_schema()); });
  if (keys.describes() || !statistics.detections.empty()) {
    keys.sourced("detections", statistics.detections,
                 "groups of IBD and EIBD: a name in configs/detections, or a list");
  }
}

/// With `file` or `format` the vectors are static; a model's hidden states otherwise.
void vector_keys(config::Fields& job, Contexts& settings) {
  const config::Node* node = job.optional("vectors");
  ContextualVectors contextual;
  StaticVectors table;
  bool is_static = false;
  if (node != nullptr) {
    config::Fields fields(*node, "vectors", job.problems());
    const config::Node* file = fields.optional("file");
    const config::Node* format = fields.optional("format");
    is_static = file != nullptr || format != nullptr;
    if (file != nullptr) {
      table.file =
          job.pieces().resolve_path(config::read_line(*file, "vectors.file", job.problems(), 4000).value_or(""));
    }
    StaticVectors::each_key(table, fields);
    if (file == nullptr) {
      refuse_keys(fields, {"case", "accents"}, job.problems(), "vectors of a model",
                  "they say how the words of a file are compared; in a corpus it is corpus.case");
    }
    if (is_static && (file != nullptr) == (table.format == StaticVectors::Format::model)) {
      job.problems().add(node->place("vectors"),
                         file != nullptr ? "a file beside format: model" : "a format without a file",
                         "vectors come from a file, or, with format: model, from the model's input embeddings");
    }
    if (is_static) {
      refuse_keys(fields, {"layer", "pool", "window"}, job.problems(), "static vectors",
                  "they are read off no sentence");
    }
    contextual_keys(fields, contextual);
    keep_keys(fields, settings);
    fields.finish();
  }
  const config::Node* corpus = job.optional("corpus");
  if (is_static && corpus != nullptr) {
    job.problems().add(corpus->place("corpus"), "a corpus beside static vectors", "a word has one vector everywhere",
                       "Leave 'corpus' out, or 'file' and 'format' under 'vectors'.");
  } else if (!is_static && corpus == nullptr) {
    job.problems().add(job.node().place("corpus"), "the key 'corpus' is missing",
                       "contextual vectors are read off sentences",
                       "Name text files or templates, or give static vectors: {file: PATH} or {format: model}.");
  }
  if (is_static) {
    settings.vectors = table;
    settings.samples = 1;
    return;
  }
  if (corpus != nullptr) {
    contextual.corpus = read_corpus(*corpus, job);
  }
  settings.vectors = contextual;
}

/// A dump has the keys of one kind of vectors, a schema those of both.
void vector_keys(config::ShownKeys& job, const Contexts& settings) {
  const auto* contextual = std::get_if<ContextualVectors>(&settings.vectors);
  if (contextual != nullptr) {
    job.told_by_block().nested(
        "corpus", [&](auto& keys) { show_corpus(keys, contextual->corpus); },
        "sentences in which the words of the tests stand");
  }
  const auto table = settings.is_static() ? settings.from_table() : StaticVectors();
  const auto show_vectors = [&](config::ShownKeys& vectors) {
    vectors.told_by_block().path("file", shown_path(table.file, job.extent()), "of static vectors");
    if (vectors.describes()) {
      StaticVectors::each_key(table, vectors);
    } else if (settings.is_static()) {
      vectors.append(config::dump_extent(table, job.extent()));
    }
    if (contextual != nullptr) {
      contextual_keys(vectors, *contextual);
    }
    keep_keys(vectors, settings);
  };
  job.nested("vectors", show_vectors, "where the words' vectors come from");
}

std::string settings_of_vectors(const Contexts& settings) {
  config::ShownKeys keys(config::Extent::block);
  vector_keys(keys, settings);
  return config::emit_yaml(keys.take());
}

std::string settings_of_effects(const Contexts& settings) {
  config::ShownKeys keys(config::Extent::block);
  Contexts::each_draw_key(settings, keys);
  return config::emit_yaml(keys.take());
}

void check_settings(const config::ProbeReading& job, Contexts& settings) {
  check_draws(job, settings);
  read_named_tests(job, settings);
  check_size(job, settings);
}

}  // namespace stereosweep::probes::contexts
