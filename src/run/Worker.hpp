// Ranks above zero: blocks from rank zero to the scorer, raw numbers back.
#pragma once

#include "parallel/Messenger.hpp"
#include "probe/Probe.hpp"
#include "run/Protocol.hpp"
#include "run/Signals.hpp"

namespace stereosweep::run {

/// Whether somebody else notices that rank zero is gone.
enum class RankZero { watched, unwatched };

/// Serves until rank zero says finish (exit code `done`) or stop. Local calls only. Throws Error if a rank zero that
/// nobody else watches has not been heard for three times STEREOSWEEP_RANK_TIMEOUT_S.
StopOrder work_for_rank_zero(parallel::Messenger& messenger, Scorer& scorer, const plan::BlockPlan& blocks,
                             const SignalWatcher& signals, RankZero rank_zero);

}  // namespace stereosweep::run
