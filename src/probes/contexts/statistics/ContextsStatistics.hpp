// `stats` of a contexts result: combined effects, permutation tests, word effects, detected words; each defined in
// README.md of the room stats.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "findings/agreement/Alignment.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/contexts/Contexts.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/Detection.hpp"
#include "stats/embedding/RandomEffects.hpp"
#include "stats/permutation/ExactPermutation.hpp"

namespace stereosweep::probes::contexts {

// A result as tests and their samples.

/// What the axis of the tests says.
struct ContextsTest {
  std::string label;
  std::string title;
  EmbeddingTest::Kind kind = EmbeddingTest::Kind::weat;
  std::array<std::string, 4> sets;                ///< labels of X, Y, A, B
  std::array<std::vector<std::string>, 4> words;  ///< that take part, of X, Y, A, B
  std::string consequence;                        ///< of missing and trimmed words, one line
  std::size_t num_targets() const { return words[0].size() + words[1].size(); }
  std::size_t num_attributes() const { return words[2].size() + words[3].size(); }
};

/// Samples of one test. NaN where a number does not exist. A target: a word of X, then of Y; an attribute: a word of A,
/// then of B.
class ContextsSamples {
 public:
  ContextsSamples(const results::RawSchema& schema, results::RawBlock block);
  ContextsSamples(const ContextsSamples&) = delete;
  ContextsSamples& operator=(const ContextsSamples&) = delete;
  std::size_t size() const { return status_->size(); }
  /// An index into status_names.
  std::uint8_t status(std::size_t sample) const { return (*status_)[sample]; }
  double association(std::size_t sample, std::size_t target) const {
    return (*association_)[sample * num_targets_ + target];
  }
  // Of a weat test.
  double attribute_association(std::size_t sample, std::size_t attribute) const {
    return (*attribute_association_)[sample * num_weat_attributes_ + attribute];
  }
  double effect_size(std::size_t sample) const { return (*effect_size_)[sample]; }
  double association_variance(std::size_t sample) const { return (*association_variance_)[sample]; }
  // Of a wefat test.
  double deviation(std::size_t sample, std::size_t target) const {
    return (*deviation_)[sample * num_targets_ + target];
  }
  double cosine(std::size_t sample, std::size_t target, std::size_t attribute) const {
    return static_cast<double>((*cosine_)[(sample * num_targets_ + target) * num_attributes_ + attribute]);
  }

 private:
  results::RawBlock block_;
  std::size_t num_targets_;          ///< slots, of which a test fills the first
  std::size_t num_weat_attributes_;  ///< likewise
  std::size_t num_attributes_ = 0;   ///< likewise
  const std::vector<double>* association_;
  const std::vector<double>* attribute_association_;
  const std::vector<double>* effect_size_;
  const std::vector<double>* association_variance_;
  const std::vector<std::uint8_t>* status_;
  const std::vector<double>* deviation_ = nullptr;
  const std::vector<float>* cosine_ = nullptr;
};

class ContextsReader {
 public:
  /// The first `num_samples` samples of each test; 0: all. `file` is borrowed. Throws InputError if it is no contexts
  /// result, or has fewer.
  ContextsReader(const results::ResultFile& file, std::int64_t num_samples);
  const std::vector<ContextsTest>& tests() const { return tests_; }
  std::size_t num_samples() const { return num_samples_; }
  const std::vector<std::string>& status_names() const { return status_names_; }
  /// Contexts with a vector of every word of the job; 1 or 0 with static vectors.
  const std::map<std::string, std::uint64_t>& word_contexts() const { return word_contexts_; }
  ContextsSamples read(std::size_t test) const { return read(test, 0, num_samples_); }
  ContextsSamples read(std::size_t test, std::size_t first_sample, std::size_t count) const;
  /// That reading one sample of a test takes.
  std::size_t numbers_per_sample() const;

