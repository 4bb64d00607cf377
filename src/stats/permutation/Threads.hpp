// Work on a few threads that end before the call does.
#pragma once

#include <thread>
#include <vector>

namespace stereosweep::stats {

/// Runs `work(thread)` for every thread number below `num_threads` (at least one); number 0 is the calling thread.
/// `work` must not throw.
template <class Work>
void on_threads(unsigned num_threads, const Work& work) {
  std::vector<std::jthread> others;
  for (unsigned thread = 1; thread < num_threads; ++thread) {
    others.emplace_back([&work, thread] { work(thread); });
  }
  work(0U);
}

}  // namespace stereosweep::stats
