// P values of several tests, adjusted for their number. In logarithms, so that a p of 10^-2000 keeps its digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::stats {

/// holm: step-down Bonferroni, family-wise (Holm 1979, Scand. J. Statist. 6); benjamini_hochberg: step-up false
/// discovery rate (JRSS B 1995), for independent or positively dependent tests; benjamini_yekutieli: the same for any
/// dependence (Ann. Statist. 2001).
enum class Adjustment : std::uint8_t { holm, benjamini_hochberg, benjamini_yekutieli };

/// log10 p -> log10 of the adjusted p, at most 0, in the same order. A NaN stays NaN and counts as no test.
std::vector<double> adjust_log10_p(std::span<const double> log10_p, Adjustment adjustment);

}  // namespace stereosweep::stats
