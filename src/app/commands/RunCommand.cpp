#include <boost/program_options/value_semantic.hpp>
#include <unistd.h>

#include <iostream>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/process/Profile.hpp"
#include "base/text/Text.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/MpiSession.hpp"
#include "run/Run.hpp"
#include "run/ranks/Scorer.hpp"
#include "run/ranks/Signals.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

void add_run_options(options::options_description_easy_init add) {
  add("output", options::value<std::string>()->default_value("", ""),
      "directory of the run (default results/<name>); of a sweep: its parent");
  add("overwrite", "start anew: removes what an earlier run left in the directory");
  add("reuse", options::value<std::string>()->default_value("", ""),
      "directory of an older run: blocks that both share are taken over");
  add("time-limit", options::value<std::string>()->default_value("", ""),
      "stops before a block that would not end within this time of the start (minutes, MM:SS, HH:MM:SS, D-HH:MM:SS)");
  add("only", options::value<std::string>()->default_value("", ""),
      "of a sweep: one job, by its number from 1 or its name; for elements of a job array");
  add("profile", "rank zero prints where its time went, at the end, on standard error; costs some speed on a GPU");
}

std::optional<run::TimeLimit> time_limit_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto seconds = base::parse_time(text);
  base::refuse_if(!seconds, "--time-limit is no length of time", "'" + text + "'",
                  "Write minutes, MM:SS, HH:MM:SS or D-HH:MM:SS, as in 07:55:00.");
  const auto now = std::chrono::steady_clock::now();
  return run::TimeLimit{now, now + std::chrono::seconds(*seconds)};
}

base::ExitCode run_on_all_ranks(const run::RunRequest& request, run::SignalWatcher& signals) {
  const auto before_start = signals.act(run::leave_before_start);
  const parallel::MpiSession session;
  const auto& world = session.world();
  return parallel::end_on_all_ranks(world, [&] {
    const auto code = run::run_jobs(request, world, signals);
    if (base::profile::is_enabled() && world.rank() == 0) {
      std::cerr << base::profile::report();
    }
    return code;
  });
}

/// On every rank.
base::ExitCode execute_run(const CommandLine& line) {
  if (line.has("profile")) {
    base::profile::enable();
  }
  const run::RunRequest request{
      .job = line.place,
      .overrides = line.overrides,
      .output = line.get<std::string>("output"),
      .existing = line.has("overwrite") ? run::RunRequest::Existing::overwrite : run::RunRequest::Existing::resume,
      .reuse = line.get<std::string>("reuse"),
      .only = line.get<std::string>("only"),
      .time_limit = time_limit_of(line.get<std::string>("time-limit"))};
  run::SignalWatcher signals;
  const auto code = run_on_all_ranks(request, signals);
  if (run::Scorer::any_abandoned()) {
    std::cout.flush();
    ::_exit(
        static_cast<int>(code));  // a block that took too long is still in work: destroying what it uses would crash
  }
  return code;
}

}  // namespace

const Command run_command{
    "run",
    "start a job, or continue it",
    "stereosweep run JOB_OR_DIR [key=value ...]: start a job, or continue what its directory holds.\n"
    "A directory of another job is refused. Options",
    execute_run,
    Places::one_and_overrides,
    "job",
    add_run_options};

}  // namespace stereosweep::app
