#include "app/StatusCommand.hpp"

#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <iostream>

#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/Text.hpp"
#include "parallel/MpiSession.hpp"
#include "run/Lease.hpp"
#include "run/Progress.hpp"
#include "run/StatusFile.hpp"

namespace stereosweep::app {
namespace {

namespace fs = std::filesystem;

/// Whether the writer of the status has certainly ended without saying so. Its number may meanwhile be another
/// process's: then the lock tells.
bool died(const run::ReadStatus& read, const fs::path& directory) {
  const auto& state = read.status.state;
  if (state == "done" || state == "stopped" || state == "failed" || read.host != parallel::host_name()) {
    return false;
  }
  const bool gone = ::kill(static_cast<pid_t>(read.process), 0) != 0 && errno == ESRCH;
  return gone || run::is_held(directory) == false;
}

std::string journal_line(const fs::path& directory) {
  std::uint64_t attempts = 0;
  std::uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(directory / "journal", ignored)) {
    if (entry.path().extension() == ".log") {
      ++attempts;
      bytes += entry.file_size(ignored);
    }
  }
  return base::counted(attempts, "attempt") + ", " + base::counted(bytes, "byte");
}

}  // namespace

int status_command(const Arguments& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--help") {
    std::cout << "stereosweep status DIR: what the run in DIR does, or how it ended\n";
    return static_cast<int>(base::ExitCode::done);
  }
  if (arguments.size() != 1) {
    throw base::InputError(base::describe("status takes one directory", "see stereosweep status --help"));
  }
  refuse_job_file(arguments[0]);
  const auto read = run::read_status(arguments[0]);
  if (!read) {
    refuse_folder_of_runs(arguments[0]);
    throw base::InputError(base::describe("no run in " + arguments[0], "it holds no status.json"));
  }
  const auto& status = read->status;
  std::cout << "run      " << status.name << '\n' << "state    " << status.state;
  if (died(*read, arguments[0])) {
    std::cout << ", but process " << read->process << " is gone (killed): run the same command again";
  }
  std::cout << '\n';
  if (!status.cause.empty()) {
    std::cout << "cause    " << status.cause << '\n';
  }
  std::cout << "progress " << run::progress_line(status) << '\n'
            << "work     " << run::work_text(status.cost) << '\n'
            << "journal  " << journal_line(arguments[0]) << '\n'
            << "process  " << read->process << " on " << read->host << ", "
            << base::counted(static_cast<std::uint64_t>(status.num_ranks), "rank") << '\n'
            << "started  " << status.started << ", updated " << read->updated << '\n';
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
