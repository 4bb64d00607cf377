#include "parallel/RankGuard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>

#include "parallel/RankProcess.hpp"

namespace stereosweep::parallel {
namespace {

constexpr int grace = 30;  ///< seconds

/// What a rank tells its guard; first it computes.
enum class Stage : char { computing, mpi_has_ended, left };

int to_guard = -1;  ///< a pipe that the kernel closes with this process, and not before

void tell(Stage stage) {
  if (to_guard >= 0) {
    [[maybe_unused]] const auto written = ::write(to_guard, &stage, 1);
  }
}

/// The last stage that the rank at the other end of `input` has told before it ended.
Stage watch_rank(const RankProcess& rank, int input) {
  auto stage = Stage::computing;
  int seconds_stopped = 0;
  int seconds_leaving = 0;
  while (true) {
    pollfd news{input, POLLIN, 0};
    const int ready = ::poll(&news, 1, stage == Stage::computing ? -1 : 1000);
    if (ready > 0 && ::read(input, &stage, 1) <= 0) {
      return stage;
    }
    if (ready == 0) {
      seconds_stopped = is_stopped(rank) ? seconds_stopped + 1 : 0;
      seconds_leaving += stage == Stage::left ? 1 : 0;
      if (seconds_stopped == grace || seconds_leaving == grace) {
        ::kill(static_cast<pid_t>(rank.number), SIGKILL);  // the pipe is open: it is still that process
      }
    }
  }
}

[[noreturn]] void guard(const RankProcess& rank, const RankProcess& launcher, int input) {
  ::prctl(PR_SET_NAME, "rank guard");
  ::setsid();
  ::dup2(input, STDIN_FILENO);
  ::close_range(STDOUT_FILENO, ~0U, 0);  // mpirun waits until nobody has its pipes
  if (watch_rank(rank, STDIN_FILENO) != Stage::left) {
    ::sleep(grace);
    if (is_alive(launcher)) {
      ::kill(static_cast<pid_t>(launcher.number), SIGKILL);
    }
  }
  ::_exit(0);
}

}  // namespace

RankGuard::RankGuard() {
  const auto launcher = find_launcher();
  std::array<int, 2> ends{};
  if (!launcher || launcher->start == 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return;
  }
  started_by_launcher_ = launcher->number == ::getppid();
  const auto rank = this_process();
  if (const auto made = ::fork(); made == 0) {
    guard(rank, *launcher, ends[0]);
  }
  ::close(ends[0]);
  to_guard = ends[1];
}

void RankGuard::mpi_has_ended() { tell(Stage::mpi_has_ended); }

void RankGuard::leave(int status) const {
  // mpirun ends its job for each process of its own that exits with another status than 0. What a shell between
  // the two makes of the status is the shell's matter.
  tell(status == 0 || !started_by_launcher_ ? Stage::left : Stage::mpi_has_ended);
}

}  // namespace stereosweep::parallel
