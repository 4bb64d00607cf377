#include "parallel/SharedSegment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/Error.hpp"
#include "base/files/PendingFile.hpp"

namespace stereosweep::parallel {

SharedSegment::~SharedSegment() {
  if (handle_ >= 0) {
    ::close(handle_);
  }
}

bool SharedSegment::make(const Communicator& world, const Communicator& group, std::uint64_t size) {
  std::optional<base::PendingFile> named;  // a name and no more, until every rank of the group has opened it
  if (group.rank() == 0 && size > 0) {
    try {
      named.emplace("/dev/shm/stereosweep", base::PendingFile::Readers::owner);
      handle_ = ::dup(named->handle());
    } catch (const base::Error&) {
      // no /dev/shm, or none of its room: the answer is no
    }
  }
  const auto path = group.broadcast(named ? named->path().string() : std::string(), 0);
  coordinated(world, "attach_segment", [&] {
    if (group.rank() > 0 && !path.empty()) {
      handle_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    }
    base::fail_if(handle_ < 0 && !path.empty(), "cannot attach memory that the ranks of the node share",
                  std::strerror(errno));
  });
  named.reset();
  const bool reserved =
      group.rank() == 0 && handle_ >= 0 && ::posix_fallocate(handle_, 0, static_cast<off_t>(size)) == 0;
  return group.broadcast(reserved, 0);
}

std::shared_ptr<std::byte> SharedSegment::map(std::uint64_t size, Access access) const {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, handle_, 0);
  base::fail_if(memory == MAP_FAILED, "cannot map memory that the ranks of the node share", std::strerror(errno));
  return {static_cast<std::byte*>(memory), [size](std::byte* bytes) { ::munmap(bytes, size); }};
}

}  // namespace stereosweep::parallel
