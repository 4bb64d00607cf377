// Whether what the program prints ends on a terminal, and how wide that is.
#pragma once

#include <cstddef>
#include <optional>

namespace stereosweep::base {

/// Columns of the terminal that `stream` (STDOUT_FILENO, STDERR_FILENO) ends on, from COLUMNS where it does not say
/// them, else `otherwise`; nothing: a file or a pipe. Under mpirun the launcher's own stream counts, which prints what
/// this process writes; of a process that mpirun started on another machine nothing is known.
std::optional<std::size_t> terminal_columns(int stream, std::size_t otherwise);

}  // namespace stereosweep::base
