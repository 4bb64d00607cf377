// Effects of single words as scores of groups on trait pairs: the variant of CEAT that cao2022 §3.2 compares with
// people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/contexts/ContextsStatistics.hpp"
#include "results/Layout.hpp"

namespace stereosweep::probes::contexts {

/// A wefat test is a trait pair (A its right pole, B its left one), a word of X is a group. Measures `ceat_mean` (mean
/// over samples of the word's effect) and `ceat_combined` (random effects, by the chosen variance and estimator); the
/// one prior is called `none`. Nothing without wefat tests. Throws InputError for unusable ratings.
std::optional<findings::PairAgreement> compute_agreement(const std::vector<ContextsTest>& tests,
                                                         const std::vector<TestSummary>& summaries,
                                                         const std::optional<std::vector<findings::Rating>>& ratings,
                                                         const stats::ShuffleSettings& shuffles);

/// Adds the axes measure, prior, group and pair, and what `write_pair_agreement` writes over them.
void write_contexts_agreement(results::Layout& layout, const findings::PairAgreement& agreement,
                              const std::vector<ContextsTest>& tests);

}  // namespace stereosweep::probes::contexts
