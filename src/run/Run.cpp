#include "run/Run.hpp"

#include <algorithm>
#include <map>

#include "base/Lists.hpp"
#include "base/Log.hpp"
#include "base/Packing.hpp"
#include "base/files/File.hpp"
#include "base/files/HubCache.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "model/checkpoint/Safetensors.hpp"
#include "parallel/GpuBinding.hpp"
#include "probes/ProbeKind.hpp"
#include "run/DecidedRounds.hpp"
#include "run/OneJob.hpp"
#include "run/Settings.hpp"
#include "run/checks/MemoryCheck.hpp"
#include "run/checks/ModelCheck.hpp"
#include "run/directory/RunDirectory.hpp"
#include "run/ranks/Scorer.hpp"
#include "tokenizer/Tokenizer.hpp"

namespace stereosweep::run {
namespace {

namespace fs = std::filesystem;

struct PlannedJob {
  std::string dump;         ///< resolved
  std::string root;         ///< its run directory
  std::string model;        ///< that it reads: its location; empty: none
  std::string problem;      ///< why it cannot run here; empty: nothing is known against it
  std::string sibling;      ///< directory of an earlier job of the sweep with the same numbers; empty: none
  std::string reason;       ///< why the numbers are the same
  bool can_resume = false;  ///< the problem ends with the same command run again
};

/// The jobs of one request (a sweep has several): read, named and checked before the first starts.
struct PlannedJobs {
  std::string text;  ///< the file as written
  std::vector<PlannedJob> jobs;
};

// For messages: what rank zero has planned.
auto fields_of(base::Either<PlannedJob> auto& job) {
  return std::tie(job.dump, job.root, job.model, job.problem, job.sibling, job.reason);
}
auto fields_of(base::Either<PlannedJobs> auto& planned) { return std::tie(planned.text, planned.jobs); }

void require_usable_model(const sweep::Job& job, int node_ranks) {
  const auto place = base::checkpoint_place(job.model.location(), job.model.adapter);
  const auto files = base::read_checkpoint_files(place, base::CheckpointPart::all_files);
  const auto tokenizer = tokenizer::Tokenizer::from_files(files);
  probes::kind_of(job).make_probe(job, &tokenizer);
  require_mask(job, tokenizer);
  if (is_fake(job)) {
    return;
  }
  require_fitting(job, files);
  if (base::is_elmo(files)) {
    return;
  }
  model::read_stored_tensors(files);  // weights that are not there
  const bool on_gpu = job.execution.device != query::Device::cpu && parallel::count_gpus() > 0;
  if (!on_gpu) {  // what is free on a GPU is known once it is bound
    require_memory(job, files, node_memory(node_ranks, place));
  }
}

/// Where the job would end before its first block: throws what ends it, as far as that is quick to see: model,
/// tokenizer, headers of the weights, memory, input files, directory.
void require_startable(const RunRequest& request, int node_ranks, const sweep::Job& job, const fs::path& root) {
  if (request.existing != RunRequest::Existing::overwrite) {
    RunDirectory(root).require_same_job(job);
  }
  probes::kind_of(job).check_inputs(job);
  if (job.reads_model()) {
    require_usable_model(job, node_ranks);
  }
}

fs::path root_of(const RunRequest& request, const sweep::Job& job, std::size_t num_jobs) {
  auto root = request.output.empty() && fs::is_directory(request.job) ? request.job : request.output;
  return root.empty() ? fs::path("results") / job.name : num_jobs > 1 ? root / job.name : root;
}

/// Equal for jobs whose raw numbers are the same.
std::string numbers_of(const sweep::Job& job) {
  std::string text = config::canonical_raw_dump(job) + job.model.location() + '\n';
  if (!job.needs_model()) {
    for (const auto& [kind, path] : probes::kind_of(job).inputs(job)) {
      text += path;
    }
  }
  return text;
}

/// Jobs that would score what an earlier one scores.
void find_siblings(const std::vector<sweep::Job>& jobs, std::vector<PlannedJob>& planned) {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [known, is_new] = first.emplace(numbers_of(jobs[i]), i);
    if (!is_new) {
      planned[i].sibling = planned[known->second].root;
      planned[i].reason =
          jobs[i].seed == jobs[known->second].seed
              ? "nothing that differs changes a raw number"
              : "the probe '" + jobs[i].probe_name() + "' draws nothing here, so the seed changes no number";
    }
  }
}

void check_all(const RunRequest& request, int node_ranks, const std::vector<sweep::Job>& jobs,
               std::vector<PlannedJob>& planned) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    try {
      require_startable(request, node_ranks, jobs[i], planned[i].root);
    } catch (const base::Error& error) {
      planned[i].problem = error.what();
    }
  }
  const auto is_hopeless = [](const PlannedJob& job) { return !job.problem.empty(); };
  if (std::ranges::all_of(planned, is_hopeless)) {
    base::Problems problems;
    for (const auto& job : planned) {
      problems.add({}, job.root + ": " + job.problem, "");
    }
    problems.raise_if_any("no job of the sweep can run:");
  }
}

