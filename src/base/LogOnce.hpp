// Messages that every rank would write alike.
#pragma once

#include "base/Log.hpp"

namespace stereosweep::base {

/// Writes the line where `set_log_rank` has given rank zero or none, so that it stands there once.
void log_once(LogLevel level, std::string_view message);

}  // namespace stereosweep::base
