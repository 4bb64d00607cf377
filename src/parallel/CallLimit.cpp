#include "parallel/CallLimit.hpp"

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "base/Error.hpp"
#include "base/process/Environment.hpp"

namespace stereosweep::parallel {
namespace {

const char* shown = nullptr;  ///< by the signal's handler

}  // namespace

std::chrono::duration<double> start_limit() {
  return std::chrono::duration<double>(base::seconds_from_environment("STEREOSWEEP_START_TIMEOUT_S", 600));
}

CallLimit::CallLimit(const char* text, std::chrono::duration<double> time) {
  shown = text;
  ::signal(SIGALRM, [](int) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, shown, std::strlen(shown));
    ::_exit(static_cast<int>(base::ExitCode::resume));
  });
  ::alarm(static_cast<unsigned>(std::ceil(time.count())));
}

CallLimit::~CallLimit() {
  ::alarm(0);
  ::signal(SIGALRM, SIG_DFL);
}

}  // namespace stereosweep::parallel
