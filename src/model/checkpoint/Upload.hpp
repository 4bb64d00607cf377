// Numbers on their way from the host to a device: two pinned buffers, of which one is filled while the other is copied.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <array>
#include <cstdint>
#include <optional>

namespace stereosweep::model {

class Upload {
 public:
  /// Of one buffer, unless more is asked for at once.
  static constexpr std::int64_t usual_bytes = std::int64_t{4} << 20;

  /// Takes no memory yet.
  explicit Upload(c10::Device device) : device_(device) {}

  /// Pinned memory of the host for `count` numbers, free to be written: waits for the copy that last read it.
  at::Tensor next(std::int64_t count, at::ScalarType type);
  /// Enqueues the copy of what `next` returned last to `destination`, on the current stream; does not wait.
  void send(const at::Tensor& destination);

 private:
  struct Buffer {
    at::Tensor bytes;
    std::optional<c10::Event> copied;
  };
  c10::Device device_;
  std::array<Buffer, 2> buffers_;
  std::size_t current_ = 0;
  at::Tensor filled_;
};

}  // namespace stereosweep::model
