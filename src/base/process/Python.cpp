#include "base/process/Python.hpp"

#include <unistd.h>

#include "base/process/Environment.hpp"

namespace stereosweep::base {

bool can_be_run(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::filesystem::path python_of_build() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path().parent_path() / "python";
}

std::string own_python() {
  const auto named = text_from_environment("STEREOSWEEP_PYTHON");
  const auto python = python_of_build();
  return named.empty() && can_be_run(python) ? python.string() : named;
}

}  // namespace stereosweep::base
