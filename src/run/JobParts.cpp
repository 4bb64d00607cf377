#include "run/JobParts.hpp"

#include "base/Error.hpp"
#include "base/File.hpp"
#include "base/Log.hpp"
#include "config/JobDump.hpp"
#include "results/Seal.hpp"
#include "run/EarlyEnds.hpp"

namespace stereosweep::run {
namespace {

/// The first cause is the true one.
void add_cause(StatusFile& status, const std::string& cause) {
  status.update([&](RunStatus& now) {
    if (now.cause.empty()) {
      now.cause = cause;
    }
  });
}

}  // namespace

JobParts::JobParts(const RunRequest& asked, domain::Job job, std::string text, std::filesystem::path root,
                   const parallel::Communicator& ranks, SignalWatcher& watcher, parallel::Heartbeat* signs_of_life)
    : request(asked),
      job_text(std::move(text)),
      directory(std::move(root)),
      world(ranks),
      signals(watcher),
      heartbeat(signs_of_life),
      scoring(std::make_shared<ScoringParts>()) {
  scoring->job = std::move(job);
  if (heartbeat != nullptr && leads()) {
    heartbeat->set_report([this](const std::string& cause) { write_loss(cause); });
  }
}

JobParts::~JobParts() {
  if (heartbeat != nullptr && leads()) {
    heartbeat->set_report([last = status](const std::string& cause) {
      if (last) {
        add_cause(*last, cause);
      }
    });
  }
}

void JobParts::write_loss(const std::string& cause) {
  if (is_done) {
    add_cause(*status, cause);
  } else {
    write_end("lost", cause);
  }
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
    leave_for_signal(signal, world.rank(), heartbeat,
                     [this](const StopOrder& order) { write_end(order.state(), order.cause); });
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
