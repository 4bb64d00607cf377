// How chosen extremes are put in order. Whoever shows the largest of many numbers has chosen them: without a p that is
// adjusted for all that they were chosen from, the largest of pure noise look like findings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stereosweep::findings {

/// Place of each number in a list with the best evidence first, from 1: the smallest p, of equal p the largest
/// |effect|, then the earlier one. Numbers without a p (NaN) come behind all others, those without an effect last.
/// `p` and `effects` are parallel.
std::vector<std::int32_t> evidence_ranks(std::span<const double> p, std::span<const double> effects);

/// p adjusted for all of the list by Holm (stats::adjust_log10_p), never below p itself; NaN stays NaN and counts as no
/// test. The heading that a table of extremes needs beside it: "chosen from N; p adjusted for all of them".
std::vector<double> adjusted_for_choice(std::span<const double> p);

}  // namespace stereosweep::findings
