#include "run/JobParts.hpp"

#include <utility>

#include "base/Error.hpp"
#include "base/File.hpp"
#include "config/JobDump.hpp"
#include "run/Signals.hpp"

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

JobParts::JobParts(const RunRequest& asked, sweep::Job job, std::string text, std::filesystem::path root,
                   const parallel::Communicator& ranks, SignalWatcher& watcher)
    : request(asked),
      job_text(std::move(text)),
      directory(std::move(root)),
      world(ranks),
      signals(watcher),
      scoring(std::make_shared<ScoringParts>()) {
  scoring->job = std::move(job);
}

void JobParts::open_status(const RunStatus& first) {
  auto file = std::make_unique<StatusFile>(directory.root(), first);
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
    leave_for_signal(signal, world.rank(),
                     [this](const StopOrder& order) { return write_end(order.state(), order.cause); });
  });
}

}  // namespace stereosweep::run
