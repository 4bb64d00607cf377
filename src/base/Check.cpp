#include "base/Check.hpp"

#include <stdexcept>

namespace stereosweep::base {

void contract_broken(const char* file, int line, const char* condition, const std::string& detail) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": broken contract: " + condition + " (" +
                         detail + ")");
}

}  // namespace stereosweep::base
