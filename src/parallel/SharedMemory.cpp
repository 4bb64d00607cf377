#include "parallel/SharedMemory.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/Error.hpp"
#include "base/files/File.hpp"

namespace stereosweep::parallel {

std::shared_ptr<std::byte> share_memory(const Communicator& world, const Communicator& group, std::uint64_t size) {
  std::optional<base::PendingFile> named;  // a name and no more, until every rank of the group has opened it
  if (group.rank() == 0 && size > 0) {
    try {
      named.emplace("/dev/shm/stereosweep", base::PendingFile::Readers::owner);
    } catch (const base::Error&) {
      // no /dev/shm, or none of its room: the answer is no
    }
  }
  const auto path = group.broadcast(named ? named->path().string() : std::string(), 0);
  std::shared_ptr<const int> file;
  auto memory = coordinated(world, "attach_segment", [&]() -> std::shared_ptr<std::byte> {
    if (path.empty()) {
      return nullptr;
    }
    file = base::open_descriptor(path, O_RDWR | O_NOFOLLOW);
    void* const mapped = *file < 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    base::fail_if(mapped == MAP_FAILED, "cannot attach memory that the ranks of the node share", std::strerror(errno));
    return {static_cast<std::byte*>(mapped), [size](std::byte* bytes) { ::munmap(bytes, size); }};
  });
  named.reset();
  const bool reserved = group.rank() == 0 && memory && ::posix_fallocate(*file, 0, static_cast<off_t>(size)) == 0;
  return group.broadcast(reserved, 0) ? memory : nullptr;
}

}  // namespace stereosweep::parallel
