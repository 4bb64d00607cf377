#include "engine/OutOfMemory.hpp"

#include <cstdlib>

#include "base/process/Processors.hpp"

namespace stereosweep::engine {

std::string allocator_figures(const std::string& message) {
  const auto end = message.find(" is free.");
  return end == std::string::npos ? message.substr(0, message.find('\n')) : message.substr(0, end + 8);
}

void prepare_host_memory() {
  base::keep_freed_memory();  // a quarter of a bfloat16 forward pass: activations of one batch are kept for the next
  // Logits of a vocabulary above 65,536 are too large to be kept: 16,000 page faults a product, a third of the time of
  // a small model. In large pages there are thirty. Torch reads this at its first tensor.
  ::setenv("THP_MEM_ALLOC_ENABLE", "1", 0);
}

}  // namespace stereosweep::engine
