#include "parallel/StartWatch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/Error.hpp"
#include "base/Log.hpp"
#include "base/Text.hpp"
#include "parallel/MpiSession.hpp"

namespace stereosweep::parallel {
namespace {

constexpr const char* variable = "STEREOSWEEP_START_TIMEOUT_S";
constexpr double longest = 1e8;  ///< s: more would overflow the clock

}  // namespace

StartWatch::StartWatch(std::chrono::duration<double> limit) : limit_(limit), thread_([this] { watch(); }) {}

StartWatch::~StartWatch() {
  {
    const std::lock_guard lock(mutex_);
    started_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void StartWatch::watch() {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, limit_, [this] { return started_; })) {
    return;
  }
  base::log(base::LogLevel::error,
            base::describe("MPI has not started within " + base::format_double(limit_.count()) + " s on " + host_name(),
                           "another rank hangs, was stopped, or its node is gone",
                           std::string("run the same command again; ") + variable + " sets another limit"));
  ::_exit(static_cast<int>(base::ExitCode::resume));
}

std::chrono::duration<double> start_limit() {
  constexpr std::chrono::duration<double> usual{600};
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return usual;
  }
  const auto value = base::parse_double(text);
  if (!value || *value <= 0) {
    throw base::InputError(
        base::describe(std::string(variable) + " is '" + text + "'", "it must be a positive number"));
  }
  return std::chrono::duration<double>(std::min(*value, longest));
}

}  // namespace stereosweep::parallel
