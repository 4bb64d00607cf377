#include "parallel/SharedSegment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "base/Error.hpp"

namespace stereosweep::parallel {

SharedSegment::~SharedSegment() {
  if (handle_ >= 0) {
    ::close(handle_);
  }
  unlink();
}

std::string SharedSegment::create(std::uint64_t size) {
  std::random_device random;
  name_ = "/stereosweep-" + std::to_string(::getpid()) + "-" + std::to_string(random());
  handle_ = ::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (handle_ >= 0 && ::posix_fallocate(handle_, 0, static_cast<off_t>(size)) == 0) {
    return name_;
  }
  unlink();
  return "";
}

void SharedSegment::attach(const std::string& name, Access access) {
  handle_ = ::shm_open(name.c_str(), access == Access::read ? O_RDONLY : O_RDWR, 0);
  if (handle_ < 0) {
    throw base::Error(base::describe("cannot attach memory that the ranks of the node share", std::strerror(errno)));
  }
}

void SharedSegment::unlink() {
  if (!name_.empty()) {
    ::shm_unlink(name_.c_str());
    name_.clear();
  }
}

std::shared_ptr<std::byte> SharedSegment::map(std::uint64_t size, Access access) const {
  const int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, handle_, 0);
  if (memory == MAP_FAILED) {
    throw base::Error(base::describe("cannot map memory that the ranks of the node share", std::strerror(errno)));
  }
  return {static_cast<std::byte*>(memory), [size](std::byte* bytes) { ::munmap(bytes, size); }};
}

}  // namespace stereosweep::parallel
