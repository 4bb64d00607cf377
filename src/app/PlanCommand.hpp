// stereosweep plan: what a job will cost, and how its words are tokenized. Reads no weights unless
// the time is to be measured.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// JOB [key=value ...] [--show-prompts] [--measure] [--ranks N] [--limit N]
int plan_command(const Arguments& arguments);

}  // namespace stereosweep::app
