// The rating probe's part of `validate`, `plan`, `show` and `stats`.
#pragma once

#include "app/ProbeCommands.hpp"

namespace stereosweep::app {

ProbeCommands rating_commands();

}  // namespace stereosweep::app
