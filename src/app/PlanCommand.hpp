// stereosweep plan: what a job will cost, and how its words are tokenized. Reads no weights.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// JOB [key=value ...] [--show-prompts] [--ranks N] [--limit N]
int plan_command(const Arguments& arguments);

}  // namespace stereosweep::app
