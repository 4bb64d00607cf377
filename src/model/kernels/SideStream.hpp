// A second stream of a device, for work of other libraries beside torch's kernels, which run on the current stream.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>
#include <utility>

namespace stereosweep::model {

/// Work on a second stream. What it reads and writes must live until wait(); where nobody has waited before it goes,
/// the current stream waits, because memory is used again in that stream's order.
class SideWork {
 public:
  SideWork() = default;
  explicit SideWork(std::unique_ptr<c10::Event> done) : done_(std::move(done)) {}
  SideWork(SideWork&& other) noexcept = default;
  SideWork& operator=(SideWork&& other) noexcept {
    std::swap(done_, other.done_);
    return *this;
  }
  ~SideWork() {
    try {
      wait();
    } catch (const c10::Error&) {  // the device has failed, and its next operator says so
    }
  }

  /// What the current stream is given from now on runs after it. The host does not wait.
  void wait() {
    if (done_) {
      const c10::impl::VirtualGuardImpl device(done_->device_type());
      done_->block(device.getStream(done_->device()));
      done_.reset();
    }
  }

 private:
  std::unique_ptr<c10::Event> done_;
};

class SideStream {
 public:
  /// Its work goes before kernels that wait for a place on the device.
  explicit SideStream(c10::Device device)
      : device_(device), stream_(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, true)) {}

  /// enqueue(stream), with the device's own handle (cudaStream_t), behind all that the current stream was given so far.
  template <class Enqueue>
  SideWork run(Enqueue&& enqueue) const {
    auto event = std::make_unique<c10::Event>(device_.type());
    event->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    event->block(stream_);
    enqueue(stream_.native_handle());
    event->record(stream_);
    return SideWork(std::move(event));
  }

 private:
  c10::Device device_;
  c10::Stream stream_;
};

}  // namespace stereosweep::model
