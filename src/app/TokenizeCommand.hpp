// `stereosweep tokenize --model DIR [--no-special] [--json-lines]`: one JSON line for each line of standard input.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// A line that is no text is answered {"error": ..}: the rest goes on, the exit status is 1.
int tokenize_command(const Arguments& arguments);

}  // namespace stereosweep::app
