#include "base/process/FaultInjection.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <regex>
#include <thread>
#include <vector>

#include "base/Error.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
namespace {

std::atomic<int> fault_rank{0};
std::atomic<bool> holds_ended{false};

struct Fault {
  std::string point;
  std::int64_t pass = 0;  ///< 0: every pass
  int (*act)(const Fault&) = nullptr;
  std::string argument;    ///< of the action: what stands behind its '='
  std::int64_t rank = -1;  ///< -1: every process
  std::atomic<std::int64_t> passes{0};
};

/// What each action does; its value is what the caller must then pretend.
const std::map<std::string_view, int (*)(const Fault&)> actions = {
    {"exit", [](const Fault&) -> int { ::_exit(3); }},
    {"kill", [](const Fault&) { return ::raise(SIGKILL); }},
    {"stop", [](const Fault&) { return ::raise(SIGSTOP); }},
    {"throw",
     [](const Fault& fault) -> int { fail("injected fault at " + fault.point, "STEREOSWEEP_INJECT asked for it"); }},
    {"hang",
     [](const Fault&) -> int {
       while (true) {
         ::pause();
       }
     }},
    {"delay=",
     [](const Fault& fault) {
       std::this_thread::sleep_for(std::chrono::milliseconds(*parse_integer(fault.argument)));
       return 0;
     }},
    {"hold=",
     [](const Fault& fault) {
       while (!holds_ended && !is_there(fault.argument)) {
         std::this_thread::sleep_for(std::chrono::milliseconds(5));
       }
       return 0;
     }},
    {"eio", [](const Fault&) { return EIO; }},
    {"enospc", [](const Fault&) { return ENOSPC; }},
    {"short", [](const Fault&) { return short_write; }}};

/// Names of points hold colons, and no numbers.
void parse_fault(const std::string& item, Fault& fault) {
  static const std::regex form(R"((.+?):(\*|0*[1-9]\d{0,17}):([^:=]*=?)([^:]*)(?::(\d{1,18}))?)");
  constexpr auto needed = "it must be point:n:action[:rank], n a number from 1 or *, rank a number from 0";
  std::smatch parts;
  refuse_if(!std::regex_match(item, parts, form), "STEREOSWEEP_INJECT holds '" + item + "'", needed);
  const auto known = actions.find(parts[3].str());
  refuse_if(known == actions.end(), "STEREOSWEEP_INJECT asks for '" + parts[3].str() + parts[4].str() + "'",
            "actions are exit, kill, stop, throw, hang, delay=MS, hold=FILE, eio, enospc, short");
  fault.point = parts[1];
  fault.pass = parse_integer(parts[2].str()).value_or(0);
  fault.act = known->second;
  fault.argument = parts[4];
  fault.rank = parse_integer(parts[5].str()).value_or(-1);
  const bool is_delay = known->first == "delay=";
  refuse_if(is_delay && parse_integer(fault.argument).value_or(-1) < 0, "STEREOSWEEP_INJECT holds '" + item + "'",
            needed);
  refuse_if(known->first == "hold=" && fault.argument.empty(), "STEREOSWEEP_INJECT holds '" + item + "'",
            "hold= needs a file");
}

std::deque<Fault> faults;
std::string faults_text;

}  // namespace

void set_faults(std::string_view text) {
  std::deque<Fault> read;
  for (const auto& item : text.empty() ? std::vector<std::string>() : split(text, ',')) {
    parse_fault(item, read.emplace_back());
  }
  faults.swap(read);
  holds_ended = false;
  faults_text = text;
}

const std::string& active_faults() { return faults_text; }

void end_holds() { holds_ended = true; }

void set_fault_rank(int rank) { fault_rank = rank; }

int inject_fault(std::string_view point) {
  for (auto& fault : faults) {
    if (fault.point == point && (fault.rank < 0 || fault.rank == fault_rank) &&
        (fault.pass == 0 || ++fault.passes == fault.pass)) {
      return fault.act(fault);
    }
  }
  return 0;
}

}  // namespace stereosweep::base
