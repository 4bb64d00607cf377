#include "base/process/Trial.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/Error.hpp"

namespace stereosweep::base {
namespace {

rlim_t mapped_bytes() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

void start_clocks(const TrialLimits& limits) {
  itimerval timer{};
  timer.it_value.tv_sec = limits.processor_time.count();
  ::setitimer(ITIMER_PROF, &timer, nullptr);
  ::alarm(static_cast<unsigned>(limits.wall_time.count()));
}

/// The child: default signals, no core file, nothing on standard error (malloc's complaints); the cause into the pipe.
[[noreturn]] void run_child(const std::function<void(const TrialStep&)>& work, const TrialLimits& limits, int out) {
  for (const int number : {SIGPROF, SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGTERM, SIGINT}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlim_t memory = mapped_bytes() + limits.memory;
  const rlimit address_space{memory, memory};
  ::setrlimit(RLIMIT_AS, &address_space);
  std::string cause;
  try {
    start_clocks(limits);
    work([&] { start_clocks(limits); });
  } catch (const std::bad_alloc&) {
    cause = "it needs more than " + std::to_string(limits.memory >> 20U) + " MiB of memory";
  } catch (const std::exception& error) {
    cause = error.what();
    cause += cause.empty() ? "an error without a text" : "";
  }
  [[maybe_unused]] const auto written = ::write(out, cause.data(), cause.size());
  ::_exit(cause.empty() ? 0 : 1);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const auto got = ::read(from, part.data(), part.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string try_in_child(const std::function<void(const TrialStep&)>& work, const TrialLimits& limits) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail("cannot make a pipe", std::strerror(errno));
  }
  const pid_t child = ::fork();
  if (child == 0) {
    run_child(work, limits, ends[1]);
  }
  const int reason = errno;
  ::close(ends[1]);
  auto cause = child > 0 ? read_all(ends[0]) : "";
  ::close(ends[0]);
  fail_if(child < 0, "cannot start a process", std::strerror(reason));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return number == SIGPROF || number == SIGALRM ? "it hangs" : std::string("it crashes: ") + ::strsignal(number);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) != 0 && cause.empty() ? "it ends the program" : cause;
}

}  // namespace stereosweep::base
