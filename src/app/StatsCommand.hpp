// `stereosweep stats DIR_OR_FILE [statistics.KEY=VALUE ...]`
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

int stats_command(const Arguments& arguments);

}  // namespace stereosweep::app
