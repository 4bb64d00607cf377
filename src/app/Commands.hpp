// The sub-commands. Each takes its own arguments (without program and command name) and returns the exit status.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stereosweep::app {

using Arguments = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*execute)(const Arguments& arguments);
};

/// All commands, in the order of `--help`.
const std::vector<Command>& commands();

}  // namespace stereosweep::app
