// Ranks above zero: blocks from rank zero to the scorer, raw numbers back.
#pragma once

#include "parallel/Messenger.hpp"
#include "probes/Probe.hpp"
#include "run/Protocol.hpp"
#include "run/Signals.hpp"

namespace stereosweep::run {

/// Serves until rank zero says finish (exit code `done`) or stop. Local calls only. Throws Error if rank zero, which
/// pings, has not been heard for three times STEREOSWEEP_RANK_TIMEOUT_S.
StopOrder work_for_rank_zero(parallel::Messenger& messenger, Scorer& scorer, const sweep::BlockPlan& blocks,
                             const SignalWatcher& signals);

}  // namespace stereosweep::run
