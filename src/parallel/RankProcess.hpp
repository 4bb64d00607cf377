// A rank as a process of this machine, and the mpirun that has started it.
#pragma once

#include <cstdint>

namespace stereosweep::parallel {

/// A process as the kernel counts it: a number is given again, number and start together are not.
struct RankProcess {
  std::int64_t number = 0;
  std::uint64_t start = 0;  ///< ticks since the machine's start; 0: unknown
  bool operator==(const RankProcess&) const = default;
};

RankProcess this_process();

/// Whether it is there and no corpse that waits for its parent. Processes of other machines or containers are not.
bool is_alive(const RankProcess& process);

/// mpirun may stay for ever after a rank has failed (Open MPI 4.1 with PMIx 4: it waits for a thread that waits for a
/// lock). Made before MPI starts, this starts a process of a session of its own. However the rank ends, be it killed,
/// that process then ends the mpirun above the rank, and no other process of its number, where that still runs 30 s
/// later; not after `leave` of a rank for whose end no mpirun ends the job. Does nothing where no mpirun is found.
class LauncherGuard {
 public:
  LauncherGuard();
  LauncherGuard(const LauncherGuard&) = delete;
  LauncherGuard& operator=(const LauncherGuard&) = delete;
  /// To be called when all is over and MPI has ended; `status`: what the process will exit with.
  void leave(int status) const;

 private:
  int rank_lives_ = -1;  ///< a pipe that the kernel closes with this process, and not before
  bool started_by_launcher_ = false;
};

}  // namespace stereosweep::parallel