 private:
  const results::ResultFile& file_;
  std::vector<ContextsTest> tests_;
  std::size_t num_in_file_ = 0;
  std::size_t num_samples_ = 0;  ///< that are read
  std::vector<std::string> status_names_;
  std::map<std::string, std::uint64_t> word_contexts_;
};

// What is computed of it.

/// How far `stats` goes: `show` runs no permutation.
enum class ContextsDepth { effects, everything };

struct ContextsOptions {
  EmbeddingStatistics settings;
  const Contexts* job = nullptr;  ///< borrowed: names the groups of the score table; null: they are words
  std::uint64_t seed = 0;
  unsigned num_threads = 1;
  ContextsDepth depth = ContextsDepth::everything;
  std::optional<std::vector<findings::Rating>>
      ratings;                 ///< human means of target words (groups) on wefat tests (trait pairs)
  std::string ratings_source;  ///< where they come from, for the file
  /// Partitions of a whole exact test that reach a threshold; ranks that share the work are collective here. Empty:
  /// this process counts them all.
  std::function<stats::PartitionCount(const stats::ExactPermutation&, std::int64_t threshold)> count;
};

constexpr std::array<const char*, 3> variance_names = {"paper", "cohen", "permutation"};
constexpr std::array<const char*, 3> estimator_names = {"dersimonian_laird", "reml", "paule_mandel"};
constexpr std::array<const char*, 4> adjustment_names = {"holm", "benjamini_hochberg", "benjamini_yekutieli", "max_t"};
constexpr std::size_t num_step_adjustments = 3;  ///< those of a list of p values; the fourth is max-T

/// Mean and deviation (n - 1) of numbers over the samples that have one.
struct SampleSummary {
  std::int32_t num_used = 0;
  double mean = stats::nan;
  double deviation = stats::nan;  ///< NaN for one sample
};

/// One way to relabel words.
struct PermutationSummary {
  enum class Method : std::uint8_t { none, exact, monte_carlo, monte_carlo_early_end };
  Method method = Method::none;
  double p = stats::nan;                                        ///< one-sided: as large as observed, or larger
  double two_sided = stats::nan;                                ///< as far from zero; NaN where a test ended early
  double least = stats::nan;                                    ///< smallest two-sided p that so many words can have
  std::string reaching;                                         ///< partitions or draws that do, in decimal
  std::string two_sided_reaching;                               ///< of either sign; empty where a test ended early
  std::string partitions;                                       ///< of the pool
  std::int64_t draws = 0;                                       ///< Monte Carlo: made
  stats::ProbabilityInterval interval{stats::nan, stats::nan};  ///< Monte Carlo: of the exact p
};

/// Of a weat test or of a word of a wefat test.
struct EffectSummary {
  SampleSummary effect;
  stats::RandomEffects combined;  ///< by the chosen variance and estimator
  PermutationSummary targets;     ///< of a weat test: X and Y relabelled
  PermutationSummary attributes;  ///< A and B relabelled
  /// The largest two-sided p of the relabellings that the effect has: it is small only where the effect would be as
  /// unlikely with other words of either kind. NaN where one of them ended early.
  double cited = stats::nan;
  double least = stats::nan;  ///< smallest value of `cited` that so many words can have
  /// `cited` by `adjustment_names`: in the test's family, or among the words of its test; never below it. NaN without a
  /// family.
  std::array<double, adjustment_names.size()> adjusted = {stats::nan, stats::nan, stats::nan, stats::nan};
  /// log10 of the two-sided p of z, adjusted likewise by Holm, Benjamini-Hochberg, Benjamini-Yekutieli.
  std::array<double, num_step_adjustments> adjusted_log10_p = {stats::nan, stats::nan, stats::nan};
};

struct WordSummary : EffectSummary {
  std::string word;
  SampleSummary association;
};

/// Of a wefat test `effect` alone: the mean effect of its words (the variant of cao2022 for a group's words).
struct TestSummary : EffectSummary {
  std::vector<std::uint64_t> samples_by_status;
  std::array<stats::RandomEffects, variance_names.size() * estimator_names.size()> combinations;  ///< of a weat test
  std::optional<std::size_t> family;  ///< index; nothing: the test is not adjusted
  std::vector<WordSummary> words;     ///< of a wefat test
};

struct DetectionSummary {
  std::string label;
  std::vector<std::string> words;                    ///< that all its tests have
  std::array<stats::DetectionCurve, 2> curves;       ///< IBD, EIBD
  stats::Value area;                                 ///< IBD
  std::size_t used = 0;                              ///< point of both curves: IBD's most accurate threshold
  std::array<std::vector<std::string>, 2> detected;  ///< there, as the paper's appendix (8.2) has it for EIBD, too
  std::array<std::vector<std::string>, 2> unknown;   ///< validation words that are not among `words`
};

/// Effects that are adjusted together: of weat tests, and of the words of wefat tests.
struct FamilyInUse {
  std::string label;
  std::vector<std::size_t> tests;  ///< indices, in the order of the result
  std::size_t num_effects = 0;     ///< weat tests, and words
};

struct ContextsResult {
  std::vector<ContextsTest> tests;
  std::vector<std::string> status_names;
  std::size_t num_samples = 0;
  std::map<std::string, std::uint64_t> word_contexts;  ///< with a vector; 1 or 0 with static vectors
  std::size_t chosen = 0;                              ///< of the combinations
  EmbeddingStatistics settings;
  std::vector<TestSummary> summaries;
  std::vector<FamilyInUse> families;  ///< disjoint
  std::vector<DetectionSummary> detections;
  std::optional<findings::PairAgreement> agreement;  ///< word effects as scores of groups; nothing without wefat tests
};

/// Contexts of the rarest word that takes part in the test; nothing where no word has a context.
std::optional<std::uint64_t> fewest_contexts(const ContextsResult& result, std::size_t test);

/// Throws InputError if `file` is no result of the probe 'contexts', or if a detection or a family names a test
/// that it has not.
ContextsResult compute_contexts(const results::ResultFile& file, const ContextsOptions& options);

/// The same, and writes `target` (as export_run does).
ContextsResult write_contexts(const results::ResultFile& file, const ContextsOptions& options,
                              const results::StatisticsTarget& target);

/// What the other ranks do while one computes: they take part in `options.count` for every exact test, in its order.
void assist_contexts(const results::ResultFile& file, const ContextsOptions& options);

// Parts of it.

/// Writes `target` under a temporary name and renames it. `source` is what `result` was computed from.
void write_contexts_file(const results::ResultFile& source, const ContextsResult& result,
                         const ContextsOptions& options, const results::StatisticsTarget& target);

// What `stats` and `show` print of it.

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
/// What keeps a reader from taking the numbers as they stand: words with few contexts, words that a test lacks, sets so
/// small that no p can be small. Sentences, which the file holds as its attribute
/// `contexts_warnings`, one a line.
std::vector<std::string> contexts_warnings(const ContextsResult& result);
/// Titles and sizes of the tests, the warnings, samples by status.
std::string contexts_notes_text(const ContextsResult& result);

}  // namespace stereosweep::probes::contexts
