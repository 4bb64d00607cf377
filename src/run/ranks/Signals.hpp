// Signals as a value: one thread waits for TERM, INT, USR1, USR2 and HUP (a terminal that was closed; left alone under
// nohup), everybody else has them blocked. Nothing is interrupted, no library thread (NCCL, UCX) can swallow one, and a
// second signal while saving changes nothing.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "parallel/MpiSession.hpp"
#include "run/ranks/Messages.hpp"

namespace stereosweep::run {

class SignalWatcher {
 public:
  /// Whether an action is called again a moment later, for as long as it says so.
  enum class Next { nothing, again };
  using Action = std::function<Next(int)>;

  /// Must exist before any other thread is started (they inherit the mask). PIPE is ignored, CONT and the rest
  /// keep their defaults.
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// `action` is done in the watcher's thread when a signal comes (or has come already) while what is returned lives;
  /// the one given last holds. Its end waits for an action in work; from then on signals are only remembered.
  [[nodiscard]] std::shared_ptr<void> act(Action action);
  /// The first signal that came; 0: none.
  int received() const { return received_; }
  /// Once one has come: the rank that got it, "rank 3 on node7".
  const std::string& signalled_rank() const { return signalled_rank_; }
  /// Collective: from here on it is known which ranks live, and rank zero hears what comes to another rank alone.
  void know_ranks(const parallel::Communicator& world);
  /// By number, once they are known; then they stay as they are.
  const std::vector<parallel::RankPlace>& ranks() const { return ranks_; }
  /// From here on ranks may end without having died.
  void let_ranks_leave();
  /// In an action: why this process ends by the signal that came.
  StopOrder order() const;
  /// An action while nothing is in flight: `begin_end` writes down why, then the process ends, rank zero before the
  /// others, which it must see alive to know that none has died. It goes on where `begin_end` says no: it is ending
  /// already, with an exit code of its own.
  Next leave(const std::function<bool(const StopOrder&)>& begin_end);

 private:
  void watch();
  void take(const siginfo_t& signal);
  sigset_t set_{};
  std::atomic<int> received_{0};
  std::atomic<bool> ending_{false};
  pid_t launcher_;
  std::string signalled_rank_;  ///< this and the next two: written before `received_`
  bool launcher_sent_it_ = false;
  Clock::time_point when_;
  std::mutex mutex_;
  Action action_;          ///< empty: a signal is only remembered
  int newest_action_ = 0;  ///< its number
  int rank_ = 0;
  std::vector<parallel::RankPlace> ranks_;
  bool ranks_may_leave_ = false;
  std::thread thread_;
};

/// "TERM", "USR1", ...
std::string signal_name(int number);

/// Said last, wherever a run was stopped.
inline constexpr const char* how_to_go_on = "what is finished is kept; run the same command again to go on";

/// "signal TERM on rank 3 on node7"
StopOrder stop_for_signal(int signal, const std::string& rank);

/// "rank 3 on node7 has died (signal KILL, perhaps for want of memory)": what is known of a rank that has ended.
StopOrder stop_for_death(const parallel::RankPlace& rank);

/// An action while MPI starts: ends the process with exit code `resume`.
[[noreturn]] SignalWatcher::Next leave_before_start(int signal);

}  // namespace stereosweep::run
