// Sleeps that grow while nothing happens: MPI's own waiting spins at 100 %.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace stereosweep::parallel {

/// Each pause is a small part of the time waited so far: looking again costs little, and what happens meanwhile is seen
/// late by that part only.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  /// Something happened: waiting begins anew.
  void reset() { start_ = Clock::now(); }
  /// How long to sleep now.
  std::chrono::microseconds pause() const {
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start_);
    return std::clamp(waited / part, shortest, longest);
  }
  void sleep() const { std::this_thread::sleep_for(pause()); }

 private:
  static constexpr int part = 64;
  static constexpr std::chrono::microseconds shortest{20};
  static constexpr std::chrono::microseconds longest{10000};
  Clock::time_point start_ = Clock::now();
};

}  // namespace stereosweep::parallel
