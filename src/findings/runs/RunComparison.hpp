// Several results in one table: mean scores side by side, paired differences, correlations. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/yaml/Yaml.hpp"
#include "findings/Cells.hpp"
#include "findings/Finding.hpp"
#include "results/RawBlock.hpp"
#include "results/ScoreTable.hpp"
#include "results/measures/Glossary.hpp"
#include "sweep/Comparison.hpp"

namespace stereosweep::findings {

// Score tables of several results side by side: what they share by its labels. Knows no probe.

struct RunScores {
  std::string label;
  std::string probe;
  Scores scores;
};

/// Labels of one axis that not all runs have.
struct NotShared {
  std::string axis;
  std::vector<std::string> labels;
};

/// One measure of the runs that have it, over what is shared.
struct RunCells {
  std::vector<std::size_t> runs;
  /// Parallel to `runs`: [subject, template, rephrasing, replicate, item]; NaN: no score, or, where cells are paired,
  /// none in another of these runs.
  std::vector<std::vector<double>> values;
  /// Parallel to `values`: sampled answers that were read in them.
  std::vector<std::vector<std::int32_t>> answers;
  std::uint64_t num_shared = 0;   ///< cells with a score in each of `runs`; only where cells are paired
  std::uint64_t num_dropped = 0;  ///< cells with a score in some of them only
};

/// Of one subject and item of a run, over its templates and rephrasings, replicates averaged first.
struct RunMean : CellMean {
  std::int32_t num_answers = 0;  ///< sampled answers that were read in it
};

class JoinedRuns {
 public:
  /// At least two runs, whose scores are borrowed. Subjects and items are those that all runs have: by their labels;
  /// of different probes by their normalised labels (findings::normalised), subjects also by the coordinate `name`,
  /// items also by their poles. Measures are those that any run has. Templates, rephrasings and replicates: those that
  /// all have by their labels; where the probes differ or nothing is shared, each run's own, and no cells are paired.
  /// Throws InputError, naming the labels, where no subject or no item is shared.
  explicit JoinedRuns(std::vector<RunScores> runs);

  const std::vector<RunScores>& runs() const { return runs_; }
  /// Axes as the first run that has a label describes it.
  const results::AxisSchema& measures() const { return measures_; }
  const results::AxisSchema& subjects() const { return axes_[subject_axis]; }
  const results::AxisSchema& items() const { return axes_[item_axis]; }
  const results::AxisSchema& axis(std::size_t axis) const { return axes_[axis]; }
  bool is_paired() const { return why_unpaired_.empty(); }
  const std::string& why_unpaired() const { return why_unpaired_; }
  const std::vector<NotShared>& not_shared() const { return not_shared_; }

  RunCells cells(std::size_t measure) const;
  /// The axes of a run's values in RunCells; nothing can be read.
  Scores axes_of(std::size_t run) const;
  /// Means of the cells of one run, [subject, item]. `place`: of the run in `cells.runs`.
  std::vector<RunMean> means(const RunCells& cells, std::size_t place) const;

 private:
  bool is_joined(std::size_t axis) const { return is_paired() || axis == subject_axis || axis == item_axis; }
  void join_measures();
  /// Finds the shared labels of an axis.
  void join_axis(std::size_t axis);
  /// Under which a label may be found, none of them empty where the runs are of different probes.
  std::vector<std::string> names_of(std::size_t axis, std::size_t run, std::size_t place) const;
  /// Scores and sampled answers of one run.
  std::pair<std::vector<double>, std::vector<std::int32_t>> gathered(std::size_t run, std::size_t measure) const;

  std::vector<RunScores> runs_;
  bool is_mixed_;  ///< they are of different probes
  results::AxisSchema measures_;
  std::vector<std::vector<std::optional<std::size_t>>> measure_places_;  ///< [measure][run]
  std::array<results::AxisSchema, 6> axes_;
  /// [axis][run][label]: places on the run's own axis; several where names of one label were found.
  std::array<std::vector<std::vector<std::vector<std::size_t>>>, 6> places_;
  std::string why_unpaired_;
  std::vector<NotShared> not_shared_;
};

/// Up to so many runs every pair is compared; of more, each with one.
constexpr std::size_t most_runs_in_pairs = 4;

/// What is asked of the runs; borrowed.
struct RunQuestion {
  results::AxisSchema run_axis;         ///< as run_axis() gives it
  const sweep::Comparison& comparison;  ///< its inference: family, confidence, replicates, draws
  std::uint64_t seed = 0;
  std::optional<std::size_t> against{};  ///< the run that all others are compared with
  std::optional<results::PeoplesMeans> people{};
};

/// What was asked first: differences, those of `compare` (Contrasts.hpp), one contrast for each pair of runs and
/// subject (none where cells are not paired); correlations of the means of different runs, or of a run and people, in
/// the same measure (where cells are not paired, in any); means; numbers of cells; variance of the shared cells.
std::vector<Finding> compare_runs(const JoinedRuns& joined, const RunQuestion& question);

/// A file of its own, of what `compare_runs` found. Throws base::Error (full disk, ...); an old file stays then.
void write_runs(const std::filesystem::path& target, const JoinedRuns& joined, const results::AxisSchema& run_axis,
                const std::vector<Finding>& found);

/// `top`: rows of each table; `shown`: measures, or all where the runs share none of them.
std::string runs_text(const JoinedRuns& joined, const std::vector<Finding>& found, std::size_t top,
                      const results::ShownMeasures& shown);

// What tells results apart: the keys in which their resolved jobs differ.

/// One result, as it names itself.
struct RunOrigin {
  std::string name;        ///< of its job
  std::string probe;       ///< "association"
  std::string digest;      ///< of its raw numbers
  std::string job_sha256;  ///< of its job, the model's files included
  std::string model_sha256;
  std::string complete;  ///< "yes" or "NOT complete"
  /// "model.path" and its value, in the order of the job: scalars as they are, lists by their entries; of entries that
  /// are no scalars the first one in them, and the first digits of the list's SHA-256.
  std::vector<std::pair<std::string, std::string>> keys;
};

/// The keys of a resolved job but for `schema` and `name`. Maps become dotted keys; lists stay whole.
std::vector<std::pair<std::string, std::string>> keys_of(const config::Node& job);

/// The axis `run`. A label names the fewest differing keys, in the order of `model.path`, `probe`, then of the jobs,
/// that tell all runs apart: of `model.path` the last part (alone without its key), of others "key=value", the last
/// part of the key and of a list what not all runs have; where the jobs do not differ, the first digits of the digest
/// follow. Coordinates: name, probe, digest, job_sha256, model_sha256, complete, and each key that differs (dots as
/// underscores); of results of different probes only those that all jobs have; `model.path` only where the models'
/// files differ. Throws InputError where one result stands there twice (same job and digest).
results::AxisSchema run_axis(std::span<const RunOrigin> runs);

}  // namespace stereosweep::findings
