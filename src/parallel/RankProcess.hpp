// Whether a process of this machine still lives. For the room's own sources and tests only.
#pragma once

#include <cstdint>

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

}  // namespace stereosweep::parallel
