// What a full GPU means: a batch is never cut smaller on the way, because its bits follow its shape and must not depend
// on what else fills the GPU. So a run is refused, with the numbers.
#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <utility>

#include "base/Error.hpp"

namespace stereosweep::engine {

/// What the allocator says of its device, without its advice to programmers.
std::string allocator_figures(const std::string& message);

/// work(); where the GPU's memory is full it throws Error: what was asked for, what is free, what `doing` was, and what
/// helps.
template <class Work>
decltype(auto) within_device_memory(const std::string& doing, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const c10::OutOfMemoryError& error) {
    throw base::Error(
        base::describe("the GPU's memory is full, " + doing, allocator_figures(error.what_without_backtrace()),
                       "take a smaller execution.batch_tokens, model.dtype: bfloat16 or float16, fewer ranks per "
                       "GPU or a larger execution.tensor_parallel; the finished blocks stay"));
  }
}

// How the host's memory is asked for, so that the kernel's work on pages is not a part of every batch.

/// Keeps freed memory for the next batch, and lets torch put large tensors into large pages where the kernel has some.
/// For the whole process; call it before the first tensor.
void prepare_host_memory();

}  // namespace stereosweep::engine
