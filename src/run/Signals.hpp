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
  /// What to do in the watcher's thread when a signal comes (also if one came already); empty: only remember it.
  void set_action(std::function<void(int)> action);

 private:
  void watch();
  sigset_t set_{};
  std::atomic<int> received_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::function<void(int)> action_;
  std::thread thread_;
};

/// "TERM", "USR1", ...
std::string signal_name(int number);

}  // namespace stereosweep::run
