// The contexts probe's part of `validate`, `plan`, `show` and `stats`.
#pragma once

#include "app/ProbeCommands.hpp"

namespace stereosweep::app {

ProbeCommands contexts_commands();

}  // namespace stereosweep::app
