// What ranks say to each other while blocks are scored.
//   rank 0 -> worker   grant {block ...}   take_back {block}   end {StopOrder}   ping
//   worker -> rank 0   result {Scored}   returned {block}   signalled {number}   pong   bye
// A block that is asked back comes back only where its work has not begun; its result comes otherwise.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "base/Error.hpp"
#include "base/Packing.hpp"
#include "run/ranks/Scorer.hpp"

namespace stereosweep::run {

// Times that ranks agree on. None of them enters a result.
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// After a stop order the block in work may still end; then it is given up. Slurm kills 30 s after TERM, mpirun 1 s.
inline constexpr Seconds stop_grace{5};
/// How long rank zero waits for the others' goodbye after that.
inline constexpr Seconds goodbye_grace{2};
/// Small blocks are journalled together: one sync for all that came within this time.
inline constexpr Seconds commit_interval{0.05};
/// Blocks a rank holds at least: one is finished, one runs, two are planned. Of short blocks it holds as many as take
/// about so long, so that it has work while rank zero is held up or far away.
inline constexpr std::size_t blocks_per_rank = 4;
inline constexpr Seconds held_work{2};
inline constexpr std::uint64_t most_blocks_per_rank = 256;

inline Seconds since(Clock::time_point start) { return Clock::now() - start; }

enum class MessageKind : std::uint32_t { grant = 1, take_back, end, ping, result, returned, signalled, pong, bye };

inline std::uint32_t number(MessageKind kind) { return static_cast<std::uint32_t>(kind); }

/// Why the ranks stop: all is done, or before that.
struct StopOrder {
  base::ExitCode exit_code = base::ExitCode::error;
  std::string cause;
  bool lost = false;  ///< rank zero's own knowledge, not sent: a rank is gone or hangs

  /// The word for it in status.json.
  std::string state() const {
    return exit_code == base::ExitCode::done     ? "done"
           : exit_code == base::ExitCode::resume ? "stopped"
           : lost                                ? "lost"
                                                 : "failed";
  }
};

// For base::pack.
auto fields_of(base::Either<StopOrder> auto& order) { return std::tie(order.exit_code, order.cause); }
auto fields_of(base::Either<Scored> auto& scored) {
  return std::tie(scored.id, scored.seconds, scored.payload, scored.failure, scored.failure_code);
}

}  // namespace stereosweep::run
