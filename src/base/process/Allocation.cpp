#include "base/process/Allocation.hpp"

#include <malloc.h>

namespace stereosweep::base {

void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc accepts
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
}

}  // namespace stereosweep::base
