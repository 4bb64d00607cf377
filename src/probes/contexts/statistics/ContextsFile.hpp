// The file contexts.stats.h5; same conventions as an exported result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "probes/contexts/statistics/ContextsStatistics.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"

namespace stereosweep::probes::contexts {

/// Writes `target` under a temporary name and renames it. `source` is what `result` was computed from.
void write_contexts_file(const results::ResultFile& source, const ContextsResult& result,
                         const ContextsOptions& options, const std::filesystem::path& target);

// Parts of it.

/// Effects of single words as scores of groups on trait pairs: the variant of CEAT that cao2022 §3.2 compares with
/// people. A wefat test is a trait pair (A its right pole, B its left one), a word of X is a group. Measures
/// `ceat_mean` (mean over samples of the word's effect) and `ceat_combined` (random effects, by the chosen variance and
/// estimator); the one prior is called `none`. Nothing without wefat tests. Throws InputError for unusable ratings.
std::optional<findings::PairAgreement> compute_agreement(const std::vector<ContextsTest>& tests,
                                                         const std::vector<TestSummary>& summaries,
                                                         const std::optional<std::vector<findings::Rating>>& ratings,
                                                         const stats::ShuffleSettings& shuffles);

/// Adds the axes variant, prior, group and pair, and what `write_pair_agreement` writes over them.
void write_contexts_agreement(results::Layout& layout, const findings::PairAgreement& agreement,
                              const std::vector<ContextsTest>& tests);

/// Adds the table to a statistics file, some samples at a time. Measures (README.md): effect_size, association,
/// deviation. Subjects: the pair of target sets of each WEAT test, each target word of the WEFAT tests; replicates: the
/// samples; items: the tests, of which A is the right pole. `job` adds what the result does not say: which words are
/// groups, and which have no vector; null: nothing.
void write_contexts_scores(results::Layout& layout, const ContextsReader& reader, const Contexts* job);

}  // namespace stereosweep::probes::contexts
