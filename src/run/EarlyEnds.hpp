// Why a run ends before its time: what a signal means, and ranks that say nothing any more.
#pragma once

#include <functional>
#include <string>

#include "parallel/Heartbeat.hpp"
#include "run/Protocol.hpp"

namespace stereosweep::run {

/// Said last, wherever a run was stopped.
inline constexpr const char* how_to_go_on = "what is finished is kept; run the same command again to go on";

/// STEREOSWEEP_RANK_TIMEOUT_S twice, and four times for rank zero: while blocks are scored rank zero decides within
/// one.
parallel::HeartbeatLimits heartbeat_limits();

/// What rank zero stops for when `signal` has come to the rank of that name. `heartbeat` is null for one rank.
StopOrder explain_signal(int signal, const std::string& rank, parallel::Heartbeat* heartbeat);

/// In the signals' thread, while MPI starts: ends the process with exit code `resume`.
[[noreturn]] void leave_before_start(int signal);

/// In the signals' thread, while nothing is in flight: `begin_end` writes down why, ranks but zero tell rank zero; then
/// the process ends. It returns where `begin_end` says no: the process is ending already, with an exit code of its own.
void leave_for_signal(
    int signal, int rank, parallel::Heartbeat* heartbeat,
    const std::function<bool(const StopOrder&)>& begin_end = [](const StopOrder&) { return true; });

}  // namespace stereosweep::run
