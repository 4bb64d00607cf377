#include "run/ranks/Signals.hpp"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <array>

#include "base/Log.hpp"
#include "base/process/Environment.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::run {
namespace {

constexpr std::array<int, 5> watched = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};

/// nohup's wish, made before this program was started.
bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// A launcher sends its signals to all ranks, and rank zero tells of them. What somebody else sends to one rank only
/// that rank knows; when it ends by it, the launcher sends TERM to the others.
void tell_sender(const siginfo_t& signal) {
  const auto rank = base::text_from_environment("PMIX_RANK");
  if (!rank.empty() && signal.si_code == SI_USER && signal.si_pid != 0 && signal.si_pid != ::getppid()) {
    base::log(base::LogLevel::warning, "signal " + signal_name(signal.si_signo) + " on rank " + rank +
                                           ", sent by process " + std::to_string(signal.si_pid));
  }
}

}  // namespace

SignalWatcher::SignalWatcher() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};  // a shell's background job has INT ignored: then it would never be seen
  ::sigemptyset(&set_);
  for (const int number : watched) {
    if (number != SIGHUP || !is_ignored(number)) {
      ::sigaction(number, &nothing, nullptr);
      ::sigaddset(&set_, number);
    }
  }
  ::signal(SIGPIPE, SIG_IGN);  // who read the messages has gone: the log still has them
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void SignalWatcher::watch() {
  while (true) {
    siginfo_t signal{};
    const int number = ::sigwaitinfo(&set_, &signal);
    if (number < 0) {
      continue;
    }
    if (ending_) {
      return;
    }
    tell_sender(signal);
    int none = 0;
    received_.compare_exchange_strong(none, number);
    const std::lock_guard lock(mutex_);
    if (action_) {
      action_(number);
    }
  }
}

void SignalWatcher::set_action(const void* owner, std::function<void(int)> action) {
  const std::lock_guard lock(mutex_);
  owner_ = owner;
  action_ = std::move(action);
  if (received_ != 0) {
    action_(received_);
  }
}

SignalAction::SignalAction(SignalWatcher& watcher, std::function<void(int)> action) : watcher_(watcher) {
  watcher_.set_action(this, std::move(action));
}

SignalAction::~SignalAction() {
  const std::lock_guard lock(watcher_.mutex_);
  if (watcher_.owner_ == this) {
    watcher_.owner_ = nullptr;
    watcher_.action_ = nullptr;
  }
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? name : std::to_string(number);
}

StopOrder stop_for_signal(int signal, const std::string& rank) {
  return {base::ExitCode::resume, "signal " + signal_name(signal) + " on " + rank};
}

void leave_before_start(int signal) {
  if (const auto rank = base::text_from_environment("PMIX_RANK"); rank.empty() || rank == "0") {
    base::log(base::LogLevel::warning, "signal " + signal_name(signal) + " before MPI had started: " + how_to_go_on);
  }
  ::_exit(static_cast<int>(base::ExitCode::resume));
}

void leave_for_signal(int signal, int rank, const std::function<bool(const StopOrder&)>& begin_end) {
  auto order = stop_for_signal(signal, "rank " + std::to_string(rank) + " on " + parallel::host_name());
  if (signal == SIGTERM && parallel::launched_as_rank()) {
    order.cause += " (launchers also send it when a rank has died)";
  }
  if (!begin_end(order)) {
    return;
  }
  if (rank == 0) {
    base::log(base::LogLevel::warning, order.cause + ": " + how_to_go_on);
  }
  ::_exit(static_cast<int>(order.exit_code));
}

}  // namespace stereosweep::run
