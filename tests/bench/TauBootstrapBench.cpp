// Seconds of a bootstrap of pooled tau-b: answers of 25 subjects x 20 annotators x 16 items against 400 scores.
//   bench_tau_bootstrap [REPLICATES] [THREADS]     prints what tests/bench/run_tau_bootstrap.py reads
// The answers and scores are formulas that the script writes anew, so that both resample the same table.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "findings/Streams.hpp"
#include "findings/people/People.hpp"
#include "stats/Bootstrap.hpp"

int main(int argc, char** argv) {
  namespace findings = stereosweep::findings;
  constexpr std::size_t num_subjects = 25;
  constexpr std::size_t num_annotators = 20;
  constexpr std::size_t num_items = 16;
  const auto number = [&](int place, std::size_t otherwise) {
    return argc > place ? static_cast<std::size_t>(std::atol(argv[place])) : otherwise;
  };
  std::vector<findings::Rating> answers;
  findings::SampledCells scores{num_subjects * num_items, {{}}};
  for (std::size_t cell = 0; cell < num_subjects * num_items; ++cell) {
    scores.tables[0].values.push_back(static_cast<double>(cell * 7919 % 1009));
    for (std::size_t annotator = 0; annotator < num_annotators; ++annotator) {
      const auto hash = (cell * 31 + annotator * 17 + cell * annotator * 13) % 101;
      answers.push_back({cell / num_items, cell % num_items, static_cast<double>((hash + cell * 7919 % 1009 / 10) / 2),
                         std::to_string(annotator)});
    }
  }
  const auto drawn =
      findings::cells_of_answers(answers, num_subjects, num_items, {}, start_of(findings::Stream::annotators));
  findings::CellList all(num_subjects * num_items);
  std::iota(all.begin(), all.end(), std::size_t{0});
  findings::BootstrapSettings settings;
  settings.replicates = number(1, 10'000);
  settings.num_threads = static_cast<unsigned>(number(2, 1));
  const auto began = std::chrono::steady_clock::now();
  const auto taus = findings::bootstrap_tau(scores, drawn, std::span(&all, 1), settings);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const auto interval = stereosweep::stats::percentile_interval(taus[0], 0.95);
  const auto fixed = findings::cells_of_answers(answers, num_subjects, num_items, {});
  settings.replicates = 1;
  const auto plain = findings::bootstrap_tau(scores, fixed, std::span(&all, 1), settings);
  std::printf("%.9f %.17g %.17g %.17g\n", seconds, plain[0][0], interval.low, interval.high);
}
