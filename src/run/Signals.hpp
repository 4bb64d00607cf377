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

}  // namespace stereosweep::run
