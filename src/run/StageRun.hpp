// One stage of a job: its journal, and scoring until all its blocks are in there. Made and used on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "probes/Stage.hpp"
#include "run/Coordinator.hpp"
#include "run/JobParts.hpp"
#include "run/TensorRanks.hpp"

namespace stereosweep::run {

/// What a stage is. A job of one stage calls it "".
struct StageSpec {
  std::string name;
  std::shared_ptr<const probes::Probe> probe;
  probes::Stage::Asks asks = probes::Stage::Asks::model;
  RunSettings settings;                  ///< heads of its journals: the job's, and what the stage's input adds
  query::EngineCounts cost_before = {};  ///< of the stages before
};

class StageRun {
 public:
  /// `job` is borrowed.
  StageRun(JobParts& job, StageSpec spec) : job_(job), spec_(std::move(spec)) {}
  /// Collective: reads the journals; nothing is written. Throws SharedError where they belong to something else.
  void open();
  /// All blocks are in the journal; the same on all ranks.
  bool complete() const { return complete_; }
  /// Collective, after open: takes over what can be reused, scores the rest. Exit code `done`: complete.
  base::ExitCode score();
  const StageSpec& spec() const { return spec_; }
  /// Another probe of the same blocks scores them: one that has opened what it reads.
  void use(std::shared_ptr<const probes::Probe> probe) { spec_.probe = std::move(probe); }
  /// Rank zero: the journal as it lies there now.
  const results::JournalStore& reread();

 private:
  void read_journals();
  void show_in_status();
  void start_attempt();
  void take_over(const std::filesystem::path& old_directory);
  void warn_of_no_reuse(const std::filesystem::path& old_directory, const results::JournalStore& old_store) const;
  void agree_whether_complete();
  base::ExitCode follow(const ScorerParts& scorer_parts, const TensorRanks& ranks);
  base::ExitCode lead(const ScorerParts& scorer_parts, const TensorRanks& ranks);
  void announce();

  JobParts& job_;
  StageSpec spec_;
  bool complete_ = false;
  // rank zero only
  std::optional<results::JournalStore> store_;
  std::optional<BlocksLeft> left_;
  std::unique_ptr<results::JournalWriter> journal_;
};

}  // namespace stereosweep::run
