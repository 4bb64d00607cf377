#include "app/RunCommand.hpp"

#include <boost/program_options/value_semantic.hpp>
#include <unistd.h>

#include <iostream>
#include <memory>

#include "app/CommandLine.hpp"
#include "base/Environment.hpp"
#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Profile.hpp"
#include "base/Text.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "run/Run.hpp"
#include "run/Scorer.hpp"
#include "run/Signals.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

/// Nothing if help was asked for and printed.
std::optional<run::RunRequest> parse(const Arguments& arguments) {
  options::options_description visible(
      "stereosweep run JOB_OR_DIR [key=value ...]: start a job, or continue what its directory holds.\n"
      "A directory of another job is refused. Options");
  visible.add_options()  //
      ("output", options::value<std::string>(),
       "directory of the run (default results/<name>); of a sweep: its parent")                                     //
      ("overwrite", "start anew: removes what an earlier run left in the directory")                                //
      ("reuse", options::value<std::string>(), "directory of an older run: blocks that both share are taken over")  //
      ("profile", "rank zero prints where its time went, at the end, on standard error; costs some speed on a GPU");
  const auto line = read_command_line(arguments, "run", visible, Places::one_and_overrides, "job");
  if (!line) {
    return std::nullopt;
  }
  run::RunRequest request;
  request.job = line->place;
  request.overrides = line->overrides;
  if (line->has("output")) {
    request.output = line->get<std::string>("output");
  }
  if (line->has("overwrite")) {
    request.existing = run::RunRequest::Existing::overwrite;
  }
  if (line->has("reuse")) {
    request.reuse = line->get<std::string>("reuse");
  }
  if (line->has("profile")) {
    base::profile::enable();
  }
  return request;
}

/// srun without PMIx starts as many runs of one rank as there are tasks, all for one directory.
void refuse_rivals() {
  const auto tasks = base::parse_integer(base::text_from_environment("SLURM_STEP_NUM_TASKS")).value_or(1);
  if (tasks > 1 && !parallel::launched_as_rank()) {
    throw base::InputError(
        base::describe("srun has started " + std::to_string(tasks) + " runs of one rank each",
                       "without PMIx its tasks do not know of each other",
                       "start them by srun --mpi=pmix, or by mpirun; where each task is to have a job of its own: "
                       "env -u SLURM_STEP_NUM_TASKS stereosweep run ..."));
  }
}

/// Other ranks wait for this one, which cannot go on: all end, with the cause in this rank's log.
[[noreturn]] void abandon_ship(const std::exception& error, base::ExitCode code) {
  base::log(base::LogLevel::error, error.what());
  parallel::abort_all_ranks(static_cast<int>(code));
}

int execute(const run::RunRequest& request, run::SignalWatcher& signals) {
  const run::SignalAction before_start(signals, run::leave_before_start);
  const parallel::MpiSession session;
  const auto& world = session.world();
  try {
    const auto code = static_cast<int>(run::run_jobs(request, world, signals));
    if (base::profile::is_enabled() && world.rank() == 0) {
      std::cerr << base::profile::report();
    }
    return code;
  } catch (const parallel::SharedError& error) {
    if (world.rank() == 0) {
      base::log(base::LogLevel::error, error.what());
    }
    return static_cast<int>(error.exit_code());
  } catch (const base::Error& error) {
    abandon_ship(error, error.exit_code());
  } catch (const std::exception& error) {
    abandon_ship(error, base::ExitCode::error);
  }
}

}  // namespace

int run_command(const Arguments& arguments) {
  const auto request = parse(arguments);
  if (!request) {
    return static_cast<int>(base::ExitCode::done);
  }
  refuse_rivals();
  run::SignalWatcher signals;
  const int code = execute(*request, signals);
  if (run::Scorer::any_abandoned()) {
    std::cout.flush();
    ::_exit(code);  // a block that took too long is still in work: destroying what it uses would crash
  }
  return code;
}

}  // namespace stereosweep::app
