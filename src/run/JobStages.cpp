#include "run/JobStages.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "results/Reader.hpp"
#include "run/ExportDirectory.hpp"
#include "run/StageRun.hpp"

namespace stereosweep::run {
namespace {

probes::StageRequest request_of(JobParts& job) {
  return {.job = job.job(),
          .world = job.world,
          .directory = job.directory.root(),
          .files = job.scoring->files,
          .tokenizer = job.scoring->tokenizer ? &*job.scoring->tokenizer : nullptr,
          .show_step =
              [&job](const std::string& step) {
                job.status->update([&](RunStatus& status) {
                  if (!step.empty()) {
                    status.stage = step;
                    status.state = "running";
                  }
                });
              },
          .check_lease = [&job] { job.lease->check(); },
          .keep_earlier_end = [&job] { job.keep_earlier_end(); }};
}

/// With what it borrows from: a thread that is given up outlives the job.
std::shared_ptr<const probes::Probe> with_owners(const std::shared_ptr<const probes::Probe>& probe, const JobParts& job,
                                                 const std::shared_ptr<probes::Stage>& stage) {
  struct Owners {
    std::shared_ptr<ScoringParts> parts;
    std::shared_ptr<probes::Stage> stage;
    std::shared_ptr<const probes::Probe> probe;  ///< goes first
  };
  return {std::make_shared<Owners>(Owners{job.scoring, stage, probe}), probe.get()};
}

/// Whether the file says the same of itself as a new one would.
bool has_attributes(const std::filesystem::path& file, const probes::StageFile& target) {
  const results::ResultFile result(file);
  return std::ranges::all_of(target.attributes,
                             [&](const auto& attribute) { return result.text(attribute.first) == attribute.second; });
}

class JobStages {
 public:
  explicit JobStages(JobParts& job) : job_(job), request_(request_of(job)) {
    for (auto& stage : probes::kind_of(job.job()).stages(job.job())) {
      steps_.push_back({std::move(stage), std::nullopt, std::nullopt});
    }
  }
  base::ExitCode run();

 private:
  struct Step {
    std::shared_ptr<probes::Stage> stage;  ///< outlives a scoring thread that is given up
    std::optional<StageRun> run;
    std::optional<probes::Stage::Bytes> outcome;  ///< of a stage with a successor, once it is known
  };
  void open(std::size_t index);
  void recall(Step& step);
  base::ExitCode score_and_finish(std::size_t index);
  base::ExitCode finish_stages_before(std::size_t index);
  base::ExitCode score_for_missing_files();
  bool is_wanted(const Step& step) const;
  void export_all();
  /// Collective: what rank zero answers.
  bool ask(bool own) const { return job_.world.broadcast(own, 0); }

