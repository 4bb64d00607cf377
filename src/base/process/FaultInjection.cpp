#include "base/process/FaultInjection.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
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

std::int64_t number_in(const std::string& text, std::int64_t least, const std::string& item) {
  const auto number = parse_integer(text);
  refuse_if(!number || *number < least, "STEREOSWEEP_INJECT holds '" + item + "'",
            "it must be point:n:action[:rank], n a number from 1 or *, rank a number from 0");
  return *number;
}

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
       std::this_thread::sleep_for(std::chrono::milliseconds(number_in(fault.argument, 0, fault.argument)));
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

void read_action(const std::string& text, const std::string& item, Fault& fault) {
  const auto name = text.substr(0, text.find('=') + 1);  // empty where there is no argument
  fault.argument = text.substr(name.empty() ? text.size() : name.size());
  const auto known = actions.find(name.empty() ? text : name);
  refuse_if(known == actions.end(), "STEREOSWEEP_INJECT asks for '" + text + "'",
            "actions are exit, kill, stop, throw, hang, delay=MS, hold=FILE, eio, enospc, short");
  fault.act = known->second;
  refuse_if(name == "hold=" && fault.argument.empty(), "STEREOSWEEP_INJECT holds '" + item + "'", "hold= needs a file");
  if (name == "delay=") {
    number_in(fault.argument, 0, item);
  }
}

void parse_faults(std::string_view text, std::deque<Fault>& faults) {
  for (const auto& item : split(text, ',')) {
    const auto parts = split(item, ':');
    const auto is_pass = [](const std::string& part) { return part == "*" || parse_integer(part).has_value(); };
    const auto pass = std::ranges::find_if(parts, is_pass);  // names of points hold colons, and no numbers
    const auto after = parts.end() - pass;
    auto& fault = faults.emplace_back();
    const bool complete = pass != parts.begin() && (after == 2 || after == 3);
    fault.pass = complete && *pass == "*" ? 0 : number_in(complete ? *pass : "", 1, item);
    fault.point = join(std::vector<std::string>(parts.begin(), pass), ":");
    read_action(pass[1], item, fault);
    fault.rank = after == 3 ? number_in(pass[2], 0, item) : -1;
  }
}

std::deque<Fault> faults;
std::string faults_text;

}  // namespace

void set_faults(std::string_view text) {
  std::deque<Fault> read;
  if (!text.empty()) {
    parse_faults(text, read);
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
