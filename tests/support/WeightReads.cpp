// Preloaded into the program (LD_PRELOAD): adds up how many bytes of weights (*.safetensors) all processes read from
// their files, in the eight bytes of the file STEREOSWEEP_WEIGHT_READS. What other processes send is not counted.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

std::atomic<long>* shared_total() {
  const char* name = std::getenv("STEREOSWEEP_WEIGHT_READS");
  const int file = name == nullptr ? -1 : ::open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(std::atomic<long>)) != 0) {
    std::abort();  // a count of nothing would pass for a good one
  }
  void* memory = ::mmap(nullptr, sizeof(std::atomic<long>), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<std::atomic<long>*>(memory);
}

ssize_t count(int file, ssize_t bytes) {
  static std::atomic<long>* const total = shared_total();
  std::error_code ignored;
  const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), ignored);
  if (bytes > 0 && name.extension() == ".safetensors") {
    *total += bytes;
  }
  return bytes;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pread64(int file, void* bytes, size_t size, off64_t offset) {
  static auto* const call = next<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return count(file, call(file, bytes, size, offset));
}

ssize_t pread(int file, void* bytes, size_t size, off_t offset) { return pread64(file, bytes, size, offset); }

ssize_t read(int file, void* bytes, size_t size) {
  static auto* const call = next<ssize_t(int, void*, size_t)>("read");
  return count(file, call(file, bytes, size));
}

}  // extern "C"
