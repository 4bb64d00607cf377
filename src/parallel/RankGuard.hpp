// What ends a rank or an mpirun that stays when all is over.
#pragma once

namespace stereosweep::parallel {

/// A small process beside a rank under mpirun, of a session of its own, that sees the rank's end however it comes.
/// - mpirun may stay for ever after a rank has failed (Open MPI 4.1 with PMIx 4: it waits for a thread that waits for a
///   lock). The guard ends the mpirun above the rank where that runs 30 s after the rank's end; not where `leave` has
///   been called.
/// - Nobody watches a rank after MPI's end. The guard kills one that was then stopped for 30 s, or has not ended 30 s
///   after `leave`, since mpirun would wait for it for ever.
class RankGuard {
 public:
  /// While the process has one thread. Does nothing where no mpirun is found or no process can be made.
  RankGuard();
  RankGuard(const RankGuard&) = delete;
  RankGuard& operator=(const RankGuard&) = delete;
  /// MPI has ended; the process may have more to do.
  static void mpi_has_ended();
  /// All is over; the process exits with `status` at once.
  void leave(int status) const;

 private:
  bool started_by_launcher_ = false;
};

}  // namespace stereosweep::parallel
