// A rank that is stopped or hangs while MPI starts lets all others wait in MPI_Init for ever: this ends them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace stereosweep::parallel {

/// Ends this process with status 75 (nothing was begun: start again) and a message on standard error if it still lives
/// after `limit`; the launcher then ends the other ranks. Local.
class StartWatch {
 public:
  explicit StartWatch(std::chrono::duration<double> limit);
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;
  ~StartWatch();

 private:
  void watch();
  std::chrono::duration<double> limit_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool started_ = false;
  std::thread thread_;
};

/// STEREOSWEEP_START_TIMEOUT_S, else 600 s. Throws InputError if it is no positive number.
std::chrono::duration<double> start_limit();

}  // namespace stereosweep::parallel
