#include "app/ContextsStatistics.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <thread>

#include "app/HumanRatings.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "results/ContextsStatistics.hpp"
#include "results/ContextsText.hpp"
#include "results/StatisticsText.hpp"

namespace stereosweep::app {
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

results::ContextsOptions options_of(const StatsRequest& request) {
  results::ContextsOptions options;
  options.settings = request.job.contexts().statistics;
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

void show_contexts(const results::ResultFile& file, Detail detail, std::size_t top) {
  results::ContextsOptions options;
  options.depth = results::ContextsDepth::effects;
  const auto result = results::compute_contexts(file, options);
  std::cout << results::contexts_status_text(result);
  if (detail == Detail::everything) {
    std::cout << '\n' << results::contexts_effects_text(result, top);
  }
}

void contexts_statistics(const StatsRequest& request) {
  auto options = options_of(request);
  const auto& ratings = options.settings.human_ratings;
  if (!ratings.empty()) {
    options.ratings = ratings_of(request.job);
    options.ratings_source = source_of_ratings(ratings);
  }
  const auto result = results::write_contexts(request.file, options, request.target);
  const auto detail = request.shows_all ? results::TextDetail::everything : results::TextDetail::main;
  for (const auto& part :
       {results::contexts_tests_text(result, detail), results::contexts_words_text(result, request.top, detail),
        results::contexts_detections_text(result, detail),
        result.agreement ? results::agreement_text(*result.agreement, request.top) : std::string()}) {
    std::cout << part << (part.empty() ? "" : "\n");
  }
  std::cout << results::contexts_notes_text(result);
}

void assist_contexts_statistics(const StatsRequest& request) {
  results::assist_contexts(request.file, options_of(request));
}

}  // namespace stereosweep::app
