#include "parallel/RankProcess.hpp"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::parallel {
namespace {

/// The words of /proc/NUMBER/stat behind the name, the first one empty: proc(5). None of a process that is gone.
std::vector<std::string> state_of(std::int64_t number) {
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string line;
  std::getline(file, line);
  return base::split(line.substr(line.rfind(')') + 1), ' ');
}

/// Nothing for a process that is gone, or dead and not yet fetched by its parent.
std::optional<std::uint64_t> start_of(std::int64_t number) {
  constexpr std::size_t start_place = 20;
  const auto words = state_of(number);
  if (words.size() <= start_place || words[1] == "Z" || words[1] == "X") {
    return std::nullopt;
  }
  return base::parse_integer(words[start_place]);
}

/// 0 where nothing is known.
std::int64_t parent_of(std::int64_t number) {
  const auto words = state_of(number);
  return words.size() > 2 ? base::parse_integer(words[2]).value_or(0) : 0;
}

/// pidfd_info of linux/pidfd.h, as Linux 6.15 begins it; Debian 12 does not have it.
struct ProcessInfo {
  std::uint64_t mask = 0;
  std::uint64_t group = 0;
  std::array<std::uint32_t, 11> numbers{};
  std::int32_t exit_code = 0;
};
constexpr auto get_process_info = _IOWR(0xFF, 11, ProcessInfo);
constexpr std::uint64_t exit_code_is_told = 1U << 3;

}  // namespace

ProcessWatch::ProcessWatch(const RankProcess& process)
    : process_(process), handle_(static_cast<int>(::syscall(SYS_pidfd_open, process.number, 0))) {}

ProcessWatch::~ProcessWatch() { ::close(handle_); }

std::optional<int> ProcessWatch::wait_status() const {
  ProcessInfo info;
  info.mask = exit_code_is_told;
  const bool is_told = ::ioctl(handle_, get_process_info, &info) == 0 && (info.mask & exit_code_is_told) != 0;
  if (is_told) {
    return info.exit_code;
  }
  constexpr std::size_t exit_code_place = 50;
  const auto words = state_of(process_.number);
  const bool is_corpse = words.size() > exit_code_place && words[1] == "Z";
  return is_corpse ? base::parse_integer(words[exit_code_place]) : std::nullopt;
}

RankProcess this_process() { return {::getpid(), start_of(::getpid()).value_or(0)}; }

bool is_alive(const RankProcess& process) { return process.start != 0 && start_of(process.number) == process.start; }

bool is_stopped(const RankProcess& process) {
  const auto words = state_of(process.number);
  return words.size() > 1 && words[1] == "T";
}

std::optional<RankProcess> find_launcher() {
  constexpr int most_between = 5;  // shells and wrappers
  auto process = static_cast<std::int64_t>(::getppid());
  for (int i = 0; i < most_between && process > 1; ++i) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(process) + "/comm") >> name;
    if (name.starts_with("mpirun") || name.starts_with("mpiexec") || name == "orterun" || name == "orted" ||
        name.starts_with("prte")) {
      return RankProcess{process, start_of(process).value_or(0)};
    }
    process = parent_of(process);
  }
  return std::nullopt;
}

}  // namespace stereosweep::parallel
