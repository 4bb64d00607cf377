// Contracts, always checked: a broken one is a bug of this program.
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
