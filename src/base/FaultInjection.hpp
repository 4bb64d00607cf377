// Faults on demand, compiled in so that the tested binary is the shipped one: STEREOSWEEP_INJECT=point:n:action[:rank]
// makes the n-th pass (1-based) of a named point fail. Several, separated by commas. Without the variable it costs a
// test of one flag.
#pragma once

#include <string_view>

namespace stereosweep::base {

/// What the caller must now pretend: an errno (EIO, ENOSPC), `short_write`, or 0 for nothing. The actions `exit`
/// (status 3) and `kill` (SIGKILL) do not return; `throw` throws base::Error; `hang` never returns; `stop` (SIGSTOP)
/// returns when the process is continued; `delay=MS` sleeps.
inline constexpr int short_write = -1;

/// Counts one pass of `point` in this process. Throws InputError if the variable is malformed.
int inject_fault(std::string_view point);

/// Replaces what the variable asked for, counts included.
void set_faults(std::string_view text);

/// Faults with a rank apply to the process that was given it here.
void set_fault_rank(int rank);

}  // namespace stereosweep::base