/// The job that --only names; throws InputError if there is none.
std::size_t place_of(const std::string& only, const std::vector<sweep::Job>& jobs) {
  const auto named = std::ranges::find(jobs, only, &sweep::Job::name);
  const auto number = named == jobs.end() ? base::parse_integer(only) : named - jobs.begin() + 1;
  if (number && *number >= 1 && *number <= std::ssize(jobs)) {
    return static_cast<std::size_t>(*number) - 1;
  }
  const auto names = base::mapped(jobs, &sweep::Job::name);
  base::refuse("--only " + only + " names no job of the sweep",
               "it has " + base::counted(jobs.size(), "job") + ": " + base::join(names, ", "),
               "Give a number from 1 to " + std::to_string(jobs.size()) + " or a name.");
}

/// What the runs that `job` names in statistics.decide have told the run that lies in `root`; false where it goes on no
/// such run. `directory`: of the job file.
bool take_told(sweep::Job& job, const fs::path& root, const fs::path& directory) {
  const RunDirectory before(root);
  const auto old = before.old_job();
  auto told = old && before.differences(job).empty() ? old->comparison.decide : std::nullopt;
  auto& own = job.comparison.decide;
  const auto is_same = [&](const std::string& kept, const std::string& named) {
    return kept == named || kept == (directory / named).lexically_normal().string();
  };
  if (!own || !told || told->after.has_value() != own->after.has_value() ||
      (own->after && !is_same(told->after->run, own->after->run)) || !is_same(told->plan.pilot, own->plan.pilot)) {
    return false;
  }
  told->plan = own->plan.pilot.empty() ? own->plan : told->plan;
  told->looks = own->looks;
  own->plan = told->plan;
  own = own->after ? told : own;  // a second job declares nothing else
  return true;
}

/// A run that goes on does not need the runs any more that its job names: its resolved job has what they told.
std::vector<sweep::Job> load_jobs(const RunRequest& request, const config::JobFile& source,
                                  const std::vector<std::string>& overrides) {
  try {
    return config::load_jobs(source, overrides);
  } catch (const base::InputError&) {
    std::vector<sweep::Job> jobs;
    try {
      jobs = config::load_jobs(source, overrides, {}, config::NamedRuns::left);
    } catch (const base::InputError&) {  // whose faults are among the others
    }
    const auto is_told = [&](sweep::Job& job) {
      return take_told(job, root_of(request, job, jobs.size()), source.directory);
    };
    if (jobs.empty() || request.existing == RunRequest::Existing::overwrite || !std::ranges::all_of(jobs, is_told)) {
      throw;
    }
    return jobs;
  }
}

/// The jobs with the date of the run that each goes on, where the template writes one that nobody has said.
std::vector<sweep::Job> load_dated_jobs(const RunRequest& request, const config::JobFile& source) {
  auto jobs = load_jobs(request, source, request.overrides);
  for (const auto& job : jobs) {
    if (decides(job)) {
      require_decidable(job);
    }
  }
  if (request.existing == RunRequest::Existing::overwrite && !base::is_requeued()) {
    return jobs;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& chat = jobs[i].model.chat;
    const auto before = chat && chat->origin && !chat->origin->date.empty()
                            ? RunDirectory(root_of(request, jobs[i], jobs.size())).old_job()
                            : std::nullopt;
    if (!before || !before->model.chat || !before->model.chat->origin ||
        before->model.chat->origin->date == chat->origin->date || chat->origin->date != base::utc_now().substr(0, 10)) {
      continue;
    }
    auto overrides = request.overrides;
    overrides.push_back("model.date=" + before->model.chat->origin->date);
    jobs[i] = load_jobs(request, source, overrides).at(i);
  }
  return jobs;
}

/// `node_ranks`: ranks of this node. Throws InputError for a file that cannot be used, and for a sweep of which no job
/// can run.
PlannedJobs plan_jobs(const RunRequest& request, int node_ranks) {
  const auto file = fs::is_directory(request.job) ? request.job / config::resolved_name : request.job;
  const auto source = config::read_job_file(file);
  const auto jobs = load_dated_jobs(request, source);
  PlannedJobs planned;
  const bool is_short = source.text.size() <= config::YamlLimits().max_bytes;
  planned.text = is_short ? source.text : "# as in job_resolved\n";  // the head of a journal has 16 MiB
  planned.jobs = base::mapped(jobs, [&](const auto& job) {
    const auto model = job.reads_model() ? job.model.location() : "";
    return PlannedJob{config::canonical_dump(job), root_of(request, job, jobs.size()).string(), model, "", "", ""};
  });
  if (!request.only.empty()) {
    planned.jobs = {planned.jobs[place_of(request.only, jobs)]};
  } else if (jobs.size() > 1) {
    find_siblings(jobs, planned.jobs);
    check_all(request, node_ranks, jobs, planned.jobs);
  }
  return planned;
}

