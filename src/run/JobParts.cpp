#include "run/JobParts.hpp"

#include <unistd.h>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "config/JobDump.hpp"
#include "results/Seal.hpp"

namespace stereosweep::run {

JobParts::JobParts(const RunRequest& asked, domain::Job job, std::string text, std::filesystem::path root,
                   const parallel::Communicator& ranks, SignalWatcher& watcher)
    : request(asked),
      job_text(std::move(text)),
      directory(std::move(root)),
      world(ranks),
      signals(watcher),
      scoring(std::make_shared<ScoringParts>()) {
  scoring->job = std::move(job);
}

void JobParts::write_end(const std::string& state, const std::string& cause) {
  is_done = state == "done";
  if (status && !true_end.empty()) {
    status->put_back(true_end);
  } else if (status) {
    status->update([&](RunStatus& now) {
      now.state = state;
      now.cause = cause;
      now.seconds_left = 0;
    });
  }
}

void JobParts::write_resolved_job() const {
  base::write_file_atomically(directory.resolved_job(), config::canonical_dump(job()));
}

void JobParts::stop_at_once_on_signal() {
  signals.set_action([this](int signal) {
    if (is_done) {
      return;  // the result stands: nothing is left to stop
    }
    write_end("stopped", "signal " + signal_name(signal) + " on rank " + std::to_string(world.rank()));
    ::_exit(static_cast<int>(base::ExitCode::resume));
  });
}

bool is_intact(const std::filesystem::path& file) {
  try {
    results::check_seal(file);
    return true;
  } catch (const base::InputError& error) {
    base::log(base::LogLevel::warning, std::string(error.what()) + ": writing it anew from the journal");
    return false;
  }
}

}  // namespace stereosweep::run
