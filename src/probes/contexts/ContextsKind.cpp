#include "probes/contexts/ContextsKind.hpp"

#include <algorithm>
#include <set>

#include "base/Error.hpp"
#include "base/Text.hpp"
#include "corpus/Files.hpp"
#include "findings/HumanRatings.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/ContextsCommands.hpp"
#include "probes/contexts/settings/ContextsSettings.hpp"
#include "probes/contexts/vectors/ContextSample.hpp"
#include "probes/contexts/vectors/RunFiles.hpp"
#include "probes/contexts/vectors/VectorsProbe.hpp"

namespace stereosweep::probes::contexts {
namespace {

using base::counted;

/// The tests, in which a target word is an attribute as well: its cosine with itself is 1 in every sample.
std::string tests_with_shared_words(const Contexts& settings) {
  std::string text;
  for (const auto& test : settings.tests) {
    std::set<std::string> attributes(test.a.words.begin(), test.a.words.end());
    attributes.insert(test.b.words.begin(), test.b.words.end());
    std::vector<std::string> shared;
    for (const auto* set : {&test.x, &test.y}) {
      std::copy_if(set->words.begin(), set->words.end(), std::back_inserter(shared),
                   [&](const auto& word) { return attributes.contains(word); });
    }
    if (!shared.empty()) {
      text += "\n  note: the test '" + test.label +
              "' has targets that are attributes as well: " + base::join(shared, ", ") +
              " (their cosine with themselves is 1)";
    }
  }
  return text;
}

std::string source_of(const Contexts& settings) {
  if (settings.is_static()) {
    return settings.needs_model() ? "the model's input embeddings" : "vectors of " + settings.from_table().file;
  }
  const auto& corpus = settings.contextual().corpus;
  return (corpus.is_generated() ? counted(corpus.templates.size(), "template") + " x " +
                                      counted(corpus.rephrasings.size(), "rephrasing") + ", "
                                : std::string()) +
         "at most " + counted(static_cast<std::uint64_t>(corpus.max_contexts), "context") + " of each";
}

std::string contexts_summary(const sweep::Job& job) {
  const auto& settings = job.settings<Contexts>();
  std::set<std::string> words;
  std::uint64_t num_weat = 0;
  for (const auto& test : settings.tests) {
    num_weat += test.kind == EmbeddingTest::Kind::weat ? 1 : 0;
    for (const auto* set : {&test.x, &test.y, &test.a, &test.b}) {
      words.insert(set->words.begin(), set->words.end());
    }
  }
  return counted(num_weat, "WEAT test") + " and " + counted(settings.tests.size() - num_weat, "WEFAT test") + " of " +
         counted(words.size(), "word") + ", contexts: " + source_of(settings) + "; " +
         counted(static_cast<std::uint64_t>(settings.samples), "sample") + " per test" +
         tests_with_shared_words(settings);
}

class ContextsKind final : public ProbeKind {
 public:
  std::string_view name() const override { return Contexts::probe_name; }
  std::vector<std::string> keys() const override {
    return {"axes", "corpus", "vectors", "samples", "unequal_sets", "statistics"};
  }
  Defaults defaults() const override { return {.contexts_per_block = 64}; }
  sweep::ProbeSettings read(const config::ProbeReading& job) const override { return read_settings(job); }
  void dump(const sweep::ProbeSettings& settings, config::Extent extent, config::Node& job) const override {
    dump_settings(settings.as<Contexts>(), extent, job);
  }
  config::Node dump_statistics(const sweep::ProbeSettings& settings) const override {
    return contexts::dump_statistics(settings.as<Contexts>());
  }
  std::string human_ratings(const sweep::Job& job) const override {
    return job.settings<Contexts>().statistics.human_ratings;
  }
  void check_human_ratings(const sweep::Job& job) const override { findings::read_ratings(rating_names(job)); }

  std::optional<query::Prediction> prediction() const override { return std::nullopt; }
  std::optional<query::Embed> vectors(const sweep::Job& job) const override {
    return asked_of(job.settings<Contexts>());
  }
  std::vector<std::pair<std::string, std::string>> inputs(const sweep::Job& job) const override {
    const auto& settings = job.settings<Contexts>();
    std::vector<std::pair<std::string, std::string>> files;
    if (!settings.is_static()) {
      for (const auto& file : settings.contextual().corpus.files) {
        files.emplace_back("corpus", file);
      }
    } else if (!settings.needs_model()) {
      files.emplace_back("file of vectors", settings.from_table().file);
    }
    return files;
  }
  void check_inputs(const sweep::Job& job) const override { input_states(job.settings<Contexts>()); }

  std::unique_ptr<Probe> make_probe(const sweep::Job& /*job*/,
                                    const tokenizer::Tokenizer& /*tokenizer*/) const override {
    return nullptr;
  }
  std::vector<std::unique_ptr<Stage>> stages(const sweep::Job& /*job*/) const override { return make_stages(); }
  std::vector<std::string> run_files() const override { return {sample_file, words_file, store_file, vectors_file}; }

  std::string summary(const sweep::Job& job) const override { return contexts_summary(job); }
  void plan(const PlanRequest& request) const override { plan_contexts(request); }
  void show(const results::ResultFile& file, Detail detail, std::size_t top) const override {
    show_contexts(file, detail, top);
  }
  void stats(const StatsRequest& request) const override { contexts_statistics(request); }
  void assist(const StatsRequest& request) const override { assist_contexts_statistics(request); }
};

}  // namespace

const ProbeKind& contexts_kind() {
  static const ContextsKind kind;
  return kind;
}

}  // namespace stereosweep::probes::contexts
