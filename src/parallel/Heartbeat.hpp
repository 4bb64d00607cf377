// Signs of life of all ranks, from a thread and over a socket of their own: whatever the main threads do, in MPI or
// not, and however long it takes, a rank that is stopped or whose node is gone is noticed.
//   rank -> rank 0   beat   goodbye   last words {status, text}   gave up {text}
//   rank 0 -> rank   answer   ask   all left   stop
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/Error.hpp"
#include "parallel/Communicator.hpp"
#include "parallel/DatagramSocket.hpp"
#include "parallel/RankProcess.hpp"

namespace stereosweep::parallel {

/// How long a silence (s) means that a rank is lost. Rank zero decides first, for it writes down why.
struct HeartbeatLimits {
  std::chrono::duration<double> others{240};
  std::chrono::duration<double> rank_zero{480};
};

/// What all ranks know of each other.
struct HeartbeatGroup {
  std::array<std::byte, 16> secret{};    ///< letters without it are not ours
  std::vector<std::uint32_t> addresses;  ///< of rank zero's machine
  std::uint16_t port = 0;                ///< of rank zero
  std::vector<std::string> hosts;        ///< one per rank
};

/// Why a rank has ended before the others.
struct EarlyEnd {
  base::ExitCode exit_code = base::ExitCode::error;
  std::string cause;
  bool lost = false;  ///< it said nothing itself: it died or hangs
  bool operator==(const EarlyEnd&) const = default;
};

class Heartbeat {
 public:
  /// Called in the heartbeat's thread when a rank is lost; then the process ends with status 1, rank zero's after it
  /// has told the others. It has 10 s: then SIGALRM ends the process.
  using Report = std::function<void(const std::string& cause)>;
  using Leave = std::function<void()>;

  /// Local; see start_heartbeat. `leave` ends the process.
  Heartbeat(int rank, HeartbeatGroup group, HeartbeatLimits limits, std::unique_ptr<DatagramSocket> socket,
            Leave leave);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  /// Falls silent; `wait_for_all_to_leave` first, or the others take this rank for lost.
  ~Heartbeat();

  /// What is done about a lost rank before this process ends; waits for one that is in work.
  void set_report(Report report);
  /// Other ranks: whether rank zero has answered within `longest`. Without it nobody is watched.
  bool wait_for_answer(std::chrono::duration<double> longest);
  /// Other ranks: rank zero has answered once, so that its silence will be noticed.
  bool hears_rank_zero() const;
  /// After MPI's end: returns once every rank is here; on rank zero once the others of its machine have ended.
  void wait_for_all_to_leave();
  /// Tells rank zero why this rank is about to end without the others. Safe in any thread.
  void say_last_words(const EarlyEnd& end);
  /// Rank zero: who has ended, where that can be told; asked when a signal has come, because launchers send one to all
  /// when a rank has died. Processes of this machine that are gone without a word come first; ranks of other machines
  /// are lost where they neither answer now nor have said why. Takes 0.8 s where somebody does not answer.
  std::optional<EarlyEnd> find_early_end();
  /// Rank zero: all others can be reached, so that `find_early_end` misses none.
  bool hears_all() const;
  /// Rank zero: those that live, as far as is known, and do not answer within 0.8 s.
  std::vector<std::size_t> find_silent_ranks();

 private:
  enum class Kind : std::uint8_t;
  struct Peer;
  struct Letter;
  using Clock = std::chrono::steady_clock;
  void work();
  void look_back(Clock::time_point now);
  std::string lost_rank(Clock::time_point now) const;
  void end(const std::string& cause);
  void wait_for_processes();
  void read_letters();
  void take(const Letter& letter, const Endpoint& sender);
  void send(Kind kind, const Endpoint& to, const std::string& text = "", int status = 0);
  void send_to_zero(Kind kind, const std::string& text = "", int status = 0);
  std::string name_of(std::size_t rank) const;
  std::string death_of(std::size_t rank) const;
  std::vector<std::size_t> ask_all(std::unique_lock<std::mutex>& lock);
  bool all_left() const;

  const int rank_;
  const RankProcess process_ = this_process();
  const HeartbeatGroup group_;
  const HeartbeatLimits limits_;
  const std::chrono::duration<double> interval_;
  const std::unique_ptr<DatagramSocket> socket_;
  const Leave leave_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mutex report_mutex_;
  Report report_;
  std::vector<Peer> peers_;           ///< rank zero: one per rank; others: rank zero alone
  std::vector<Endpoint> candidates_;  ///< where rank zero may be reached; one once it has answered
  std::string gave_up_;               ///< rank zero: why another rank has given it up
  bool told_to_stop_ = false;
  bool all_left_ = false;
  bool ending_ = false;
  Clock::time_point last_look_ = Clock::now();
  Clock::time_point beat_at_;
  std::thread thread_;
};

/// Ends this process once every rank is here, after MPI's end: at once, because libraries that clean up take a while in
/// which nobody would be watched.
[[noreturn]] void leave_together(Heartbeat& heartbeat, int status);

/// Collective, seconds; a rank that hangs in it is noticed as in MPI's start. Null for one rank. A rank that rank zero
/// cannot hear (a firewall between nodes) is named in a warning and not watched.
std::unique_ptr<Heartbeat> start_heartbeat(const Communicator& world, HeartbeatLimits limits);

}  // namespace stereosweep::parallel
