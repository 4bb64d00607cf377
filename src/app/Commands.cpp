#include "app/Commands.hpp"

#include "app/ValidateCommand.hpp"

namespace stereosweep::app {

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"validate", "check a job and print its size", validate_command},
  };
  return all;
}

}  // namespace stereosweep::app
