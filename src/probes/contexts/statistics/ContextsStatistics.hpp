// `stats` of a contexts result: combined effects, permutation tests, word effects, detected words; each defined in
// README.md of the room stats.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/process/Processors.hpp"
#include "findings/Finding.hpp"
#include "findings/sharing/KeptPieces.hpp"
#include "probes/ProbeKind.hpp"
#include "probes/contexts/Contexts.hpp"
#include "probes/contexts/effects/EffectsProbe.hpp"
#include "results/Layout.hpp"
#include "results/Reader.hpp"
#include "results/ScoreTable.hpp"
#include "stats/CrossedTable.hpp"
#include "stats/Summary.hpp"
#include "stats/embedding/Detection.hpp"
#include "stats/embedding/RandomEffects.hpp"

namespace stereosweep::probes::contexts {

// A result as tests and their samples.

/// Where a sample stands in the score table.
struct SampleCell {
  std::size_t template_place = 0;
  std::size_t rephrasing = 0;
  std::size_t replicate = 0;
};

/// What the axes of a result say.
struct ContextsAxes {
  std::vector<EmbeddingTest> tests;       ///< with the words that take part
  std::vector<std::string> consequences;  ///< of missing and trimmed words, one line for each test
  std::vector<std::string> status_names;
  std::size_t num_samples = 0;                         ///< of each test
  std::map<std::string, std::uint64_t> word_contexts;  ///< with a vector; 1 or 0 with static vectors
};

struct ContextsReader : ContextsAxes {
  /// The first `wanted_samples` samples of each test; 0: all. Borrows the file. Throws InputError if it has fewer.
  ContextsReader(const results::ResultFile& result, std::int64_t wanted_samples);
  ContextsSamples read(std::size_t test) const { return read(test, 0, num_samples); }
  ContextsSamples read(std::size_t test, std::size_t first_sample, std::size_t count) const;
  /// That reading one sample of a test takes.
  std::size_t numbers_per_sample() const;

  /// Axes template, rephrasing and replicate of the score table. Of made sentences samples are of every template and
  /// rephrasing in turn, of found ones of none.
  std::array<results::AxisSchema, 3> sample_axes;
  std::vector<SampleCell> cells;  ///< of each sample

