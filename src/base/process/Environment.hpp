// What surrounds the process: variables of the environment (limits of waiting and intervals, never anything that enters
// a result), the own Python, the terminal that what is printed may end on, and how wide that is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace stereosweep::base {

/// Seconds from a variable, at most `longest_wait_s`; `otherwise` if it is not set. Throws InputError unless it is a
/// positive number.
double seconds_from_environment(const char* name, double otherwise);
/// Value of a variable; "" if it is not set.
std::string text_from_environment(const char* name);
/// Slurm has started this batch job before.
bool is_requeued();
/// "SLURM_JOB_GPUS=0,1": what tells that Slurm has granted GPUs here; "" if nothing does.
std::string granted_gpus();
/// "2026-11-21T05:00:00Z"
std::string utc_now();

/// Where build/python, which env/setup.sh makes above this program's build/NAME/bin, is expected.
std::filesystem::path python_of_build();
/// $STEREOSWEEP_PYTHON; else python_of_build() where it is; else "".
std::string own_python();

/// Columns of the terminal that `stream` (STDOUT_FILENO, STDERR_FILENO) ends on, from COLUMNS where it does not say
/// them, else `otherwise`; nothing: a file or a pipe. Under mpirun the launcher's own stream counts, which prints what
/// this process writes; of a process that mpirun started on another machine nothing is known.
std::optional<std::size_t> terminal_columns(int stream, std::size_t otherwise);

}  // namespace stereosweep::base