  JobParts& job_;
  probes::StageRequest request_;
  std::vector<Step> steps_;
  bool scored_ = false;  ///< this start has added blocks to a journal
};

void JobStages::open(std::size_t index) {
  auto& step = steps_[index];
  const auto made = step.stage->open(request_, index == 0 ? std::span<const std::byte>() : *steps_[index - 1].outcome);
  auto settings = index == 0 ? job_.settings : steps_[index - 1].run->settings();
  for (const auto& [key, value] : step.stage->settings()) {
    settings = with_field(settings, key, value);
  }
  step.run.emplace(job_, *step.stage, with_owners(made, job_, step.stage), settings);
  step.run->open();
  job_.on_rank_zero([&] { step.stage->journals_agree(request_); });
}

/// What an earlier start came to.
void JobStages::recall(Step& step) {
  std::optional<probes::Stage::Bytes> found;
  job_.on_rank_zero([&] { found = step.stage->recall(request_, step.run->settings().text); });
  if (ask(found.has_value())) {
    step.outcome = job_.world.broadcast(found.value_or(probes::Stage::Bytes()), 0);
  }
}

base::ExitCode JobStages::score_and_finish(std::size_t index) {
  auto& step = steps_[index];
  if (!step.run->complete()) {
    if (const auto prepared = step.stage->prepare(request_)) {
      step.run->use(with_owners(prepared, job_, step.stage));
    }
    scored_ = true;
    if (const auto end = step.run->score(); end != base::ExitCode::done) {
      return end;
    }
    job_.stop_at_once_on_signal();
  }
  if (index + 1 == steps_.size()) {
    return base::ExitCode::done;
  }
  probes::Stage::Bytes bytes;
  job_.on_rank_zero(
      [&] {
        job_.status->update([](RunStatus& status) { status.state = "exporting"; });
        bytes = step.stage->finish(request_, {step.run->reread(), step.run->settings().text});
      },
      "finish_stage");
  step.outcome = job_.world.broadcast(std::move(bytes), 0);
  return base::ExitCode::done;
}

/// What a stage that is to be scored reads must be there.
base::ExitCode JobStages::finish_stages_before(std::size_t index) {
  for (std::size_t before = 0; before < index; ++before) {
    if (ask(job_.leads() && steps_[before].stage->is_intact(request_))) {
      continue;
    }
    if (const auto end = score_and_finish(before); end != base::ExitCode::done) {
      return end;
    }
  }
  return base::ExitCode::done;
}

/// Rank zero: whether the file of a stage is missing, damaged or another than the job asks for.
bool JobStages::is_wanted(const Step& step) const {
  const auto target = step.stage->file(job_.job());
  if (!target) {
    return false;
  }
  const auto file = job_.directory.root() / target->name;
  return !job_.exported || !is_whole(file) || !has_attributes(file, *target);
}

/// A stage whose journal is gone, and whose file is wanted, is scored again.
base::ExitCode JobStages::score_for_missing_files() {
  for (std::size_t index = 0; index + 1 < steps_.size(); ++index) {
    if (ask(job_.leads() && is_wanted(steps_[index])) && !steps_[index].run->complete()) {
      if (const auto end = score_and_finish(index); end != base::ExitCode::done) {
        return end;
      }
    }
  }
  return base::ExitCode::done;
}

base::ExitCode JobStages::run() {
  for (std::size_t index = 0; index < steps_.size(); ++index) {
    open(index);
    auto& step = steps_[index];
    if (index + 1 < steps_.size()) {
      recall(step);
      if (step.outcome) {
        continue;
      }
    } else if (!step.run->complete()) {
      if (const auto end = finish_stages_before(index); end != base::ExitCode::done) {
        return end;
      }
    }
    if (const auto end = score_and_finish(index); end != base::ExitCode::done) {
      return end;
    }
  }
  if (const auto end = score_for_missing_files(); end != base::ExitCode::done) {
    return end;
  }
  job_.stop_at_once_on_signal();
  job_.on_rank_zero([&] { export_all(); });
  job_.remember_signals();
  return base::ExitCode::done;
}

void JobStages::export_all() {
  const auto result = job_.directory.export_file(job_.job());
  std::vector<Step*> wanted;
  for (auto& step : steps_) {
    const bool is_result = &step == &steps_.back();
    if (is_wanted(step) || (is_result && scored_)) {
      wanted.push_back(&step);
    }
  }
  if (wanted.empty()) {
    base::log(base::LogLevel::info, job_.job().name + " is complete: nothing to do (" + result.string() + ")");
  } else {
    job_.status->update([](RunStatus& status) { status.state = "exporting"; });
  }
  for (auto* step : wanted) {
    const auto& journal = step->run->reread();
    const auto summary =
        export_stage(job_.directory, job_.job(), *step->stage, step->run->probe(), journal, &*job_.lease);
    step->stage->report();
    const bool is_result = step == &steps_.back();
    log_summary(step->stage->name(), summary,
                steps_.size() > 1 && is_result ? step->stage->cost_before() : journal.cost());
    if (is_result) {
      job_.write_end("done", "");
      std::cout << "digest " << base::to_hex(summary.digest) << "  " << result.string() << std::endl;
    }
  }
  job_.write_end("done", "");
  log_next_command(job_.directory.root());
  for (auto& step : steps_) {
    step.stage->clean_up(request_);
  }
}

}  // namespace

base::ExitCode run_stages(JobParts& job) { return JobStages(job).run(); }

std::vector<std::string> export_stages(const RunDirectory& directory, const sweep::Job& job, const base::FileSet& files,
                                       const tokenizer::Tokenizer* tokenizer, const JournalCheck& check) {
  const parallel::Communicator nobody;
  const probes::StageRequest request{.job = job,
                                     .world = nobody,
                                     .directory = directory.root(),
                                     .files = files,
                                     .tokenizer = tokenizer,
                                     .show_step = {},
                                     .check_lease = {},
                                     .keep_earlier_end = {}};
  const auto stages = probes::kind_of(job).stages(job);
  std::vector<std::string> lines;
  for (const auto& stage : stages) {
    const auto probe = stage->reopen(request);
    const auto store = results::JournalStore::open(directory.root(), stage->name());
    if (stages.size() == 1 || !store.attempts().empty()) {
      check(store);
    }
    for (const auto& line : store.damage()) {
      base::log(base::LogLevel::warning, line);
    }
    const auto target = stage->file_on_request(job);
    if (!probe || !target || store.attempts().empty()) {
      continue;
    }
    const auto summary = export_stage(directory, job, *stage, *probe, store, nullptr);
    const auto total = probe->blocks().num_blocks();
    const auto scored = store.records().size();
    lines.push_back((directory.root() / target->name).string() + ": " + base::with_thousands(scored) + " of " +
                    base::counted(total, "block") + " scored" + (scored == total ? "" : ", NOT complete") +
                    "\ndigest " + base::to_hex(summary.digest));
  }
  if (lines.empty()) {
    throw base::InputError(base::describe("'" + directory.root().string() + "' holds nothing to export",
                                          "no block is in a journal yet", "continue it with 'stereosweep run'"));
  }
  return lines;
}

}  // namespace stereosweep::run
