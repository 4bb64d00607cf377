// Library calls on bytes that nobody vouches for: where one crashes or hangs, the program ends with a message of its
// own.
#pragma once

#include <chrono>
#include <string>

namespace stereosweep::base {

/// While it lives, a crash of this thread, or more than `processor_time` of it in one go, ends the process with status
/// 2 after "stereosweep: problem (how) suggestion" on standard error. A guard inside another one starts the clock anew,
/// and so does its end. One thread at a time may hold guards. In the child of `try_in_child` it does
/// nothing: the parent tells how the child ended.
class CallGuard {
 public:
  CallGuard(std::string problem, std::string suggestion, std::chrono::seconds processor_time);
  ~CallGuard();
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  const CallGuard* outer_ = nullptr;
  std::string problem_;
  std::string suggestion_;
  std::chrono::seconds processor_time_;
  friend struct CallGuardAccess;
};

}  // namespace stereosweep::base
