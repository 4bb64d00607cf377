// Times of the permutation tests: bench_permutation [THREADS]; sign flips and relabelled subjects run on one.
// Scores are random, with and without an effect: an observed sum in the middle is the dearest exact test.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "stats/permutation/ExactPermutation.hpp"
#include "stats/permutation/RandomPermutation.hpp"
#include "stats/permutation/SignFlip.hpp"
#include "support/PhiloxUnit.hpp"

namespace {

using stereosweep::testing::philox_unit;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> scores(std::size_t count, std::uint32_t test, double shift) {
  std::vector<double> values;
  for (std::uint32_t i = 0; i < count; ++i) {
    values.push_back(0.1 * (philox_unit({.seed = 1, .test = test, .word = i}) - 0.5) + shift);
  }
  return values;
}

void exact(std::size_t n, double shift, unsigned threads) {
  namespace stats = stereosweep::stats;
  const auto x = scores(n, 1, shift);
  const auto y = scores(n, 2, 0);
  const auto start = std::chrono::steady_clock::now();
  const stats::ExactPermutation test(x, y, threads);
  const double built = seconds_since(start);
  const auto count = test.count_share(test.scores().threshold, 0, 1, threads);
  const double all = seconds_since(start);
  std::printf("exact %zu vs %zu, shift %.3f: %.3f s (lists %.3f s), %s of %s, p %.6g\n", n, n, shift, all, built,
              stats::to_text(count).c_str(), stats::to_text(test.num_partitions()).c_str(),
              stats::exact_p(count, test.num_partitions()));
}

/// One of many equal shares of a test that ranks would divide, and what the whole would take here.
void exact_share(std::size_t n, double shift, unsigned num_shares, unsigned threads) {
  namespace stats = stereosweep::stats;
  const auto x = scores(n, 1, shift);
  const auto y = scores(n, 2, 0);
  const stats::ExactPermutation test(x, y, threads);
  const auto start = std::chrono::steady_clock::now();
  const auto count = test.count_share(test.scores().threshold, 0, num_shares, threads);
  const double share = seconds_since(start);
  std::printf("exact %zu vs %zu, shift %.3f: share 1 of %u in %.3f s (%s partitions), all of %s about %.0f s\n", n, n,
              shift, num_shares, share, stats::to_text(count).c_str(), stats::to_text(test.num_partitions()).c_str(),
              share * num_shares);
}

void monte_carlo(std::size_t n, std::uint64_t draws, unsigned threads) {
  namespace stats = stereosweep::stats;
  const auto x = scores(n, 1, 0.02);
  const auto y = scores(n, 2, 0);
  const auto start = std::chrono::steady_clock::now();
  const auto result =
      stats::monte_carlo_permutation(x, y, {.seed = 1, .draws = draws, .confidence = 0.95, .num_threads = threads});
  std::printf("Monte Carlo %zu of %zu, %llu draws: %.3f s, p %.6g (%.6g .. %.6g)\n", n, 2 * n,
              static_cast<unsigned long long>(draws), seconds_since(start), result.one_sided.p,
              result.one_sided.interval.low, result.one_sided.interval.high);
}

/// Templates flip with all their rephrasings.
void sign_flips(std::size_t num_templates, std::size_t num_rephrasings, double shift) {
  namespace stats = stereosweep::stats;
  const auto cells = scores(num_templates * num_rephrasings, 3, shift);
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> sums(num_templates, 0);
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    sums[cell / num_rephrasings] += cells[cell];
  }
  const auto result = stats::sign_flip_test(sums, {});
  std::printf("sign flips, %zu templates x %zu rephrasings, shift %.3f: %.4f s, two-sided p %.6g%s\n", num_templates,
              num_rephrasings, shift, seconds_since(start), result.two_sided, result.is_exact ? " (exact)" : "");
}

/// Both tails of relabelling the subjects of two sides.
void relabelled(std::size_t n, double shift) {
  namespace stats = stereosweep::stats;
  const auto left = scores(n, 4, shift);
  const auto right = scores(n, 5, 0);
  const auto start = std::chrono::steady_clock::now();
  const stats::ExactPermutation exact(left, right);
  const auto counts =
      stats::count_reaching(exact, [&](std::int64_t threshold) { return exact.count_share(threshold, 0, 1, 1); });
  std::printf("subjects relabelled, %zu of %zu, shift %.3f: %.3f s, two-sided p %.6g (exact)\n", n, 2 * n, shift,
              seconds_since(start), stats::exact_p(counts.two_sided, exact.num_partitions()));
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : std::thread::hardware_concurrency();
  std::printf("%u threads\n", threads);
  for (const std::size_t n : {8U, 16U, 20U, 25U}) {
    exact(n, 0, threads);
  }
  exact(25, 0.04, threads);
  exact_share(32, 0, 64, threads);
  exact_share(32, 0.04, 64, threads);
  monte_carlo(25, 10'000'000, threads);
  for (const double shift : {0.0, 0.002}) {
    sign_flips(35, 20, shift);
    sign_flips(44, 20, shift);
    relabelled(25, 10 * shift);
  }
  return EXIT_SUCCESS;
}
