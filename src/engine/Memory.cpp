#include "engine/Memory.hpp"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace stereosweep::engine {

namespace {

// The largest threshold that glibc accepts: what is larger comes from the kernel and goes back to it at every free.
constexpr std::size_t largest_kept = std::size_t{32} << 20;
constexpr std::size_t large_page = std::size_t{2} << 20;

// glibc gives blocks of a few hundred kB back to the kernel at every free and gets them zeroed at every malloc: a
// quarter of a bfloat16 forward pass. Here activations of one batch are kept for the next.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(largest_kept));
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
  ::mallopt(M_TOP_PAD, 16 << 20);
}

// Logits of a vocabulary above 65,536 are too large to be kept: 16,000 page faults a product, a third of the time
// of a small model. In large pages there are thirty.
class LargePageAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    auto block = within_->allocate(bytes);
    if (bytes >= largest_kept) {
      const auto begin = reinterpret_cast<std::uintptr_t>(block.get());
      const auto first = (begin + large_page - 1) / large_page * large_page;
      const auto last = (begin + bytes) / large_page * large_page;
      // Advice: where it is refused, pages stay small.
      ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
    }
    return block;
  }
  c10::DeleterFnPtr raw_deleter() const override { return within_->raw_deleter(); }
  bool is_simple_data_ptr(const c10::DataPtr& block) const override { return within_->is_simple_data_ptr(block); }
  void copy_data(void* target, const void* source, std::size_t bytes) const override {
    within_->copy_data(target, source, bytes);
  }

 private:
  c10::Allocator* within_ = c10::GetCPUAllocator();  // lives as long as the process
};

}  // namespace

void prepare_host_memory() {
  static const bool prepared = [] {
    keep_freed_memory();
    static LargePageAllocator allocator;
    c10::SetCPUAllocator(&allocator);
    return true;
  }();
  static_cast<void>(prepared);
}

}  // namespace stereosweep::engine
