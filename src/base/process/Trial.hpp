// Work that may hang or crash, tried in a child process first: libraries that read files are not all safe on damaged
// ones.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace stereosweep::base {

struct TrialLimits {
  std::chrono::seconds processor_time{3};     ///< of one step
  std::chrono::seconds wall_time{60};         ///< of one step: a slow disk is no fault
  std::size_t memory = std::size_t{1} << 30;  ///< bytes over what this process has mapped
};

/// Called by the work after every part of it that ended well: the clocks start anew.
using TrialStep = std::function<void()>;

/// Runs `work` in a child process and returns how it failed: the text of what it threw, the signal that ended it, or
/// the limit that it met; "" if it ended well. Nothing that the work does is seen by this process, but
/// what it writes to memory that both share (ELMo's weights come that way). Call it where no
/// other thread of this process is needed by the work. Throws Error if no child can be made.
std::string try_in_child(const std::function<void(const TrialStep&)>& work, const TrialLimits& limits = {});

}  // namespace stereosweep::base
