#include "run/JobParts.hpp"

#include <utility>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "config/JobDump.hpp"
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
    heartbeat->set_report([this](const std::string& cause) { write_end("lost", cause); });
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

void JobParts::open_status(const RunStatus& first) {
  auto file = std::make_shared<StatusFile>(directory.root(), first);
  const std::lock_guard lock(end_mutex_);
  status = std::move(file);
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
    add_cause(*status, cause);
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
  base::write_file_atomically(directory.resolved_job(), config::canonical_dump(job()));
}

void JobParts::stop_at_once_on_signal() {
  on_signal_.emplace(signals, [this](int signal) {
    leave_for_signal(signal, world.rank(), heartbeat,
                     [this](const StopOrder& order) { return write_end(order.state(), order.cause); });
  });
}

}  // namespace stereosweep::run
