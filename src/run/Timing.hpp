// Times that ranks agree on. None of them enters a result.
#pragma once

#include <chrono>

namespace stereosweep::run {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// After a stop order the block in work may still end; then it is given up. Slurm kills 30 s after TERM, mpirun 1 s.
inline constexpr Seconds stop_grace{5};
/// How long rank zero waits for the others' goodbye after that.
inline constexpr Seconds goodbye_grace{2};
/// Small blocks are journalled together: one sync for all that came within this time.
inline constexpr Seconds commit_interval{0.05};
/// Blocks a rank holds: one in work, one waiting.
inline constexpr int blocks_per_rank = 2;

inline Seconds since(Clock::time_point start) { return Clock::now() - start; }

}  // namespace stereosweep::run
