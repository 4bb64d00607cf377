// How the host's memory is asked for, so that the kernel's work on pages is not a part of every batch.
#pragma once

namespace stereosweep::engine {

/// Keeps freed memory for the next batch, and lets tensors above what glibc keeps lie in large pages where the kernel
/// has some. For the whole process; call it before the first large tensor. Calls after the first change nothing.
void prepare_host_memory();

}  // namespace stereosweep::engine
