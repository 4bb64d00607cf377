// What `stats` and `show` print of a contexts result.
#pragma once

#include <cstddef>
#include <string>

#include "probes/ProbeKind.hpp"
#include "probes/contexts/statistics/ContextsStatistics.hpp"

namespace stereosweep::probes::contexts {

/// A p from its logarithm: "0.012", "2.1e-2174"; "-" for NaN.
std::string p_of_log10(double log10_p);

/// Samples by status.
std::string contexts_status_text(const ContextsResult& result);
/// For `show`: means and deviations of the effect sizes of every test and of the `top` words of WEFAT tests; no p.
std::string contexts_effects_text(const ContextsResult& result, std::size_t top);
/// The WEAT tests. main: effects and the p of relabelling, adjusted by Holm. everything: also the random-effects model,
/// p of its z, and every adjustment.
std::string contexts_tests_text(const ContextsResult& result, Detail detail);
/// The `top` words of each WEFAT test with the largest effects.
std::string contexts_words_text(const ContextsResult& result, std::size_t top, Detail detail);
/// Detected words.
std::string contexts_detections_text(const ContextsResult& result, Detail detail);
/// Titles and sizes of the tests, missing words, words with few contexts, samples by status.
std::string contexts_notes_text(const ContextsResult& result);

}  // namespace stereosweep::probes::contexts
