// Sleeps that grow while nothing happens: MPI's own waiting spins at 100 %.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace stereosweep::parallel {

class Backoff {
 public:
  void reset() { pause_ = first_pause; }
  void sleep() {
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(pause_ * 2, last_pause);
  }

 private:
  static constexpr std::chrono::microseconds first_pause{20};
  static constexpr std::chrono::microseconds last_pause{1000};
  std::chrono::microseconds pause_ = first_pause;
};

}  // namespace stereosweep::parallel
