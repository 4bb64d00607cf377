// Calls of MPI that nobody can watch from beside: its start, its end, and the making of communicators.
#pragma once

#include <chrono>

namespace stereosweep::parallel {

/// STEREOSWEEP_START_TIMEOUT_S (default 600 s): for MPI's start and end.
std::chrono::duration<double> start_limit();

/// While it lives, such a call must come to its end in time; else `text` is written to standard error and the process
/// exits with ExitCode::resume, so that the launcher ends the other ranks. A rank that was stopped or lost would let
/// them wait for ever. One at a time; SIGALRM must be nobody else's.
class CallLimit {
 public:
  /// `text` outlives the object and ends with a line end.
  CallLimit(const char* text, std::chrono::duration<double> time);
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit();
};

}  // namespace stereosweep::parallel
