// `stereosweep validate JOB [key=value ...]`: everything that can be said about a job without its model.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// Loads and checks the job, prints one line per job of its sweep. Throws InputError (exit 2) with every problem.
int validate_command(const Arguments& arguments);

}  // namespace stereosweep::app
