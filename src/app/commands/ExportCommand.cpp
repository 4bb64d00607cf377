#include <iostream>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "run/JobStages.hpp"
#include "run/Settings.hpp"
#include "run/directory/RunDirectory.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::app {
namespace {

/// The axes come from the job and the tokenizer: both must be those of the journal. Weights are not read.
void require_same_origin(const run::RunDirectory& directory, const results::JournalStore& store, const sweep::Job& job,
                         const base::FileSet& files) {
  base::refuse_if(store.attempts().empty(), "'" + directory.root().string() + "' holds no journal that can be read",
                  store.damage().empty() ? "nothing was scored there" : base::join(store.damage(), "; "));
  const auto& attempt = store.attempts().front();
  base::refuse_if(attempt.job_hash != run::raw_job_hash(job), "job.resolved.yaml is not the job of the journal",
                  "it was changed after " + attempt.attempt);
  const auto now = run::make_settings(job, run::hash_files(job, files, {}), "");
  auto differences = run::settings_differences(attempt.settings, now.text);
  std::erase_if(differences, [](const std::string& line) { return !line.starts_with("tokenizer/"); });
  base::refuse_if(!differences.empty(), "the tokenizer in '" + job.model.path + "' is not the run's",
                  base::join(differences, "; "));
}

base::ExitCode execute_export(const CommandLine& line) {
  const std::filesystem::path root = line.place;
  require_run(root);
  const run::RunDirectory directory(root);
  const auto job = directory.job();
  base::FileSet files("");
  std::optional<tokenizer::Tokenizer> tokenizer;
  if (job.reads_model()) {
    files = base::read_checkpoint_files(base::checkpoint_place(job.model.location(), job.model.adapter),
                                        base::CheckpointPart::small_files);
    tokenizer.emplace(tokenizer::Tokenizer::from_files(files));
  }
  const auto check = [&](const results::JournalStore& store) { require_same_origin(directory, store, job, files); };
  for (const auto& text : run::export_stages(directory, job, files, tokenizer ? &*tokenizer : nullptr, check)) {
    std::cout << text << '\n';
  }
  return base::ExitCode::done;
}

}  // namespace

const Command export_command{"export",
                             "write the HDF5 file of a run, finished or not",
                             "stereosweep export DIR: write PROBE.h5 from the journal, also while the run goes on.\n"
                             "Cells that are not scored yet have the status not_scored",
                             execute_export,
                             Places::one,
                             "run directory"};

}  // namespace stereosweep::app
