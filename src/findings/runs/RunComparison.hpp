// Several results in one table: mean scores side by side, paired differences, correlations. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "findings/contrasts/Contrasts.hpp"
#include "findings/people/TableAgreement.hpp"
#include "findings/runs/JoinedRuns.hpp"
#include "findings/variance/VarianceShares.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/ShownMeasures.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

/// Up to so many runs every pair is compared; of more, each with one.
constexpr std::size_t most_runs_in_pairs = 4;

/// Left minus right: places on the axis `run`.
struct RunPair {
  std::size_t left = 0;
  std::size_t right = 0;
};

/// A measure of a run, or people's means.
struct RunSeries {
  std::string run;  ///< its label, or `people_label`
  std::string measure;
  std::string label() const { return run + " | " + measure; }
};

/// Of two series, over (subject, item) where both have a mean. No p: means of one run are not independent of each
/// other.
struct SeriesCorrelation {
  RunSeries left;
  RunSeries right;
  std::string items;  ///< "all", or a dimension of them
  Agreement agreement;
};

struct RunComparison {
  results::AxisSchema runs;
  results::AxisSchema measures;
  results::AxisSchema subjects;
  results::AxisSchema items;
  std::size_t num_templates = 0;  ///< that all runs share, as the next two; 0: cells are not paired
  std::size_t num_rephrasings = 0;
  std::size_t num_replicates = 0;
  std::string why_unpaired;  ///< "": cells are paired
  std::vector<NotShared> not_shared;
  std::vector<std::uint64_t> num_shared;   ///< [measure]: cells that all runs with the measure have
  std::vector<std::uint64_t> num_dropped;  ///< [measure]: cells that only some of them have
  std::vector<CellMean> means;             ///< [run, measure, subject, item]
  std::vector<std::int32_t> num_answers;   ///< sampled answers that were read in these
  std::vector<VarianceShares> variance;    ///< [measure], over the shared cells; empty where cells are not paired
  std::vector<RunPair> pairs;              ///< empty where cells are not paired
  std::vector<ContrastRow> differences;    ///< [pair, measure, subject, item]
  /// Of different runs, or a run and people: the same measure; where cells are not paired, any.
  std::vector<SeriesCorrelation> correlations;

  std::string pair_label(const RunPair& pair) const {
    return runs.labels[pair.left] + " minus " + runs.labels[pair.right];
  }
  std::size_t cell(std::size_t outermost, std::size_t measure, std::size_t subject, std::size_t item) const {
    return ((outermost * measures.labels.size() + measure) * subjects.labels.size() + subject) * items.labels.size() +
           item;
  }
};

/// What is asked of the runs; borrowed.
struct RunQuestion {
  results::AxisSchema run_axis;         ///< as run_axis() gives it
  const sweep::Comparison& comparison;  ///< its inference: family, confidence, replicates, draws
  std::uint64_t seed = 0;
  std::optional<std::size_t> against{};  ///< the run that all others are compared with
  std::optional<results::PeoplesMeans> people{};
};

/// Differences are those of `compare` (Contrasts.hpp), one contrast for each pair of runs and subject.
RunComparison compare_runs(const JoinedRuns& joined, const RunQuestion& question);

/// A file of its own. Throws base::Error (full disk, ...); an old file stays then.
void write_runs(const std::filesystem::path& target, const RunComparison& runs, const sweep::Comparison& comparison);

/// The differences first. `top`: rows of each table; `shown`: measures, or all where the runs share none of them.
std::string runs_text(const RunComparison& runs, const sweep::Comparison& comparison, std::size_t top,
                      const results::ShownMeasures& shown);

}  // namespace stereosweep::findings