 private:
  void place_samples(const results::AxisSchema& samples);
  const results::ResultFile& file_;
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
  findings::Workers world = {};  ///< share the exact tests; all of them compute, rank zero alone draws partitions
};

/// Of one rank: alone it may use all that it may run on, which a batch system limits; ranks share theirs.
inline unsigned threads_of(int num_ranks) { return num_ranks == 1 ? base::num_own_processors() : 1; }

constexpr std::array<const char*, 3> adjustment_names = {"holm", "benjamini_hochberg", "benjamini_yekutieli"};

/// Mean and deviation (n - 1) of numbers over the samples that have one.
struct SampleSummary {
  std::int32_t num_used = 0;
  double mean = stats::nan;
  double deviation = stats::nan;  ///< NaN for one sample
};

/// One way to relabel words; NaN where there is none.
struct PermutationSummary {
  double one_sided = stats::nan;  ///< p: as large as observed, or larger
  double two_sided = stats::nan;  ///< p: as far from zero
  double least = stats::nan;      ///< smallest two-sided p that so many words can have
  double relabellings = 0;        ///< of the two-sided p: all partitions (exact), or draws
  stats::ProbabilityInterval interval{stats::nan, stats::nan};  ///< of the exact two-sided p
};

/// Of a weat test or of a word of a wefat test. Of a wefat test `effect` alone: the mean effect of its words (the
/// variant of cao2022 for a group's words).
struct EffectSummary {
  std::string word;                 ///< of a wefat test; empty: of the test
  std::uint64_t contexts = 0;       ///< with a vector of the word, of a test of its rarest word
  std::int32_t rank = 0;            ///< of a word, among those of its test, by evidence
  double association = stats::nan;  ///< of a word: mean over samples
  SampleSummary effect;
  stats::RandomEffects combined;  ///< by the chosen variance and estimator
  PermutationSummary targets;     ///< of a weat test: X and Y relabelled
  PermutationSummary attributes;  ///< A and B relabelled
  /// Of a weat test: Student's t over other words of both kinds, and its interval of the effect. The variance of the
  /// effect is what the words of X, Y, A and B add to it, each set by its own spread (Welch 1947; crossed random
  /// factors: Westfall, Kenny and Judd 2014). What a target and an attribute word do together counts in both, so that p
  /// is too large where words share no topic. NaN with a set of one word.
  stats::MeanTest crossed;
  double cited = stats::nan;  ///< the largest of the p above, of a word that of the attributes
  double least = stats::nan;  ///< smallest value of `cited` that so many words can have
  std::string family;         ///< tests and words that are adjusted together; empty: not adjusted
  std::size_t family_size = 0;
  /// `cited` by `adjustment_names`, in the family; NaN without one.
  std::array<double, adjustment_names.size()> adjusted = {stats::nan, stats::nan, stats::nan};
};

struct TestSummary : EffectSummary {
  std::vector<EffectSummary> words;  ///< of a wefat test
};

/// One kind of detection of one group.
struct DetectionSummary {
  std::string label;
  stats::DetectionKind kind = stats::DetectionKind::intersectional;
  std::vector<std::string> words;  ///< that all its tests have
  stats::DetectionCurve curve = {};
  std::size_t used = 0;                    ///< point of both kinds' curves: IBD's most accurate threshold
  std::vector<std::string> detected = {};  ///< there, as the paper's appendix (8.2) has it for EIBD, too
  std::vector<std::string> unknown = {};   ///< validation words that are not among `words`
  bool is_intersectional() const { return kind == stats::DetectionKind::intersectional; }
  bool exists() const { return curve.reason == stats::Reason::ok; }
  const stats::DetectionPoint& point() const { return curve.points[used]; }
  /// Validated words among as many as are detected, were these drawn at random.
  double expected() const { return static_cast<double>(point().num_detected()) * curve.chance; }
};

/// Effects that are adjusted together: of weat tests, and of the words of wefat tests.
struct FamilyInUse {
  std::string label;
  std::vector<std::size_t> tests;  ///< indices, in the order of the result
  std::size_t num_effects = 0;     ///< weat tests, and words
};

struct ContextsResult : ContextsAxes {
  ContextsDepth depth = ContextsDepth::everything;
  EmbeddingStatistics settings;
  std::vector<TestSummary> summaries;
  std::vector<std::uint64_t> samples_by_status;  ///< of all tests
  std::vector<FamilyInUse> families;             ///< disjoint
  std::vector<DetectionSummary> detections;      ///< IBD and EIBD of each group
};

/// Collective over `options.world`. Throws InputError if a detection or a family names a test that `file` has not.
ContextsResult compute_contexts(const results::ResultFile& file, const ContextsOptions& options);

/// The same, and writes `target` (as export_run does).
ContextsResult write_contexts(const results::ResultFile& file, const ContextsOptions& options,
                              const results::StatisticsTarget& target);

// Parts of it.

/// Axes of the score table of a job. How many samples it has of a template and rephrasing is not known before the run.
results::ScoreTableAxes score_axes(const Contexts& job);

/// Axes and variables `score` and `score_status`. Measures (README.md): effect_size, association, deviation. Subjects:
/// the pair of target sets of each WEAT test, each target word of the WEFAT tests; replicates: the samples (of made
/// sentences: of each template and rephrasing); items: the tests, of which A is the right pole. `job` adds what the
/// result does not say: which words are groups, and which have no vector.
void write_score_table(results::Layout& layout, const ContextsReader& reader, const Contexts& job);

/// What the file and the tables of `stats` and `show` say of it, in their order: WEAT tests, the samples behind them,
/// detections, words of WEFAT tests, the samples behind these, WEFAT tests, statuses of samples.
std::vector<findings::Finding> findings_of(const ContextsResult& result, Detail detail);

/// Of these what `stats` and `show` print. `detail`: whether also what only an expert asks for.
StatsText contexts_text(const ContextsResult& result, Detail detail, std::size_t top);

}  // namespace stereosweep::probes::contexts
