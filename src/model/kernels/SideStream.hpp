// A second stream of a device, for work of other libraries beside torch's kernels, which run on the current stream.
#pragma once

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>

namespace stereosweep::model {

/// What the current stream is given from now on runs after the work. The host does not wait.
struct WaitForWork {
  void operator()(c10::Event* done) const noexcept {
    const std::unique_ptr<c10::Event> event(done);
    try {
      event->block(c10::impl::VirtualGuardImpl(event->device_type()).getStream(event->device()));
    } catch (const c10::Error&) {  // the device has failed, and its next operator says so
    }
  }
};
/// Work on a second stream. What it reads and writes must live until it goes, or reset() waits: memory is used again in
/// the current stream's order.
using SideWork = std::unique_ptr<c10::Event, WaitForWork>;

/// A stream of torch that tells the device's own handle: of 2.11 or newer.
template <class Stream>
concept StreamWithHandle = requires(const Stream& stream) {
  stream.native_handle();
};

class SideStream {
 public:
  /// False with torch 2.10: there the work runs on the default stream, in turn with torch's kernels.
  static constexpr bool runs_beside = StreamWithHandle<c10::Stream>;

  /// Its work goes before kernels that wait for a place on the device.
  explicit SideStream(c10::Device device) : device_(device), stream_(stream_of(device)) {}

  /// enqueue(stream), with the device's own handle (cudaStream_t), behind all that the current stream was given so far.
  template <class Enqueue>
  SideWork run(Enqueue&& enqueue) const {
    auto event = std::make_unique<c10::Event>(device_.type());
    event->record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    event->block(stream_);
    enqueue(handle_of(stream_));
    event->record(stream_);
    return SideWork(event.release());
  }

 private:
  static c10::Stream stream_of(c10::Device device) {
    const c10::impl::VirtualGuardImpl guard(device.type());
    return runs_beside ? guard.getStreamFromGlobalPool(device, true) : guard.getDefaultStream(device);
  }
  template <class Stream>
  static void* handle_of(const Stream& stream) {
    if constexpr (StreamWithHandle<Stream>) {
      return stream.native_handle();
    } else {
      return nullptr;
    }
  }

  c10::Device device_;
  c10::Stream stream_;
};

}  // namespace stereosweep::model
