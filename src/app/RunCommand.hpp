// `stereosweep run JOB_OR_DIR [key=value ...]`: alone, under mpirun -np N, or under srun --mpi=pmix.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// Exit status on every rank: 0 done, 75 stopped by a signal (the same command continues), 1 and 2 errors.
int run_command(const Arguments& arguments);

}  // namespace stereosweep::app
