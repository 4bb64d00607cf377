#include "parallel/RankProcess.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/text/Text.hpp"

namespace stereosweep::parallel {
namespace {

constexpr const char* launcher_grace = "30";  ///< seconds from the end of a rank until mpirun must have ended

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

/// The mpirun above this process; nothing where another launcher has started it.
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

/// Ends `launcher` after the end of whoever holds the other side of `input`, where no line comes from there first.
void start_guard(const RankProcess& launcher, int input) {
  // A shell, because it needs neither MPI nor this program's memory. Words 20 and on: `start_of`.
  const std::string script = R"(read -r line && exit; sleep "$1"; read -r line < "/proc/$2/stat" || exit; )"
                             R"(set -- "$2" "$3" ${line##*) }; [ "${22}" = "$2" ] && kill -9 "$1")";
  const auto number = std::to_string(launcher.number);
  const auto start = std::to_string(launcher.start);
  const std::array<const char*, 8> words = {"sh",           "-c",           script.c_str(), "stereosweep: ends mpirun",
                                            launcher_grace, number.c_str(), start.c_str(),  nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t guard = 0;
  ::posix_spawn(&guard, "/bin/sh", &files, &attributes, const_cast<char* const*>(words.data()), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
}

}  // namespace

RankProcess this_process() { return {::getpid(), start_of(::getpid()).value_or(0)}; }

bool is_alive(const RankProcess& process) { return process.start != 0 && start_of(process.number) == process.start; }

LauncherGuard::LauncherGuard() {
  const auto launcher = find_launcher();
  std::array<int, 2> ends{};
  if (!launcher || launcher->start == 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return;
  }
  rank_lives_ = ends[1];
  started_by_launcher_ = launcher->number == ::getppid();
  start_guard(*launcher, ends[0]);
  ::close(ends[0]);
}

void LauncherGuard::leave(int status) const {
  // mpirun ends its job for each process of its own that exits with another status than 0. What a shell between
  // the two makes of the status is the shell's matter.
  if (rank_lives_ >= 0 && (status == 0 || !started_by_launcher_)) {
    [[maybe_unused]] const auto written = ::write(rank_lives_, "\n", 1);
  }
}

}  // namespace stereosweep::parallel
