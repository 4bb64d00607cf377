#include "app/Commands.hpp"

namespace stereosweep::app {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {};
  return all;
}

}  // namespace stereosweep::app
