#include "probes/contexts/ContextsKind.hpp"

#include <algorithm>
#include <iostream>
#include <thread>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "findings/Alignment.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EmbeddingTests.hpp"
#include "probes/contexts/settings/ContextsSettings.hpp"
#include "probes/contexts/statistics/ContextsText.hpp"
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
    std::vector<std::string> shared;
    for (const auto* set : {&test.x, &test.y}) {
      std::ranges::copy_if(set->words, std::back_inserter(shared), [&](const auto& word) {
        return std::ranges::count(test.a.words, word) + std::ranges::count(test.b.words, word) > 0;
      });
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
  const auto num_weat =
      static_cast<std::uint64_t>(std::ranges::count(settings.tests, EmbeddingTest::Kind::weat, &EmbeddingTest::kind));
  return counted(num_weat, "WEAT test") + " and " + counted(settings.tests.size() - num_weat, "WEFAT test") + " of " +
         counted(list_words(settings.tests).size(), "word") + ", contexts: " + source_of(settings) + "; " +
         counted(static_cast<std::uint64_t>(settings.samples), "sample") + " per test" +
         tests_with_shared_words(settings);
}

constexpr double steps_per_second = 1e9;  ///< of one thread, in an exact test

/// Sum over the ranks of their shares of one test: integers, so the same for any number of ranks. Collective.
stats::PartitionCount count_over_ranks(const stats::ExactPermutation& exact, std::int64_t threshold,
                                       const parallel::Communicator& world, unsigned num_threads) {
  const double seconds = exact.num_steps() / (steps_per_second * num_threads * world.size());
  if (world.rank() == 0 && seconds > 10) {
    base::log(base::LogLevel::info, "an exact test of " + stats::to_text(exact.num_partitions()) +
                                        " partitions: about " +
                                        base::with_thousands(static_cast<std::uint64_t>(seconds)) + " s at most");
  }
  return world.sum(exact.count_share(threshold, static_cast<unsigned>(world.rank()),
                                     static_cast<unsigned>(world.size()), num_threads));
}

ContextsOptions options_of(const StatsRequest& request) {
  ContextsOptions options;
  options.settings = request.job.settings<Contexts>().statistics;
  options.job = &request.job.settings<Contexts>();
  options.seed = request.job.seed;
  // alone it may use the machine; ranks share theirs
  options.num_threads = request.world.size() == 1 ? std::max(1U, std::thread::hardware_concurrency()) : 1;
  options.count = [&world = request.world, threads = options.num_threads](const stats::ExactPermutation& exact,
                                                                          std::int64_t threshold) {
    return count_over_ranks(exact, threshold, world, threads);
  };
  return options;
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
    ContextsOptions options;
    options.depth = ContextsDepth::effects;
    const auto result = compute_contexts(file, options);
    std::cout << contexts_status_text(result);
    if (detail == Detail::everything) {
      std::cout << '\n' << contexts_effects_text(result, top);
    }
  }
  void stats(const StatsRequest& request) const override {
    auto options = options_of(request);
    const auto& ratings = options.settings.human_ratings;
    if (!ratings.empty()) {
      options.ratings = findings::ratings_of(rating_names(request.job));
      options.ratings_source = findings::source_of_ratings(ratings);
    }
    const auto result = write_contexts(request.file, options, request.target);
    for (const auto& part :
         {contexts_tests_text(result, request.detail), contexts_words_text(result, request.top, request.detail),
          contexts_detections_text(result, request.detail),
          result.agreement ? findings::agreement_text(*result.agreement, request.top) : std::string()}) {
      std::cout << part << (part.empty() ? "" : "\n");
    }
    std::cout << contexts_notes_text(result);
  }
  void assist(const StatsRequest& request) const override { assist_contexts(request.file, options_of(request)); }
};

}  // namespace

/// A wefat test is a trait pair (A right, B left), its words are groups.
findings::RatingNames rating_names(const sweep::Job& job) {
  const auto& settings = job.settings<Contexts>();
  findings::RatingNames names{settings.statistics.human_ratings, settings.statistics.rating_aliases, {}, {}};
  for (const auto& test : settings.tests) {
    if (test.kind != EmbeddingTest::Kind::wefat) {
      continue;
    }
    names.pairs.push_back({test.label, test.b.label, test.a.label});
    for (const auto& word : test.x.words) {
      names.groups.push_back({word, {}});
    }
  }
  return names;
}

const ProbeKind& contexts_kind() {
  static const ContextsKind kind;
  return kind;
}

}  // namespace stereosweep::probes::contexts
