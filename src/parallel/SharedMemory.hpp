// Memory that the ranks of one node share. For the room's own sources only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

/// Collective over `world`, whose groups each get `size` zeroed bytes of their own (0: none are wanted), mapped on each
/// of their ranks as long as its pointer lives. Null where a group gets none: what /dev/shm has no room for is an
/// answer here and no SIGBUS later. The memory has no name: a kill at any moment leaves at most an empty file, which
/// the next start removes. Throws SharedError.
std::shared_ptr<std::byte> share_memory(const Communicator& world, const Communicator& group, std::uint64_t size);

}  // namespace stereosweep::parallel
