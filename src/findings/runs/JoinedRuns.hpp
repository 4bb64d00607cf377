// Score tables of several results side by side: what they share by its labels. Knows no probe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/Cells.hpp"

namespace stereosweep::findings {

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
  /// Length 0 where cells are not paired.
  std::size_t num_shared(std::size_t axis) const { return axes_[axis].labels.size(); }
  const results::AxisSchema& axis(std::size_t axis) const { return axes_[axis]; }
  bool is_paired() const { return why_unpaired_.empty(); }
  const std::string& why_unpaired() const { return why_unpaired_; }
  const std::vector<NotShared>& not_shared() const { return not_shared_; }

  RunCells cells(std::size_t measure) const;
  /// The axes of a run's values in RunCells; nothing can be read.
  Scores axes_of(std::size_t run) const;
  /// Means of the cells of one run over its templates and rephrasings, replicates averaged first; [subject, item].
  /// `place`: of the run in `cells.runs`.
  std::vector<CellMean> means(const RunCells& cells, std::size_t place) const;
  /// Sampled answers in these means, [subject, item].
  std::vector<std::int32_t> num_answers(const RunCells& cells, std::size_t place) const;

 private:
  void join_measures();
  /// Finds the shared labels of an axis; `keys(run, place)` are the names under which a label may be found.
  template <class Keys>
  void join_axis(std::size_t axis, const Keys& keys);
  /// Scores and sampled answers of one run.
  std::pair<std::vector<double>, std::vector<std::int32_t>> gathered(std::size_t run, std::size_t measure) const;

  std::vector<RunScores> runs_;
  results::AxisSchema measures_;
  std::vector<std::vector<std::optional<std::size_t>>> measure_places_;  ///< [measure][run]
  std::array<results::AxisSchema, 6> axes_;
  /// [axis][run][label]: places on the run's own axis; several where names of one label were found.
  std::array<std::vector<std::vector<std::vector<std::size_t>>>, 6> places_;
  std::string why_unpaired_;
  std::vector<NotShared> not_shared_;
};

}  // namespace stereosweep::findings
