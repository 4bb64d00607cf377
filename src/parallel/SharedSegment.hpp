// Memory that the ranks of one node share. For the room's own sources only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "parallel/Communicator.hpp"

namespace stereosweep::parallel {

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment();

  enum class Access { read, write };
  /// Collective over `world`, whose groups each get `size` zeroed bytes of their own; 0: none are wanted. Returns
  /// whether the group has them: what /dev/shm has no room for is an answer here and no SIGBUS later. The memory has no
  /// name: it lives exactly as long as its mappings, and a kill at any moment leaves at most an empty file, which the
  /// next start removes. Throws SharedError.
  bool make(const Communicator& world, const Communicator& group, std::uint64_t size);
  /// Stays mapped as long as the pointer lives. Throws Error.
  std::shared_ptr<std::byte> map(std::uint64_t size, Access access) const;

 private:
  int handle_ = -1;
};

}  // namespace stereosweep::parallel
