// How far a run is: one line per interval in a log, a bar on a terminal.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "run/directory/StatusFile.hpp"
#include "run/ranks/Messages.hpp"

namespace stereosweep::run {

class Progress {
 public:
  /// `ranks`: their names, for that of the slowest.
  explicit Progress(std::vector<std::string> ranks);
  /// One scored block of `rank`: its cells, tokens and the seconds it took there.
  void add(int rank, std::uint64_t cells, std::uint64_t tokens, double seconds);
  /// How long a block takes on `rank` (s): its longest so far; before its first, the longest of all; 0: none yet.
  double longest_block(int rank) const;
  /// Of the rank's newest blocks; 0: none was added.
  double seconds_per_block(int rank) const { return seconds_per_block_[static_cast<std::size_t>(rank)]; }
  /// Writes rates and the estimate into `status`.
  void estimate(RunStatus& status);
  /// Prints if it is time to, or if `moment` is last. Returns whether an interval has passed.
  enum class Moment { any, last };
  bool report(const RunStatus& status, Moment moment);

 private:
  struct Sample {
    Clock::time_point time;
    std::uint64_t cells = 0;
    std::uint64_t tokens = 0;
  };
  std::vector<std::string> ranks_;
  std::vector<double> longest_block_;      ///< of each rank (s)
  std::vector<double> seconds_per_block_;  ///< running mean of each rank; 0: no block yet
  std::deque<Sample> samples_;             ///< sums since the start, a minute of them
  std::uint64_t cells_ = 0;
  std::uint64_t tokens_ = 0;
  Clock::time_point last_line_ = Clock::now();
  Clock::time_point last_bar_ = Clock::now();
  Seconds interval_;
  bool terminal_ = false;  ///< whether standard error ends on one
};

/// "12/40 blocks (resumed 3), 0:01:02 left, 1,234/4,096 cells, 120 cells/s, 3,400 tokens/s, slowest rank 1 ..."
std::string progress_line(const RunStatus& status);
/// The same after a bar, in fewer characters than the terminal has columns, since a line that wraps cannot be written
/// over: parts that do not fit are left out, none is cut.
std::string terminal_line(const RunStatus& status, std::size_t columns);

/// "1:02:03"
std::string hours(double seconds);

/// "1,234 queries, 1,200 distinct sequences, 20,400 tokens in them, 1,234 rows of the vocabulary": all blocks that are
/// in the journal, whoever scored them; the tokens are those that `plan` counts.
std::string work_text(const query::EngineCounts& cost);

}  // namespace stereosweep::run
