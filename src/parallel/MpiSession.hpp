// MPI from its start to its end, one object in main's stack.
#pragma once

#include <string>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// Starts MPI (MPI_THREAD_FUNNELED) only where a launcher started this process as one of its ranks: alone, also inside
/// an allocation whose SLURM_* and PMI_* variables leak into the shell, no MPI call is made at all.
/// Throws Error if MPI gives less than FUNNELED. Tolerates an MPI that somebody else started, and leaves it to them.
class MpiSession {
 public:
  MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// Ends MPI; collective. After an exception the other ranks may never come: use `abort` then.
  ~MpiSession();
  /// All ranks.
  const Communicator& world() const { return world_; }

 private:
  Communicator world_;
  bool started_ = false;
};

/// Whether a launcher (mpirun, srun --mpi=pmix) counts this process among its ranks.
bool launched_as_rank();

/// Ends every rank with `status` (never 0: some launchers end only the caller then). If MPI cannot do it within 10 s,
/// this process ends alone.
[[noreturn]] void abort_all_ranks(int status);

/// Name of this machine.
std::string host_name();

/// "Open MPI v4.1.4, ..." for provenance; "none (one rank)" without MPI.
std::string mpi_description();

}  // namespace stereosweep::parallel
