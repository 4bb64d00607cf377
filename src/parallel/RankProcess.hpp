// A process of this machine, such as a rank.
#pragma once

#include <cstdint>
#include <optional>

namespace stereosweep::parallel {

/// A process as the kernel counts it: a number is given again, number and start together are not.
struct RankProcess {
  std::int64_t number = 0;
  std::uint64_t start = 0;  ///< ticks since the machine's start; 0: unknown
  bool operator==(const RankProcess&) const = default;
};

RankProcess this_process();

/// Whether it is there and no corpse that waits for its parent. Processes of other machines or containers are not.
bool is_alive(const RankProcess& process);

/// What becomes of a process of this machine, watched from its life on.
class ProcessWatch {
 public:
  explicit ProcessWatch(const RankProcess& process);
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;
  ~ProcessWatch();
  /// As wait(2) tells it, once the process has ended; nothing under Linux before 6.15 where its parent has fetched it.
  std::optional<int> wait_status() const;

 private:
  RankProcess process_;
  int handle_;
};

/// Whether somebody has stopped it (SIGSTOP).
bool is_stopped(const RankProcess& process);

/// The mpirun above this process; nothing where another launcher has started it.
std::optional<RankProcess> find_launcher();

}  // namespace stereosweep::parallel
