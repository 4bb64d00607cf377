// MPI's side of the room: its handle and checked calls. For the room's own sources only.
#pragma once

#include <mpi.h>

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

}  // namespace stereosweep::parallel