/// What `run_jobs` was called with, and what became of each job.
class Sweep {
 public:
  Sweep(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals)
      : request_(request), world_(world), signals_(signals) {}

  base::ExitCode run() {
    signals_.know_ranks(world_);
    leave_on_signal();
    const int node_ranks = world_.node().size();
    planned_ = parallel::coordinated(world_, [&] { return leads() ? plan_jobs(request_, node_ranks) : PlannedJobs(); });
    planned_ = world_.broadcast(std::move(planned_), 0);
    auto& jobs = planned_.jobs;
    if (jobs.size() == 1) {
      return run_one(jobs.front(), OtherRanks::leave);
    }
    say_what_will_run();
    for (auto& job : jobs) {
      const auto code = job.problem.empty() ? run_or_note(job) : base::ExitCode::done;
      if (code != base::ExitCode::done) {
        return code;
      }
    }
    return say_what_ran();
  }

 private:
  bool leads() const { return world_.rank() == 0; }

  void say(base::LogLevel level, const std::string& line) const {
    if (leads()) {
      base::log(level, line);
    }
  }

  /// Until a job has an action of its own, and after one that has failed.
  void leave_on_signal() {
    on_signal_ = signals_.act([&](int) { return signals_.leave([](const StopOrder&) { return true; }); });
  }

  base::ExitCode run_one(const PlannedJob& planned, OtherRanks others) {
    leave_on_signal();
    auto job = parallel::coordinated(world_, [&] { return config::load_resolved(planned.dump, planned.root); });
    auto own = request_;
    if (const auto* sibling = sibling_of(planned)) {
      own.reuse = sibling->root;
      say(base::LogLevel::info, planned.root + ": the same numbers as " + sibling->root + " (" + planned.reason +
                                    "): its blocks are taken over");
    }
    model_.is_for_a_later_job = is_model_read_after(planned);
    JobParts parts(std::move(own), std::move(job), planned_.text, planned.root, world_, signals_, {others, model_});
    return run_one_job(parts);
  }

  /// Whether a job that comes after it reads the same model.
  bool is_model_read_after(const PlannedJob& planned) const {
    return std::any_of(&planned + 1, planned_.jobs.data() + planned_.jobs.size(), [&](const auto& later) {
      return later.problem.empty() && !later.model.empty() && later.model == planned.model;
    });
  }

  /// Where it has ended well.
  const PlannedJob* sibling_of(const PlannedJob& planned) const {
    const auto found = std::ranges::find(planned_.jobs, planned.sibling, &PlannedJob::root);
    return planned.sibling.empty() || found == planned_.jobs.end() || !found->problem.empty() ? nullptr : &*found;
  }

  /// A job that ends with an error does not keep the others of a sweep from running.
  base::ExitCode run_or_note(PlannedJob& planned) {
    try {
      return run_one(planned, OtherRanks::stay);
    } catch (const parallel::SharedError& error) {
      if (world_.any(Scorer::any_abandoned())) {
        throw;  // a thread of this job is still at work with what the next one would need
      }
      planned.problem = error.what();
      planned.can_resume = error.exit_code() == base::ExitCode::resume;
      say(base::LogLevel::error, planned.root + ": " + planned.problem);
      return base::ExitCode::done;
    }
  }

  void say_what_will_run() const {
    say(base::LogLevel::info,
        "a sweep of " + base::counted(planned_.jobs.size(), "job") + ", each with a directory of its own:");
    for (const auto& job : planned_.jobs) {
      const bool runs = job.problem.empty();
      say(runs ? base::LogLevel::info : base::LogLevel::error,
          "  " + job.root + (runs ? "" : "  CANNOT RUN: " + job.problem));
    }
  }

  base::ExitCode say_what_ran() const {
    const auto failed = std::ranges::count_if(planned_.jobs, [](const auto& job) { return !job.problem.empty(); });
    say(failed == 0 ? base::LogLevel::info : base::LogLevel::error,
        "the sweep: " + std::to_string(planned_.jobs.size() - static_cast<std::size_t>(failed)) + " of " +
            base::counted(planned_.jobs.size(), "job") + " done");
    for (const auto& job : planned_.jobs) {
      const bool done = job.problem.empty();
      say(done ? base::LogLevel::info : base::LogLevel::error,
          (done ? "  done        " : "  NOT DONE    ") + job.root + (done ? "" : ": " + job.problem));
    }
    const bool can_resume = std::ranges::any_of(planned_.jobs, &PlannedJob::can_resume);
    return failed == 0 ? base::ExitCode::done : can_resume ? base::ExitCode::resume : base::ExitCode::error;
  }

  const RunRequest& request_;
  const parallel::Communicator& world_;
  SignalWatcher& signals_;
  PlannedJobs planned_;
  KeptModel model_;
  std::shared_ptr<void> on_signal_;
};

}  // namespace

base::ExitCode run_jobs(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals) {
  base::set_log_rank(world.size() > 1 ? world.rank() : -1);
  base::set_fault_rank(world.rank());
  return Sweep(request, world, signals).run();
}

}  // namespace stereosweep::run
