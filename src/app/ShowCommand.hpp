// `stereosweep show DIR_OR_FILE [--digest] [--status] [--top N]`
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

int show_command(const Arguments& arguments);

}  // namespace stereosweep::app
