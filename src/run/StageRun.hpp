// One stage of a job: its journal, and scoring until all its blocks are in there. Made and used on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probes/Stage.hpp"
#include "run/Coordinator.hpp"
#include "run/OneJob.hpp"
#include "run/TensorRanks.hpp"

namespace stereosweep::run {

class StageRun {
 public:
  /// `job` and `stage`, which is open, are borrowed. `settings`: heads of its journals: the job's, and what the stage's
  /// input adds.
  StageRun(JobParts& job, const probes::Stage& stage, std::shared_ptr<const probes::Probe> probe, RunSettings settings)
      : job_(job), stage_(stage), probe_(std::move(probe)), settings_(std::move(settings)) {}
  /// Collective: reads the journals; nothing is written. Throws SharedError where they belong to something else.
  void open();
  /// All blocks are in the journal; the same on all ranks.
  bool complete() const { return complete_; }
  /// Collective, after open: takes over what can be reused, scores the rest. Exit code `done`: complete.
  base::ExitCode score();
  const probes::Probe& probe() const { return *probe_; }
  const RunSettings& settings() const { return settings_; }
  /// Another probe of the same blocks scores them: one that has opened what it reads.
  void use(std::shared_ptr<const probes::Probe> probe) { probe_ = std::move(probe); }
  /// Rank zero: the journal as it lies there now.
  const results::JournalStore& reread();

 private:
  void read_journals();
  void show_in_status();
  void start_attempt();
  void take_over(const std::filesystem::path& old_directory);
  void warn_of_no_reuse(const std::filesystem::path& old_directory, const results::JournalStore& old_store) const;
  void agree_whether_complete() {
    complete_ = job_.world.broadcast(job_.leads() && left_->num_done() == left_->size(), 0);
  }
  base::ExitCode serve(const ScorerParts& scorer_parts, const TensorRanks& ranks);
  StopOrder lead(parallel::Messenger& messenger, Scorer& scorer, const std::vector<parallel::RankPlace>& places);
  void announce();

  JobParts& job_;
  const probes::Stage& stage_;
  std::shared_ptr<const probes::Probe> probe_;
  RunSettings settings_;
  bool complete_ = false;
  // rank zero only
  std::optional<results::JournalStore> store_;
  std::optional<BlocksLeft> left_;
  std::unique_ptr<results::JournalWriter> journal_;
};

}  // namespace stereosweep::run
