// Numbers of a device on their way to the host, for which nobody waits before they are needed.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace stereosweep::engine {

/// What gives an answer later: it waits for the device. To be called once, on any thread.
template <class Answer>
using Later = std::function<Answer()>;

/// Tensors of one device that travel to the host in one copy. On the CPU they stay where they are.
class Download {
 public:
  /// Starts the copy. `parts`: float32, float64, int32 or int64.
  explicit Download(std::vector<at::Tensor> parts);
  /// Waits for the copy; then the parts, contiguous, with their types and shapes.
  const std::vector<at::Tensor>& parts();

 private:
  std::vector<at::Tensor> parts_;
  std::vector<std::int64_t> begins_;  ///< of each part in the copy, bytes; empty: nothing was copied
  at::Tensor copy_;
  std::shared_ptr<c10::Event> done_;
};

}  // namespace stereosweep::engine
