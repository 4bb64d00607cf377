#include "engine/Memory.hpp"

#include <malloc.h>

#include <cstdlib>

namespace stereosweep::engine {

std::string allocator_figures(const std::string& message) {
  const auto end = message.find(" is free.");
  return end == std::string::npos ? message.substr(0, message.find('\n')) : message.substr(0, end + 8);
}

void prepare_host_memory() {
  // glibc gives blocks of a few hundred kB back to the kernel at every free and gets them zeroed at every malloc: a
  // quarter of a bfloat16 forward pass. Here activations of one batch are kept for the next.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
  // Logits of a vocabulary above 65,536 are too large to be kept: 16,000 page faults a product, a third of the time of
  // a small model. In large pages there are thirty. Torch reads this at its first tensor.
  ::setenv("THP_MEM_ALLOC_ENABLE", "1", 0);
}

}  // namespace stereosweep::engine
