#include "run/Run.hpp"

#include <algorithm>
#include <optional>

#include "base/FaultInjection.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "config/JobLoader.hpp"
#include "parallel/Communicator.hpp"
#include "run/OneJob.hpp"
#include "run/Scorer.hpp"
#include "run/Signals.hpp"
#include "run/Sweep.hpp"

namespace stereosweep::run {
namespace {

/// What `run_jobs` was called with, and what became of each job.
class Sweep {
 public:
  Sweep(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals)
      : request_(request), world_(world), signals_(signals) {}

  base::ExitCode run() {
    leave_on_signal();
    const int node_ranks = world_.node().size();
    auto bytes = parallel::coordinated(world_, [&] {
      return world_.rank() == 0 ? encode(plan_jobs(request_, node_ranks)) : std::vector<std::byte>();
    });
    planned_ = decode_jobs(world_.broadcast(std::move(bytes), 0));
    auto& jobs = planned_.jobs;
    if (jobs.size() == 1) {
      return run_one(jobs.front());
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
    on_signal_.emplace(signals_, [rank = world_.rank()](int signal) { leave_for_signal(signal, rank); });
  }

  base::ExitCode run_one(const PlannedJob& planned) {
    leave_on_signal();
    auto job = parallel::coordinated(world_, [&] { return config::load_resolved(planned.dump, planned.root); });
    auto own = request_;
    if (const auto* sibling = sibling_of(planned)) {
      own.reuse = sibling->root;
      say(base::LogLevel::info, planned.root + ": the same numbers as " + sibling->root + " (" + planned.reason +
                                    "): its blocks are taken over");
    }
    OneJob one(own, std::move(job), planned_.text, planned.root, world_, signals_);
    return one.run();
  }

  /// Where it has ended well.
  const PlannedJob* sibling_of(const PlannedJob& planned) const {
    const auto found = std::ranges::find(planned_.jobs, planned.sibling, &PlannedJob::root);
    return planned.sibling.empty() || found == planned_.jobs.end() || !found->problem.empty() ? nullptr : &*found;
  }

  /// A job that ends with an error does not keep the others of a sweep from running.
  base::ExitCode run_or_note(PlannedJob& planned) {
    try {
      return run_one(planned);
    } catch (const parallel::SharedError& error) {
      if (world_.any(Scorer::any_abandoned())) {
        throw;  // a thread of this job is still at work with what the next one would need
      }
      planned.problem = error.what();
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
    return failed == 0 ? base::ExitCode::done : base::ExitCode::error;
  }

  const RunRequest& request_;
  const parallel::Communicator& world_;
  SignalWatcher& signals_;
  PlannedJobs planned_;
  std::optional<SignalAction> on_signal_;
};

}  // namespace

base::ExitCode run_jobs(const RunRequest& request, const parallel::Communicator& world, SignalWatcher& signals) {
  base::set_log_rank(world.size() > 1 ? world.rank() : -1);
  base::set_fault_rank(world.rank());
  return Sweep(request, world, signals).run();
}

}  // namespace stereosweep::run
