// `stereosweep status DIR`: what a run does, from another shell.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// Reads status.json and the journals' sizes; touches nothing. Exit 0; 2 if DIR holds no run.
int status_command(const Arguments& arguments);

}  // namespace stereosweep::app
