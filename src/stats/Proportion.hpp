// Exact intervals of a probability from counts.
#pragma once

#include <cstdint>

namespace stereosweep::stats {

struct ProbabilityInterval {
  double low = 0;
  double high = 1;
};

/// Clopper and Pearson (Biometrika 1934) for `successes` in a number of draws that was fixed beforehand.
ProbabilityInterval fixed_draws_interval(std::uint64_t successes, std::uint64_t draws, double confidence);

/// The same for inverse sampling: draws went on until the number of successes, at least one, was reached.
ProbabilityInterval fixed_successes_interval(std::uint64_t successes, std::uint64_t draws, double confidence);

}  // namespace stereosweep::stats
