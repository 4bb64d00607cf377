// Memory that the ranks of one node share, without a name once all of them hold it. For the room's own sources only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace stereosweep::parallel {

class SharedSegment {
 public:
  SharedSegment() = default;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  ~SharedSegment();

  enum class Access { read, write };
  /// One rank: reserves `size` zeroed bytes, so that a full /dev/shm is an answer here and no SIGBUS later. Returns the
  /// name for the others; empty: no room.
  std::string create(std::uint64_t size);
  /// The others. Throws Error.
  void attach(const std::string& name, Access access);
  /// To be called by all once every rank holds it: from here on the memory lives exactly as long as its mappings.
  void unlink();
  /// Stays mapped as long as the pointer lives. Throws Error.
  std::shared_ptr<std::byte> map(std::uint64_t size, Access access) const;

 private:
  int handle_ = -1;
  std::string name_;
};

}  // namespace stereosweep::parallel
