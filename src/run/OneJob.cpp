#include "run/OneJob.hpp"

#include <fstream>
#include <utility>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"
#include "hdf5/File.hpp"
#include "parallel/MpiSession.hpp"
#include "probes/ProbeKind.hpp"
#include "run/JobStages.hpp"
#include "server/ServerEngine.hpp"

namespace stereosweep::run {
namespace {

using parallel::coordinated;

/// Of an earlier attempt; nothing where it cannot be read.
std::optional<RunStatus> earlier_status(const std::filesystem::path& root) {
  try {
    return read_status(root);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

/// Which run directories this start has opened, for the batch script, which reads the ends there (slurm/step.sh).
void tell_batch_script(const std::filesystem::path& root) {
  if (const auto file = base::text_from_environment("STEREOSWEEP_STARTS"); !file.empty()) {
    std::ofstream(file, std::ios::app) << "in " << std::filesystem::absolute(root).string() << '\n';
  }
}

/// --overwrite was given, and this is no restart by Slurm.
bool starts_anew(const RunRequest& request) {
  return request.existing == RunRequest::Existing::overwrite && !base::is_requeued();
}

/// Before --overwrite touches anything: what an older run holds is not to be lost by a slip.
void check_reuse(const JobParts& parts) {
  const auto& reuse = parts.request.reuse;
  if (reuse.empty()) {
    return;
  }
  require_reusable(reuse);
  std::error_code ignored;
  base::refuse_if(std::filesystem::equivalent(reuse, parts.directory.root(), ignored),
                  "--overwrite would delete what --reuse " + reuse.string() + " names", "", "give another --output");
}

/// Rank zero.
void open_directory(JobParts& parts) {
  auto& directory = parts.directory;
  directory.require_no_foreign_files();
  const bool anew = starts_anew(parts.request);
  if (anew) {
    directory.require_removable();
    check_reuse(parts);
  } else {
    directory.require_same_job(parts.job());
  }
  directory.create();
  parts.lease.emplace(directory.root());
  std::vector<std::string> replaced;
  if (!anew) {
    directory.require_same_job(parts.job());  // again: whoever held the lock may have started another job
    replaced = directory.differences(parts.job());
    if (!replaced.empty()) {
      directory.remove_run_files();
    }
  }
  base::set_log_file(directory.log().string());
  if (!replaced.empty()) {
    base::log(base::LogLevel::info, directory.root().string() + ": an earlier start of another job (" +
                                        first_few(replaced) + ") had scored nothing, and is replaced");
  }
  if (const auto& locks = hdf5::switch_off_file_locks(); !locks.empty()) {
    base::log(base::LogLevel::info,
              "HDF5_USE_FILE_LOCKING=" + locks + " is ignored: this program has locks of its own");
  }
  for (const auto& warning : probes::kind_of(parts.job()).warnings(parts.job())) {
    base::log(base::LogLevel::warning, warning);
  }
  if (!base::active_faults().empty()) {
    base::log(base::LogLevel::warning, "faults are injected: STEREOSWEEP_INJECT=" + base::active_faults());
  }
  if (base::is_requeued() && parts.request.existing == RunRequest::Existing::overwrite) {
    base::log(base::LogLevel::warning, "--overwrite is ignored: Slurm has started this job again, so it is continued");
  }
  const auto earlier = earlier_status(directory.root());
  // an .h5 alone may be a partial one (`stereosweep export` of a run)
  parts.exported = earlier && earlier->state == "done";
  if (earlier) {
    parts.old_status = base::read_file(directory.status());
  }
  if (parts.exported || anew) {
    parts.keep_earlier_end();
  }
  // What an earlier attempt has finished stands until the journal is read: this one may end before.
  auto status = anew ? RunStatus() : earlier.value_or(RunStatus());
  status.state = RunStatus().state;
  status.cause.clear();
  status.slowest.clear();
  status.cells_per_second = status.tokens_per_second = status.seconds_left = 0;
  status.name = parts.job().name;
  status.num_ranks = parts.world.size();
  status.started = base::utc_now();
  parts.open_status(status);
  tell_batch_script(directory.root());
  if (!base::is_there(directory.resolved_job())) {
    parts.write_resolved_job();
  }
}

/// Rank zero. The old run goes only now that the new one can begin.
void begin_anew(JobParts& parts) {
  const auto& directory = parts.directory;
  parts.lease->check();
  directory.remove_run_files();
  parts.exported = false;
  parts.old_status.clear();
  parts.forget_earlier_end();
  base::set_log_file(directory.log().string());
  parts.status->update([](RunStatus&) {});
  parts.write_resolved_job();
}

void prepare(JobParts& parts) {
  parts.stop_at_once_on_signal();
  parts.on_rank_zero([&] { open_directory(parts); }, "open_directory");
  require_tensor_ranks(parts.world, parts.job().execution.tensor_parallel);  // before anything is read
  auto& model = parts.sweep.model;
  parts.settings = read_model(*parts.scoring, model, parts.world, ModelUse::run);
  parts.gpus = parts.world.gather_everywhere(parts.scoring->gpu.name);
  if (!model.is_for_a_later_job) {
    model = {};  // the job itself has the files
  }
  parts.on_rank_zero([&] {
    const auto& server = parts.job().model.server;
    if (const auto warning = server ? server::missing_name(*server) : ""; !warning.empty()) {
      base::log(base::LogLevel::warning, warning);
    }
    if (starts_anew(parts.request)) {
      begin_anew(parts);
    }
  });
}

}  // namespace

JobParts::JobParts(RunRequest asked, sweep::Job job, std::string text, std::filesystem::path root,
                   const parallel::Communicator& ranks, SignalWatcher& watcher, const SweepParts& jobs)
    : request(std::move(asked)),
      job_text(std::move(text)),
      directory(std::move(root)),
      world(ranks),
      signals(watcher),
      sweep(jobs),
      scoring(std::make_shared<ScoringParts>()) {
  scoring->job = std::move(job);
}

void JobParts::open_status(const RunStatus& first) {
  const std::lock_guard lock(end_mutex_);
  status = std::make_unique<StatusFile>(directory.root(), first);
}

void JobParts::keep_earlier_end() {
  const std::lock_guard lock(end_mutex_);
  true_end_ = old_status;
}

void JobParts::forget_earlier_end() {
  const std::lock_guard lock(end_mutex_);
  true_end_.clear();
}

bool JobParts::write_end(const std::string& state, const std::string& cause) {
  const std::lock_guard lock(end_mutex_);
  const bool is_first = !std::exchange(has_ended_, true);
  if (!status || (lease && lease->is_overtaken())) {
    return is_first;  // the status is another attempt's
  }
  if (!is_first) {
    status->update([&](RunStatus& now) { now.cause = now.cause.empty() ? cause : now.cause; });
  } else if (!true_end_.empty()) {
    status->put_back(true_end_);
  } else {
    status->update([&](RunStatus& now) {
      now.state = state;
      now.cause = cause;
      now.seconds_left = 0;
    });
  }
  return is_first;
}

void JobParts::write_resolved_job() const {
  lease->check();
  const auto text = config::canonical_dump(job());
  if (!base::is_there(directory.resolved_job()) || base::read_file(directory.resolved_job()) != text) {
    base::write_file_atomically(directory.resolved_job(), text);
  }
}

void JobParts::stop_at_once_on_signal() {
  on_signal_ = signals.act([this](int) {
    return signals.leave([this](const StopOrder& order) {
      std::unique_lock lock(end_mutex_);
      const bool leaves = write_end(order.state(), order.cause);
      if (leaves) {
        lock.release();  // for good: the main thread writes nothing more
      }
      return leaves;
    });
  });
}

void JobParts::remember_signals() {
  on_signal_ = signals.act([this](int) {
    const std::lock_guard lock(end_mutex_);
    if (status && !has_ended_ && !lease->is_overtaken()) {
      status->update([&, order = signals.order()](RunStatus& now) {
        if (now.cause.empty() && !now.has_ended()) {
          now.state = order.lost ? order.state() : "stopping";
          now.cause = order.cause;
        }
      });
    }
    return SignalWatcher::Next::nothing;
  });
}

base::ProcessorLoan JobParts::lend_processors() const {
  std::vector<std::string> own;
  for (const auto& rank : signals.ranks()) {
    if (rank.host == parallel::host_name()) {
      own.push_back(rank.processors);
    }
  }
  return base::ProcessorLoan(own);
}

bool JobParts::let_others_leave() {
  if (sweep.others == OtherRanks::stay || world.size() == 1) {
    return true;
  }
  coordinated(world, [] {});  // ends where a rank hangs; ending MPI would wait for it without a limit
  const bool goes_on = leads();
  signals.let_ranks_leave();
  parallel::end_mpi();
  if (goes_on) {
    world = {};
  }
  return goes_on;
}

base::ExitCode run_one_job(JobParts& parts) {
  try {
    prepare(parts);
    return run_stages(parts);
  } catch (const std::exception& error) {
    const bool is_lost = base::exit_code_of(error) == base::ExitCode::resume;  // a rank that does not come
    parts.write_end(is_lost ? "lost" : "failed", base::message_of(error));
    throw;
  }
}

}  // namespace stereosweep::run
