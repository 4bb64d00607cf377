#include "run/ranks/Signals.hpp"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/Log.hpp"
#include "base/process/Environment.hpp"

namespace stereosweep::run {
namespace {

constexpr std::array<int, 5> watched = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};

/// nohup's wish, made before this program was started.
bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// How long the other ranks live on for rank zero: more than mpirun's time between TERM and KILL.
constexpr Seconds time_to_tell{5};

/// The launcher's number, or the parent's.
pid_t find_sender_for_all() {
  const auto launcher = parallel::find_launcher();
  return launcher ? static_cast<pid_t>(launcher->number) : ::getppid();
}

}  // namespace

SignalWatcher::SignalWatcher() : launcher_(find_sender_for_all()) {
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
  constexpr timespec moment{0, 10'000'000};
  while (true) {
    siginfo_t signal{};
    const int number = received_ == 0 ? ::sigwaitinfo(&set_, &signal) : ::sigtimedwait(&set_, &signal, &moment);
    if (ending_) {
      return;
    }
    const std::lock_guard lock(mutex_);
    if (number > 0) {
      take(signal);
    }
    if (received_ != 0 && action_ && action_(received_) == Next::nothing) {
      action_ = nullptr;
    }
  }
}

/// A launcher sends its signals to all ranks, and rank zero tells of them. What somebody else sends to one rank only
/// that rank knows; when it ends by it, the launcher sends TERM to the others.
void SignalWatcher::take(const siginfo_t& signal) {
  const auto rank = base::text_from_environment("PMIX_RANK");
  if (!rank.empty() && signal.si_code == SI_USER && signal.si_pid != 0 && signal.si_pid != launcher_) {
    base::log(base::LogLevel::warning, "signal " + signal_name(signal.si_signo) + " on rank " + rank +
                                           ", sent by process " + std::to_string(signal.si_pid));
    if (rank_ > 0 && ranks_.front().is_seen_alive()) {
      ::sigqueue(static_cast<pid_t>(ranks_.front().process.number), signal.si_signo, {.sival_int = rank_});
    }
  }
  if (received_ == 0) {
    const auto told = static_cast<std::size_t>(signal.si_code == SI_QUEUE ? signal.si_value.sival_int : 0);
    const bool is_true = told < ranks_.size() && ranks_[told].process.number == signal.si_pid;
    signalled_rank_ = is_true ? ranks_[told].name : "rank " + std::to_string(rank_) + " on " + parallel::host_name();
    launcher_sent_it_ = parallel::launched_as_rank() && (signal.si_pid == launcher_ || signal.si_pid == 0);
    when_ = Clock::now();
    received_ = signal.si_signo;
  }
}

std::shared_ptr<void> SignalWatcher::act(Action action) {
  const std::lock_guard lock(mutex_);
  const int number = ++newest_action_;
  action_ = std::move(action);
  if (received_ != 0 && action_(received_) == Next::nothing) {
    action_ = nullptr;
  }
  return {nullptr, [this, number](void*) {
            const std::lock_guard end(mutex_);
            if (number == newest_action_) {
              action_ = nullptr;
            }
          }};
}

void SignalWatcher::know_ranks(const parallel::Communicator& world) {
  auto ranks = parallel::places_of(world);
  const std::lock_guard lock(mutex_);
  rank_ = world.rank();
  ranks_ = std::move(ranks);
}

void SignalWatcher::let_ranks_leave() {
  const std::lock_guard lock(mutex_);
  ranks_may_leave_ = true;
}

StopOrder SignalWatcher::order() const {
  const auto has_died = [&](const parallel::RankPlace& rank) {
    return rank.is_seen_dead() && !(ranks_may_leave_ && rank.watch->wait_status().value_or(0) == 0);
  };
  if (const auto dead = std::ranges::find_if(ranks_, has_died); received_ == SIGTERM && dead != ranks_.end()) {
    return stop_for_death(*dead);
  }
  auto order = stop_for_signal(received_, signalled_rank_);
  if (received_ == SIGTERM && launcher_sent_it_ && ranks_.size() > 1) {
    order.cause += !ranks_may_leave_ && std::ranges::all_of(ranks_, &parallel::RankPlace::visible)
                       ? " (from the launcher, while all ranks lived: it was told to end, or a rank has aborted)"
                       : " (launchers also send it when a rank has died)";
  }
  return order;
}

SignalWatcher::Next SignalWatcher::leave(const std::function<bool(const StopOrder&)>& begin_end) {
  if (rank_ > 0) {
    const auto& zero = ranks_.front();
    if (zero.is_seen_alive() && since(when_) < time_to_tell) {
      return Next::again;
    }
    ::_exit(static_cast<int>(base::ExitCode::resume));
  }
  const auto why = order();
  if (!begin_end(why)) {
    return Next::nothing;
  }
  const bool may_go_on = why.exit_code == base::ExitCode::resume;
  base::log(may_go_on ? base::LogLevel::warning : base::LogLevel::error, why.cause + ": " + how_to_go_on);
  ::_exit(static_cast<int>(why.exit_code));
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? name : std::to_string(number);
}

StopOrder stop_for_signal(int signal, const std::string& rank) {
  return {base::ExitCode::resume, "signal " + signal_name(signal) + " on " + rank};
}

StopOrder stop_for_death(const parallel::RankPlace& rank) {
  const auto status = rank.watch ? rank.watch->wait_status() : std::nullopt;
  const int signal = status && WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  const auto how = !status       ? "process " + std::to_string(rank.process.number) + " crashed or was killed"
                   : signal == 0 ? "exit status " + std::to_string(WEXITSTATUS(*status)) + "; its last lines say more"
                                 : "signal " + signal_name(signal);
  const bool may_lack_memory = !status || signal == SIGKILL;
  return {base::ExitCode::error,
          base::describe(rank.name + (status && signal == 0 ? " has ended" : " has died"),
                         how + (may_lack_memory ? ", perhaps for want of memory" : "")),
          true};
}

SignalWatcher::Next leave_before_start(int signal) {
  if (const auto rank = base::text_from_environment("PMIX_RANK"); rank.empty() || rank == "0") {
    base::log(base::LogLevel::warning, "signal " + signal_name(signal) + " before MPI had started: " + how_to_go_on);
  }
  ::_exit(static_cast<int>(base::ExitCode::resume));
}

}  // namespace stereosweep::run
