// What `stats` and `show` print of a contexts result.
#pragma once

#include <cstddef>
#include <string>

#include "results/ContextsStatistics.hpp"

namespace stereosweep::results {

/// A p from its logarithm: "0.012", "2.1e-2174"; "-" for NaN.
std::string p_of_log10(double log10_p);

/// Samples by status.
std::string contexts_status_text(const ContextsResult& result);
/// Mean and deviation of the effect sizes of every test, and what missing words change.
std::string contexts_effects_text(const ContextsResult& result);
/// Combined effects and p values of the WEAT tests; the combined effect under each variance.
std::string contexts_tests_text(const ContextsResult& result);
/// The `top` words of each WEFAT test with the largest effects.
std::string contexts_words_text(const ContextsResult& result, std::size_t top);
/// Detected words.
std::string contexts_detections_text(const ContextsResult& result);

}  // namespace stereosweep::results
