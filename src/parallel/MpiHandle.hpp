// MPI's side of the room: its handle, and calls that are checked or must end in time. For the room's own sources only.
#pragma once

#include <mpi.h>

#include <chrono>
#include <string_view>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

struct Communicator::Handle {
  explicit Handle(MPI_Comm communicator) : value(communicator) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();
  MPI_Comm value;
};

/// Throws Error with MPI's own text unless `status` is MPI_SUCCESS.
void check_mpi(int status, std::string_view call);

/// While it lives, a call of MPI that nobody can watch from beside (its start, its end, the making of communicators)
/// must come to its end in time; else `text` is written to standard error and the process exits with ExitCode::resume,
/// so that the launcher ends the other ranks. A rank that was stopped or lost would let them wait for ever. One at a
/// time; SIGALRM must be nobody else's.
class CallLimit {
 public:
  /// `text` outlives the object and ends with a line end.
  CallLimit(const char* text, std::chrono::duration<double> time);
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit();
};

}  // namespace stereosweep::parallel
