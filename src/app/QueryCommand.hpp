// `stereosweep query --model DIR [--dtype float32|bfloat16|float16] [--threads N]`: ask the engine directly.
#pragma once

#include "app/Commands.hpp"

namespace stereosweep::app {

/// One JSON query per line on standard input, one JSON answer per line on standard output, in order (formats:
/// query/QueryJson.hpp). Every line is answered by a forward pass of its own, so that an answer depends on nothing
/// else in the input. Exit status 1 if any line was a bad query; throws InputError (2) for usage and models.
int query_command(const Arguments& arguments);

}  // namespace stereosweep::app
