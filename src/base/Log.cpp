#include "base/Log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

std::atomic<int> log_rank{-1};
std::atomic<int> log_file{-1};
std::atomic<bool> log_file_failed{false};
std::atomic<OpenLine> open_line{OpenLine::none};

std::string_view name_of(LogLevel level) {
  constexpr std::array<std::string_view, 3> names = {"info", "warning", "error"};
  return names[static_cast<std::size_t>(level)];
}

}  // namespace

void set_log_rank(int rank) { log_rank = rank; }

void set_open_line(OpenLine line) { open_line = line; }

void set_log_file(std::string_view path) {
  const int opened =
      path.empty() ? -1
                   : ::open(std::string(path).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
  const int reason = errno;
  const int descriptor = opened >= 0 ? opened : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  // The number stays the log's: what another thread writes meanwhile reaches the old file or the new one, no third.
  if (int before = -1; !log_file.compare_exchange_strong(before, descriptor)) {
    ::dup3(descriptor, before, O_CLOEXEC);
    ::close(descriptor);
  }
  log_file_failed = false;
  if (opened < 0 && !path.empty()) {
    log(LogLevel::warning,
        "cannot open " + std::string(path) + " (" + std::strerror(reason) + "): only standard error has the messages");
  }
}

void log(LogLevel level, std::string_view message) {
  std::string line = utc_now();
  if (log_rank >= 0) {
    line += " rank " + std::to_string(log_rank);
  }
  line.append(" ").append(name_of(level)).append(": ").append(printable(message)).append("\n");
  const auto shown = (open_line.exchange(OpenLine::none) == OpenLine::bar ? "\r\x1b[K" : "") + line;
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, shown.data(), shown.size());
  if (const int file = log_file; file >= 0) {
    written = ::write(file, line.data(), line.size());
    if (written != static_cast<ssize_t>(line.size()) && !log_file_failed.exchange(true)) {
      log(LogLevel::warning, std::string("the run's file 'log' lacks lines from here on (") + std::strerror(errno) +
                                 "): standard error has them");
    }
  }
}

void log_once(LogLevel level, std::string_view message) {
  if (log_rank <= 0) {
    log(level, message);
  }
}

}  // namespace stereosweep::base
