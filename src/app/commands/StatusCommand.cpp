#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"
#include "parallel/MpiSession.hpp"
#include "run/directory/Lease.hpp"
#include "run/directory/StatusFile.hpp"
#include "run/ranks/Progress.hpp"

namespace stereosweep::app {
namespace {

namespace fs = std::filesystem;

/// A run that goes on writes every few seconds while blocks are scored.
constexpr std::chrono::minutes longest_silence{5};

/// Of this machine: the writer of the status has certainly ended. The lock tells it, also to another container, where
/// its number means nothing; the number counts where the file system has no locks.
bool died_here(const run::RunStatus& read, const fs::path& directory) {
  if (const auto held = run::is_held(directory)) {
    return !*held;
  }
  return ::kill(static_cast<pid_t>(read.process), 0) != 0 && errno == ESRCH;
}

/// "RUNNING", "PENDING", ...; "" for a job that Slurm has forgotten; nothing where Slurm does not answer.
std::optional<std::string> state_in_slurm(const std::string& job) {
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  const auto line = "timeout 10 squeue --noheader --states=all --format=%T --jobs=" + job + " 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(line.c_str(), "r"), ::pclose);
  std::array<char, 200> text{};
  const bool any = pipe && std::fgets(text.data(), text.size(), pipe.get()) != nullptr;
  const std::string answer(base::trim(any ? text.data() : ""));
  if (answer.find("Invalid job id") != std::string::npos) {
    return "";
  }
  const bool is_state = !answer.empty() && answer.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
  return is_state ? std::optional(answer) : std::nullopt;
}

std::chrono::seconds age_of(const std::string& utc) {
  std::tm time{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time) == nullptr) {
    return std::chrono::seconds(0);
  }
  return std::chrono::seconds(std::time(nullptr) - ::timegm(&time));
}

/// What a state hides whose writer has ended without a word; empty if all is as it says.
std::string remark(const run::RunStatus& read, const fs::path& directory) {
  if (read.has_ended()) {
    return "";
  }
  constexpr const char* advice = ": run the same command again";
  if (read.host == parallel::host_name()) {
    return died_here(read, directory) ? ", but process " + std::to_string(read.process) + " is gone (killed)" + advice
                                      : "";
  }
  if (const auto slurm = state_in_slurm(read.slurm_job)) {
    if (*slurm == "PENDING") {
      return ", but Slurm job " + read.slurm_job + " waits to be started again";
    }
    if (*slurm != "RUNNING" && *slurm != "COMPLETING" && *slurm != "SUSPENDED") {
      return ", but Slurm job " + read.slurm_job + " has ended (" + (slurm->empty() ? "forgotten by Slurm" : *slurm) +
             ")" + advice;
    }
  }
  if (const auto age = age_of(read.updated); age > longest_silence) {
    const auto minutes = static_cast<std::uint64_t>(age / std::chrono::minutes(1));
    return ", but nothing was written for " + base::counted(minutes, "minute") +
           (read.state == "running" || read.state == "stopping" ? ": probably killed" : ": perhaps killed") +
           "; if it is gone from " + read.host + ", run the same command again";
  }
  return "";
}

std::string journal_line(const fs::path& directory) {
  std::uint64_t attempts = 0;
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& path : base::tree_of(directory / "journal", ignored)) {
    if (path.extension() == ".log") {
      ++attempts;
      const auto size = fs::file_size(path, ignored);
      bytes += ignored ? 0 : size;  // it may have been removed since
    }
  }
  return base::counted(attempts, "attempt") + ", " + base::counted(bytes, "byte");
}

/// Reads status.json and the journals' sizes; touches nothing.
void print_status(const fs::path& place) {
  const auto status = run::read_status(place);
  base::refuse_if(!status, "no run in " + place.string(), "it holds no status.json", folder_advice);
  std::cout << "run      " << base::printable(status->name) << '\n'
            << "state    " << base::printable(status->state) << base::printable(remark(*status, place)) << '\n';
  if (!status->cause.empty()) {
    std::cout << "cause    " << base::printable(status->cause) << '\n';
  }
  std::cout << "progress " << base::printable(run::progress_line(*status)) << '\n'
            << "work     " << run::work_text(status->cost) << '\n'
            << "journal  " << journal_line(place) << '\n'
            << "process  " << status->process << " on " << base::printable(status->host) << ", "
            << base::counted(static_cast<std::uint64_t>(status->num_ranks), "rank") << '\n'
            << "started  " << base::printable(status->started) << ", updated " << base::printable(status->updated)
            << '\n';
}

/// Of the run, or of each run of a sweep.
base::ExitCode execute_status(const CommandLine& line) {
  std::ranges::for_each(line.places, refuse_job_file);
  const auto runs = runs_of(line.places);
  for (const auto& run : runs) {
    std::cout << (&run == &runs.front() ? "" : "\n");
    print_status(run);
  }
  return base::ExitCode::done;
}

}  // namespace

const Command status_command{
    "status",
    "what a run does, from another shell",
    "stereosweep status DIR...: what the run in DIR does, or how it ended; of a sweep (its folder or name) each run",
    execute_status,
    Places::one_and_overrides,
    "run directory"};

}  // namespace stereosweep::app
