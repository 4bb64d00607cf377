// MPI's side of the room: checked calls and waiting without spinning. For the room's own sources only.
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

enum class Waiting { sleeping, spinning };
/// Completes a request; sleeps between tests, so that waiting ranks leave the processor to those that work, or spins
/// where bytes move, as long as no other thread wants the processor. Throws Error (exit code `resume`) after `limit`.
void wait_for(MPI_Request& request, std::string_view call, std::chrono::duration<double> limit,
              Waiting waiting = Waiting::sleeping);

}  // namespace stereosweep::parallel
