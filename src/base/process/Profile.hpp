// Where the time of a process goes: spans of a thread that nest, each counted without those inside it.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace stereosweep::base::profile {

/// From now on spans are counted; before, and without this call, they cost nothing.
void enable();
bool is_enabled();

/// What is called at both ends of every span that counts: it must wait until the device has done what it was asked.
void wait_with(std::function<void()> wait);

/// From now on this thread's spans are listed apart: they run beside those of the others, and wait for no device.
void count_apart();

/// Counts from its making to its end, on the thread that made it. `name` must be a literal; spans of one name add up.
class Span {
 public:
  explicit Span(const char* name);
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span();

 private:
  const char* name_;  // null: nothing is counted
  Span* outer_ = nullptr;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::duration inner_{};
};

/// What `step` returns; its time is counted as a Span of this name.
auto timed(const char* name, auto&& step) {
  const Span span(name);
  return step();
}

/// All spans that have ended, the longest first, as a table with shares of the time since `enable`; what no span covers
/// comes last, and behind it the threads that count apart.
std::string report();

}  // namespace stereosweep::base::profile
