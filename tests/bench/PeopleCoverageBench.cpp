// How often the 95 % intervals of a pooled tau-b with people hold what they are of: bench_people_coverage [SETS [SEED
// [LINE]]] Simulated answers and scores of 25 x 16 fixed cells, whose true scores and true means of people are
// correlated; what is drawn (annotators, templates, or both) is a sample. An interval is of the tau-b that other draws
// of as many annotators and templates have on average, which is found by drawing them. One line a kind: the tau-b
// without noise (mean over sets), this mean of draws, what `people_tau_bias` says of the difference, and in % with its
// standard error how often the interval (`people_tau_low`, `people_tau_high`) held the mean of draws.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "findings/Streams.hpp"
#include "findings/people/People.hpp"
#include "stats/Bootstrap.hpp"
#include "stats/Correlation.hpp"

namespace {

using namespace stereosweep;

constexpr std::size_t num_subjects = 25;
constexpr std::size_t num_items = 16;
constexpr std::size_t num_cells = num_subjects * num_items;
constexpr double confidence = 0.95;

struct Kind {
  double correlation = 0;          ///< of the cells' true scores and means
  std::size_t num_annotators = 0;  ///< of each subject; 0: people's means are known
  double annotator_noise = 0;      ///< standard deviation of an answer over that of the cells
  std::size_t num_templates = 0;   ///< 0: the scores are known
  double template_noise = 0;
};

struct Counts {
  double truth = 0;
  double expected = 0;
  double bias = 0;
  std::size_t held = 0;
};

using Random = std::mt19937_64;

/// What every cell truly is.
struct World {
  std::vector<double> scores;
  std::vector<double> means;
};

World draw_world(double correlation, Random& random) {
  std::normal_distribution<double> normal;
  World world;
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    world.scores.push_back(normal(random));
    world.means.push_back(correlation * world.scores.back() +
                          std::sqrt(1 - correlation * correlation) * normal(random));
  }
  return world;
}

/// Means of as many annotators and templates as the kind has: a mean of n normal values is a normal value.
double expected_tau(const Kind& kind, const World& world, Random& random) {
  constexpr std::size_t num_draws = 300;
  std::normal_distribution<double> normal;
  const auto with_noise = [&](std::vector<double> cells, std::size_t count, double noise) {
    for (auto& cell : cells) {
      cell += count > 0 ? noise / std::sqrt(static_cast<double>(count)) * normal(random) : 0;
    }
    return cells;
  };
  double sum = 0;
  for (std::size_t draw = 0; draw < num_draws; ++draw) {
    sum += stats::kendall_tau_b(with_noise(world.scores, kind.num_templates, kind.template_noise),
                                with_noise(world.means, kind.num_annotators, kind.annotator_noise))
               .value;
  }
  return sum / num_draws;
}

void simulate(const Kind& kind, std::uint64_t seed, Counts& counts) {
  Random random(seed);
  std::normal_distribution<double> normal;
  const auto world = draw_world(kind.correlation, random);
  const auto stream = [](bool is_drawn, findings::Stream one) {
    return is_drawn ? std::optional(start_of(one)) : std::nullopt;
  };
  findings::SampledTable table;
  table.lines[0] = {std::max<std::size_t>(1, kind.num_templates),
                    stream(kind.num_templates > 0, findings::Stream::templates)};
  for (std::size_t sentence = 0; sentence < table.lines[0].count; ++sentence) {
    for (const double score : world.scores) {
      table.values.push_back(score + (kind.num_templates > 0 ? kind.template_noise * normal(random) : 0));
    }
  }
  const findings::SampledCells scores{num_cells, {std::move(table)}};
  std::vector<findings::Rating> answers;
  for (std::size_t cell = 0; cell < num_cells; ++cell) {
    for (std::size_t annotator = 0; annotator < std::max<std::size_t>(1, kind.num_annotators); ++annotator) {
      const double noise = kind.num_annotators > 0 ? kind.annotator_noise * normal(random) : 0;
      answers.push_back({cell / num_items, cell % num_items, world.means[cell] + noise, std::to_string(annotator)});
    }
  }
  const auto people = findings::cells_of_answers(answers, num_subjects, num_items, {},
                                                 stream(kind.num_annotators > 0, findings::Stream::annotators));
  std::vector<std::size_t> all(num_cells);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const findings::BootstrapSettings settings{.replicates = 1000, .seed = seed};
  const auto taus = findings::bootstrap_tau(scores, people, std::span(&all, 1), settings).front();
  const double observed = stats::kendall_tau_b(scores.means(), people.means()).value;
  const auto degrees = findings::drawn_degrees(scores, people, all);
  const auto interval = findings::tau_interval(taus, observed, degrees, confidence);
  const double expected = expected_tau(kind, world, random);
  counts.truth += stats::kendall_tau_b(world.scores, world.means).value;
  counts.expected += expected;
  counts.bias += stats::mean(taus).value - observed;
  counts.held += interval.low <= expected && expected <= interval.high ? 1 : 0;
}

void measure(const Kind& kind, std::size_t num_sets, std::uint64_t seed) {
  Counts counts;
  for (std::size_t set = 0; set < num_sets; ++set) {
    simulate(kind, seed + set, counts);
  }
  const auto sets = static_cast<double>(num_sets);
  const double held = static_cast<double>(counts.held) / sets;
  std::printf("%5.2f %12zu %6.2f %10zu %6.2f %9.3f %9.3f %9.3f %7.1f +-%.1f\n", kind.correlation, kind.num_annotators,
              kind.annotator_noise, kind.num_templates, kind.template_noise, counts.truth / sets,
              counts.expected / sets, counts.bias / sets, 100 * held, 100 * std::sqrt(held * (1 - held) / sets));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t num_sets = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1000;
  const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 20261123;
  const std::size_t only = count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 0;  // from 1
  if (num_sets == 0) {
    std::fputs("bench_people_coverage [SETS [SEED [LINE]]]: at least one set\n", stderr);
    return 2;
  }
  std::printf("%zu sets of each kind; noise: standard deviation over that of the cells' true values\n\n", num_sets);
  std::printf("%5s %12s %6s %10s %6s %9s %9s %9s %9s\n", "r", "annotators", "noise", "templates", "noise", "true",
              "expected", "bias", "held");
  std::size_t line = 0;
  for (const double correlation : {0.0, 0.3, 0.9}) {
    for (auto kind : std::vector<Kind>{{0, 20, 2, 0, 0},
                                       {0, 20, 1, 0, 0},
                                       {0, 5, 2, 0, 0},
                                       {0, 0, 0, 20, 1},
                                       {0, 0, 0, 5, 1},
                                       {0, 20, 2, 20, 1},
                                       {0, 5, 2, 5, 1}}) {
      kind.correlation = correlation;
      if (++line == only || only == 0) {
        measure(kind, num_sets, seed);
      }
    }
  }
}
