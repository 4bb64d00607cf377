#include "probes/contexts/ContextsCommands.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>

#include "base/Log.hpp"
#include "base/Text.hpp"
#include "findings/AgreementText.hpp"
#include "findings/HumanRatings.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "probes/contexts/statistics/ContextsText.hpp"

namespace stereosweep::probes::contexts {
namespace {

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

void show_contexts(const results::ResultFile& file, Detail detail, std::size_t top) {
  ContextsOptions options;
  options.depth = ContextsDepth::effects;
  const auto result = compute_contexts(file, options);
  std::cout << contexts_status_text(result);
  if (detail == Detail::everything) {
    std::cout << '\n' << contexts_effects_text(result, top);
  }
}

void contexts_statistics(const StatsRequest& request) {
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

void assist_contexts_statistics(const StatsRequest& request) { assist_contexts(request.file, options_of(request)); }

}  // namespace stereosweep::probes::contexts
