// Signals as a value: one thread waits for TERM, INT, USR1, USR2 and HUP (a terminal that was closed; left alone under
// nohup), everybody else has them blocked. Nothing is interrupted, no library thread (NCCL, UCX) can swallow one, and a
// second signal while saving changes nothing.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "run/ranks/Messages.hpp"

namespace stereosweep::run {

class SignalWatcher {
 public:
  /// Must exist before any other thread is started (they inherit the mask). PIPE is ignored, CONT and the rest
  /// keep their defaults.
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// The first signal that came; 0: none.
  int received() const { return received_; }

 private:
  friend class SignalAction;
  void watch();
  void set_action(const void* owner, std::function<void(int)> action);
  sigset_t set_{};
  std::atomic<int> received_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::function<void(int)> action_;  ///< empty: a signal is only remembered
  const void* owner_ = nullptr;      ///< whose action it is
  std::thread thread_;
};

/// What is done in the watcher's thread when a signal comes (or has come already) while this object lives; the one made
/// last holds. Its end waits for an action in work; from then on signals are only remembered.
class SignalAction {
 public:
  SignalAction(SignalWatcher& watcher, std::function<void(int)> action);
  SignalAction(const SignalAction&) = delete;
  SignalAction& operator=(const SignalAction&) = delete;
  ~SignalAction();

 private:
  SignalWatcher& watcher_;
};

/// "TERM", "USR1", ...
std::string signal_name(int number);

/// Said last, wherever a run was stopped.
inline constexpr const char* how_to_go_on = "what is finished is kept; run the same command again to go on";

/// "signal TERM on rank 3 on node7"
StopOrder stop_for_signal(int signal, const std::string& rank);

/// In the signals' thread, while MPI starts: ends the process with exit code `resume`.
[[noreturn]] void leave_before_start(int signal);

/// In the signals' thread, while nothing is in flight: `begin_end` writes down why, then the process ends. It returns
/// where `begin_end` says no: the process is ending already, with an exit code of its own.
void leave_for_signal(
    int signal, int rank,
    const std::function<bool(const StopOrder&)>& begin_end = [](const StopOrder&) { return true; });

}  // namespace stereosweep::run
