#include "run/Signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <array>

namespace stereosweep::run {
namespace {

constexpr std::array<int, 4> watched = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2};

sigset_t watched_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : watched) {
    ::sigaddset(&set, number);
  }
  return set;
}

}  // namespace

SignalWatcher::SignalWatcher() {
  struct sigaction nothing {};
  nothing.sa_handler = [](int) {};  // a shell's background job has INT ignored: then it would never be seen
  for (const int number : watched) {
    ::sigaction(number, &nothing, nullptr);
  }
  const auto set = watched_set();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  ending_ = true;
  ::pthread_kill(thread_.native_handle(), SIGUSR1);
  thread_.join();
}

void SignalWatcher::watch() {
  const auto set = watched_set();
  while (true) {
    int number = 0;
    if (::sigwait(&set, &number) != 0) {
      continue;
    }
    if (ending_) {
      return;
    }
    int none = 0;
    received_.compare_exchange_strong(none, number);
    const std::lock_guard lock(mutex_);
    if (action_) {
      action_(number);
    }
  }
}

void SignalWatcher::set_action(std::function<void(int)> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
  if (action_ && received_ != 0) {
    action_(received_);
  }
}

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name != nullptr ? name : std::to_string(number);
}

}  // namespace stereosweep::run
