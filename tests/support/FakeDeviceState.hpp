// What the parts of the fake device share (see FakeDevice.hpp).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/FakeDevice.hpp"

namespace stereosweep::testing {

/// One piece of the device's memory.
struct DeviceBlock {
  void* memory = nullptr;
  std::size_t bytes = 0;
  int users = 0;  ///< kernels that run on it
};

at::Allocator& device_allocator();
at::Allocator& pinned_allocator();
bool is_pinned(const void* memory);

/// While it lives, the host may touch the memory of the tensors that it was shown.
class OpenMemory {
 public:
  OpenMemory() = default;
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
  ~OpenMemory();
  /// The same numbers at the same place as a tensor of the CPU, which must not outlive this.
  at::Tensor host_view(const at::Tensor& tensor);

 private:
  std::vector<DeviceBlock*> blocks_;
};

bool is_on_device(const at::Tensor& tensor);
/// A tensor of the device with the numbers of one of the CPU.
at::Tensor on_fake_device(const at::Tensor& host);

/// The current stream: its clock, its counts and its copies that are not yet done; and the second one's kernels.
class FakeStream {
 public:
  using Clock = std::chrono::steady_clock;
  struct Mark {
    std::int64_t number = 0;  ///< of things issued before it, by its stream
    bool is_of_second = false;
    Clock::time_point time;  ///< when the device is done with them
  };

  /// `name`: of an operator, with its overload if it has one: "aten::add.out".
  void launch(const std::string& name, std::int64_t times = 1);
  void gather(std::int64_t bytes);
  void upload(const void* from, std::size_t bytes, bool waits);
  /// `numbers`: what the copy brings; `waits` false: to pinned memory, written at the next wait.
  void download(void* to, const void* numbers, std::size_t bytes, bool waits);
  void synchronise();
  Mark mark();
  /// Waits for what was issued before the mark; counts unless it was done.
  void wait_for(const Mark& mark);
  bool is_done(const Mark& mark);

  /// The second stream.
  void launch_beside(const std::string& name, const DeviceBlock& memory, std::function<void()> kernel);
  Mark mark_of_second();
  /// What follows on one stream runs after the mark of the other one.
  void hold(bool second, const Mark& mark);
  /// Throws where a kernel of the second stream is still to write there.
  void check_untouched(const DeviceBlock& memory);

  DeviceCounts counts();
  void reset_counts();
  void set_busy_time(std::chrono::microseconds time);
  void set_copy_order(std::uint64_t seed);
  /// Memory of the host that nobody holds any more, from now or when the copies are done.
  void release_pinned(void* memory);

 private:
  struct Copy {
    std::int64_t number = 0;
    bool is_upload = false;
    void* host = nullptr;
    std::vector<char> bytes;
  };
  void finish(std::int64_t number, Clock::time_point time, std::unique_lock<std::mutex>& lock);
  void finish_some(std::unique_lock<std::mutex>& lock);
  void run_second(std::int64_t until, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  DeviceCounts counts_;
  std::int64_t issued_ = 0;
  std::int64_t done_ = 0;
  std::vector<Copy> copies_;
  std::vector<void*> released_;
  std::chrono::microseconds busy_time_{0};
  Clock::time_point busy_until_{};
  bool batch_is_open_ = false;
  bool copies_are_late_ = true;
  std::minstd_rand moments_;

  struct SideKernel {
    DeviceBlock memory;
    std::function<void()> run;
  };
  std::deque<SideKernel> beside_;  ///< that have not run
  std::int64_t side_issued_ = 0;
  std::int64_t side_done_ = 0;
  std::int64_t side_sees_ = 0;  ///< of what the current stream was given
};

FakeStream& fake_stream();

}  // namespace stereosweep::testing
