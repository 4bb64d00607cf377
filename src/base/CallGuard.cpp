#include "base/CallGuard.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/Error.hpp"
#include "base/Trial.hpp"

namespace stereosweep::base {

struct CallGuardAccess {
  static const std::string& problem(const CallGuard& guard) { return guard.problem_; }
  static const std::string& suggestion(const CallGuard& guard) { return guard.suggestion_; }
};

namespace {

constexpr std::array<int, 5> crashes = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr int time_is_up = SIGVTALRM;

std::atomic<const CallGuard*> innermost{nullptr};
std::atomic<pthread_t> guarded_thread{};
std::array<struct sigaction, crashes.size()> before{};
/// HDF5 may have used up the thread's own stack.
alignas(16) std::array<char, std::size_t{64} << 10> handler_stack{};

void say(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

/// Calls only what a signal handler may.
void end_process(int number, siginfo_t* /*info*/, void* /*context*/) {
  const auto* guard = innermost.load();
  const bool ours =
      guard != nullptr && (number == time_is_up || ::pthread_equal(::pthread_self(), guarded_thread) != 0);
  if (!ours) {
    for (std::size_t i = 0; i < crashes.size(); ++i) {
      if (crashes[i] == number) {
        ::sigaction(number, &before[i], nullptr);
        ::raise(number);  // for whoever had it before, once this handler has returned
      }
    }
    return;
  }
  say("stereosweep: ");
  say(CallGuardAccess::problem(*guard));
  say(number == time_is_up ? " (it hangs) " : " (it crashes: ");
  if (number != time_is_up) {
    const char* name = ::sigdescr_np(number);
    say(name == nullptr ? "a signal" : name);
    say(") ");
  }
  say(CallGuardAccess::suggestion(*guard));
  say("\n");
  ::_exit(static_cast<int>(ExitCode::usage));
}

void install_handlers() {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = end_process;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    ::sigaction(crashes[i], &action, &before[i]);
  }
  ::sigaction(time_is_up, &action, nullptr);
}

/// Of the processor time of the thread that makes it.
timer_t make_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = time_is_up;
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
    throw Error(describe("cannot make a timer", std::strerror(errno)));
  }
  return timer;
}

void start_clock(std::chrono::seconds limit) {
  thread_local const timer_t timer = make_timer();
  itimerspec time{};
  time.it_value.tv_sec = limit.count();  // 0 stops it
  ::timer_settime(timer, 0, &time, nullptr);
}

}  // namespace

CallGuard::CallGuard(std::string problem, std::string suggestion, std::chrono::seconds processor_time)
    : problem_(std::move(problem)), suggestion_(std::move(suggestion)), processor_time_(processor_time) {
  if (in_trial()) {
    return;
  }
  static std::once_flag installed;
  std::call_once(installed, install_handlers);
  guarded_thread = ::pthread_self();
  outer_ = innermost.exchange(this);
  start_clock(processor_time_);
}

CallGuard::~CallGuard() {
  if (in_trial()) {
    return;
  }
  start_clock(outer_ == nullptr ? std::chrono::seconds(0) : outer_->processor_time_);
  innermost = outer_;
}

}  // namespace stereosweep::base
