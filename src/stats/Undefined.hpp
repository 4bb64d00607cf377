// Numbers that may not exist, with the reason. No function of this room returns a NaN without one.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace stereosweep::stats {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

enum class Reason : std::uint8_t {
  ok = 0,
  no_values = 1,   ///< nothing to compute from
  too_few = 2,     ///< fewer values than the statistic needs
  constant = 3,    ///< one side does not vary
  not_finite = 4,  ///< an input is NaN or infinite
};

std::string_view name_of(Reason reason);

/// A number, or NaN with the reason.
struct Value {
  double value = nan;
  Reason reason = Reason::no_values;
  bool defined() const { return reason == Reason::ok; }
};

}  // namespace stereosweep::stats
