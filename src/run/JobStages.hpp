// The stages of a job, one after the other: what an earlier start came to is taken up, the rest is scored and exported.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/Stage.hpp"
#include "run/RunDirectory.hpp"
#include "run/StageRun.hpp"

namespace stereosweep::run {

class JobStages {
 public:
  /// `job` is borrowed; its model is read and its settings are agreed on.
  explicit JobStages(JobParts& job);
  /// Collective; see run_jobs.
  base::ExitCode run();

 private:
  struct Step {
    std::shared_ptr<probes::Stage> stage;  ///< outlives a scoring thread that is given up
    std::optional<StageRun> run;
    std::vector<std::byte> outcome;  ///< of a stage with a successor, once it is known
    bool has_outcome = false;
  };
  void open(std::size_t index);
  void recall(Step& step);
  base::ExitCode score_and_finish(std::size_t index);
  base::ExitCode finish_stages_before(std::size_t index);
  base::ExitCode score_for_missing_files();
  bool is_wanted(const Step& step) const;
  void export_stages();

  JobParts& job_;
  probes::StageRequest request_;
  std::vector<Step> steps_;
  bool scored_ = false;  ///< this start has added blocks to a journal
};

/// Called with a stage's journal before anything is written from it: throws where it is not the job's.
using JournalCheck = std::function<void(const results::JournalStore&)>;

/// What `export` does with a run directory, also while it runs: as much as its stages have come to. `files`: the small
/// files of the model; `tokenizer`: null where the job needs none. Returns what to print, a line per file and digest.
/// Throws InputError where nothing can be exported yet.
std::vector<std::string> export_stages(const RunDirectory& directory, const sweep::Job& job, const base::FileSet& files,
                                       const tokenizer::Tokenizer* tokenizer, const JournalCheck& check);

}  // namespace stereosweep::run
