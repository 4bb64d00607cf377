// Contracts. ASSERT is always on (a broken one is our bug); EXPECT only in debug builds, for hot loops.
#pragma once

#include <string>

namespace stereosweep::base {

/// Throws std::logic_error "file:line: broken contract: condition (detail)".
[[noreturn]] void contract_broken(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace stereosweep::base

#define STEREOSWEEP_ASSERT(condition, detail)                                         \
  do {                                                                                \
    if (!(condition)) {                                                               \
      ::stereosweep::base::contract_broken(__FILE__, __LINE__, #condition, (detail)); \
    }                                                                                 \
  } while (false)

#ifdef NDEBUG
#define STEREOSWEEP_EXPECT(condition, detail) static_cast<void>(0)
#else
#define STEREOSWEEP_EXPECT(condition, detail) STEREOSWEEP_ASSERT(condition, detail)
#endif
