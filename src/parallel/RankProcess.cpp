#include "parallel/RankProcess.hpp"

#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace stereosweep::parallel {
namespace {

constexpr int fields_before_start = 18;  // of /proc/PID/stat, behind the state: proc(5)

/// Nothing for a process that is gone, or dead and not yet fetched by its parent.
std::optional<std::uint64_t> start_of(std::int64_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream fields(line.substr(name_end + 1));
  char state = 0;
  fields >> state;
  std::string skipped;
  for (int i = 0; i < fields_before_start; ++i) {
    fields >> skipped;
  }
  std::uint64_t start = 0;
  if (!(fields >> start) || state == 'Z' || state == 'X') {
    return std::nullopt;
  }
  return start;
}

}  // namespace

RankProcess this_process() { return {::getpid(), start_of(::getpid()).value_or(0)}; }

bool is_alive(const RankProcess& process) { return process.start != 0 && start_of(process.number) == process.start; }

}  // namespace stereosweep::parallel
