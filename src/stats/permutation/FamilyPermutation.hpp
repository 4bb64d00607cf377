// Several permutation tests at once: family-wise adjusted p by the step-down max-T method (Westfall and Young 1993,
// Resampling-Based Multiple Testing, algorithm 4.1), which uses how the tests depend on one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// One test: its scores, and which pool of words it is about. Tests of one pool list the same words in the same order
/// and are relabelled together; different pools are relabelled independently.
struct FamilyTest {
  std::vector<double> x;
  std::vector<double> y;
  std::uint32_t pool = 0;
};

/// Of z = (sum_X s - n mean) / sqrt(n m / N) / sd, sd with N - 1 over the pool: d sqrt(n m / N). both: its magnitude
/// counts.
enum class Tail : std::uint8_t { upper, both };

struct FamilySettings {
  std::uint64_t seed = 0;
  std::uint64_t draws = 1'000'000;  ///< below 2^32
  unsigned num_threads = 1;
  Tail tail = Tail::upper;
};

/// Adjusted p of every test: tests in the order of falling z, p_j = (#{draws: max of z over j and all later
/// ones >= z_j} + 1) / (draws + 1), then never below an earlier one. Scores finite and not all equal within a test.
std::vector<double> max_t_p(std::span<const FamilyTest> tests, const FamilySettings& settings);

}  // namespace stereosweep::stats
