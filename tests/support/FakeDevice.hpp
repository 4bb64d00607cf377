// A device of torch's for tests: to those who call it, it is what a GPU is, but the processor computes.
//   memory    cannot be touched by the host outside of the device's kernels and copies: the process dies by SIGSEGV, as
//             where a freed block is touched; a new block holds NaN or -1, never the zeros that a GPU's may not have
//   kernels   those of the CPU, on the same memory; attention and products that only CUDA has are written here,
//   plainly,
//             in float32, and throw where CUDA's break their rules
//   devices   a tensor of the CPU beside one of the device throws as on CUDA: numbers without dimension are allowed
//             where CUDA allows them
//   order     a copy that does not wait is done as late as a GPU may do it: what it brings to the host is there after
//             the next wait (and 0xFF until then), and what it reads from the host must stay until then; or at a moment
//             of the device's own (set_copy_order)
//   streams   the current one runs a kernel when it is launched. There is a second one for the kernels of other
//             libraries (run_on_device), which run as late as they may: when the current stream waits for them; or at
//             moments of the device's own. Each must be held behind all that the current stream was given before, and
//             until they have run nobody may touch or free what they write
//   threads   all may use it
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace stereosweep::testing {

/// What the device was asked for.
struct DeviceCounts {
  /// Kernels by operator, without "aten::". Composite operators count as those that CUDA has kernels for, views and
  /// empty tensors not at all.
  std::map<std::string, std::int64_t> launches;
  std::set<std::string> operators;       ///< the same as torch's dispatcher calls them: "aten::add.out"
  std::int64_t waiting_uploads = 0;      ///< from memory that is not pinned, or of another dtype, or told to wait
  std::int64_t waiting_downloads = 0;    ///< likewise; numbers that the host asks for one by one included
  std::int64_t synchronisations = 0;     ///< waits for a stream, the device or an event whose time had not come, and
                                         ///< operators whose result's size is a question to the device
  std::int64_t non_blocking_copies = 0;  ///< between host and device
  std::int64_t side_launches = 0;        ///< of `launches`, those on the second stream
  std::int64_t gathered_bytes = 0;       ///< written by operators that pick rows or numbers by an index

  std::int64_t all_launches() const;
  /// Everything that the host waited for.
  std::int64_t blocking_copies() const { return waiting_uploads + waiting_downloads + synchronisations; }
};

/// Registers the device at the first call.
at::Device fake_device();

DeviceCounts device_counts();
void reset_device_counts();

/// From the first kernel after a download on the device is busy so long, one batch after the other; who waits for it
/// waits for that. 0 at first.
void set_busy_time(std::chrono::microseconds time);

/// When copies that do not wait, and kernels of the second stream, are done: 0, at first, as late as they may be; else
/// at moments drawn from this seed, in the order of the stream.
void set_copy_order(std::uint64_t seed);

/// A kernel of another library's: counts as a launch of `name` and may touch these `bytes`. `stream`: the current one
/// (null), or the second one's handle.
void run_on_device(const std::string& name, void* memory, std::size_t bytes, std::function<void()> kernel,
                   void* stream = nullptr);

}  // namespace stereosweep::testing
