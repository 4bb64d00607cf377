#include "app/ContextsCommands.hpp"

#include <algorithm>
#include <set>

#include "app/ContextsPlan.hpp"
#include "app/ContextsStatistics.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::app {
namespace {

using base::counted;
using domain::EmbeddingTest;

/// The tests, in which a target word is an attribute as well: its cosine with itself is 1 in every sample.
std::string tests_with_shared_words(const domain::Contexts& settings) {
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

std::string source_of(const domain::Contexts& settings) {
  if (settings.is_static()) {
    return settings.needs_model() ? "the model's input embeddings" : "vectors of " + settings.from_table().file;
  }
  return "at most " + counted(static_cast<std::uint64_t>(settings.contextual().corpus.max_contexts), "context") +
         " of each";
}

std::string contexts_summary(const domain::Job& job) {
  const auto& settings = job.contexts();
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

}  // namespace

ProbeCommands contexts_commands() {
  return {domain::Contexts::probe_name, contexts_summary,          plan_contexts, show_contexts,
          contexts_statistics,          assist_contexts_statistics};
}

}  // namespace stereosweep::app
