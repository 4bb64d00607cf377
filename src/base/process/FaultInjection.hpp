// Faults on demand, compiled in so that the tested binary is the shipped one: STEREOSWEEP_INJECT=point:n:action[:rank]
// makes the n-th pass (1-based; *: every one) of a named point fail, e.g. step:finish_stage:1:kill:2. Several are
// separated by commas. Without the variable it costs one look at an empty list.
#pragma once

#include <string>
#include <string_view>

namespace stereosweep::base {

/// What the caller must now pretend: an errno (EIO, ENOSPC), `short_write`, or 0 for nothing. The actions `exit`
/// (status 3) and `kill` (SIGKILL) do not return; `throw` throws base::Error; `hang` never returns; `stop` (SIGSTOP)
/// returns when the process is continued; `delay=MS` sleeps; `hold=FILE` waits until FILE exists or `end_holds`.
inline constexpr int short_write = -1;

/// Counts one pass of `point` in this process.
int inject_fault(std::string_view point);

/// What the variable holds, given once by main, before there are threads; replaces what was asked for, counts included.
/// Throws InputError if it is malformed.
void set_faults(std::string_view text);

/// The run stops: what `hold` keeps waiting goes on, and holds no more until faults are set again.
void end_holds();

/// The text given last.
const std::string& active_faults();

/// Faults with a rank apply to the process that was given it here.
void set_fault_rank(int rank);

}  // namespace stereosweep::base
