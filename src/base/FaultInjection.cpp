#include "base/FaultInjection.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "base/Error.hpp"
#include "base/Text.hpp"

namespace stereosweep::base {
namespace {

std::atomic<int> fault_rank{0};

struct Fault {
  std::string point;
  std::int64_t pass = 0;  ///< 0: every pass
  std::string action;
  std::int64_t rank = -1;  ///< -1: every process
  std::atomic<std::int64_t> passes{0};
};

[[noreturn]] void malformed(const std::string& item) {
  throw InputError(
      describe("STEREOSWEEP_INJECT holds '" + item + "'", "it must be point:n:action[:rank], n a number from 1 or *"));
}

std::int64_t number_in(const std::string& text, const std::string& item) {
  const auto number = parse_integer(text);
  if (!number) {
    malformed(item);
  }
  return *number;
}

void parse_faults(std::string_view text, std::deque<Fault>& faults) {
  for (const auto& item : split(text, ',')) {
    const auto parts = split(item, ':');
    if (parts.size() < 3 || parts.size() > 4) {
      malformed(item);
    }
    auto& fault = faults.emplace_back();
    fault.point = parts[0];
    fault.pass = parts[1] == "*" ? 0 : std::max<std::int64_t>(1, number_in(parts[1], item));
    fault.action = parts[2];
    fault.rank = parts.size() == 4 ? number_in(parts[3], item) : -1;
  }
}

std::deque<Fault>& faults() {
  static std::deque<Fault> all;
  static std::once_flag parsed;
  std::call_once(parsed, [] {
    const char* text = std::getenv("STEREOSWEEP_INJECT");
    if (text != nullptr && *text != '\0') {
      parse_faults(text, all);
    }
  });
  return all;
}

int act(const Fault& fault) {
  if (fault.action == "exit") {
    ::_exit(3);
  }
  if (fault.action == "kill") {
    ::raise(SIGKILL);
  }
  if (fault.action == "stop") {
    ::raise(SIGSTOP);
    return 0;
  }
  if (fault.action == "throw") {
    throw Error(describe("injected fault at " + fault.point, "STEREOSWEEP_INJECT asked for it"));
  }
  while (fault.action == "hang") {
    ::pause();
  }
  if (fault.action.starts_with("delay=")) {
    const auto milliseconds = parse_integer(std::string_view(fault.action).substr(6)).value_or(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return 0;
  }
  if (fault.action == "eio") {
    return EIO;
  }
  if (fault.action == "enospc") {
    return ENOSPC;
  }
  if (fault.action == "short") {
    return short_write;
  }
  throw InputError(describe("STEREOSWEEP_INJECT asks for '" + fault.action + "'",
                            "actions are exit, kill, stop, throw, hang, delay=MS, eio, enospc, short"));
}

}  // namespace

void set_faults(std::string_view text) {
  faults().clear();
  if (!text.empty()) {
    parse_faults(text, faults());
  }
}

void set_fault_rank(int rank) { fault_rank = rank; }

int inject_fault(std::string_view point) {
  for (auto& fault : faults()) {
    if (fault.point == point && (fault.rank < 0 || fault.rank == fault_rank) &&
        (fault.pass == 0 || ++fault.passes == fault.pass)) {
      return act(fault);
    }
  }
  return 0;
}

}  // namespace stereosweep::base
