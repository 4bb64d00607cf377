// MPI from its start to its end, one object in main's stack; where its ranks are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/Error.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/RankProcess.hpp"

namespace stereosweep::parallel {

/// Starts MPI (MPI_THREAD_FUNNELED) only where a launcher started this process as one of its ranks: alone, also inside
/// an allocation whose SLURM_* and PMI_* variables leak into the shell, no MPI call is made at all.
/// Throws InputError where a launcher says that it has started more processes than MPI knows of, and Error if MPI gives
/// less than FUNNELED. Tolerates an MPI that somebody else started, and leaves it to them.
class MpiSession {
 public:
  MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// Ends MPI where it has not ended yet; collective. After an exception the other ranks may never come: use
  /// `abort_all_ranks`.
  ~MpiSession();
  /// All ranks.
  const Communicator& world() const { return world_; }

 private:
  Communicator world_;
  bool started_ = false;
};

/// Collective: ends MPI, so that every process may exit while others of them go on alone. No communicator may be used
/// afterwards but the null one. Nothing happens where MPI does not run.
void end_mpi();

/// Whether a launcher (mpirun, srun --mpi=pmix) counts this process among its ranks.
bool launched_as_rank();

/// Ends every rank with `status` (never 0: some launchers end only the caller then). If MPI cannot do it within 10 s,
/// this process ends alone.
[[noreturn]] void abort_all_ranks(int status);

/// Runs what all ranks do together to its end and returns its exit code. What all throw is logged by rank zero; where
/// one rank alone cannot go on, the others wait for it: all are aborted, with the cause in its log.
base::ExitCode end_on_all_ranks(const Communicator& world, const std::function<base::ExitCode()>& step);

/// Name of this machine.
std::string host_name();

/// A rank as others name and watch it.
struct RankPlace {
  std::string name;  ///< "rank 3 on node7"
  std::string host;
  std::string processors;  ///< that it may use there (base/process/Processors.hpp)
  RankProcess process;
  bool visible = false;  ///< its process is one of this machine's, so that its end can be seen here
  std::shared_ptr<const ProcessWatch> watch = nullptr;  ///< of a visible one, on rank 0
  bool is_seen_alive() const { return visible && is_alive(process); }
  bool is_seen_dead() const { return visible && !is_alive(process); }
};
/// Collective: one per rank.
std::vector<RankPlace> places_of(const Communicator& world);

/// "Open MPI v4.1.4, ..." for provenance; "none (one rank)" without MPI.
std::string mpi_description();

}  // namespace stereosweep::parallel
