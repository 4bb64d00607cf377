#include "base/process/Environment.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

#include "base/Error.hpp"
#include "base/files/File.hpp"
#include "base/files/Listing.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {

std::string text_from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double seconds_from_environment(const char* name, double otherwise) {
  const auto text = text_from_environment(name);
  if (text.empty()) {
    return otherwise;
  }
  const auto seconds = base::parse_double(text);
  base::refuse_if(!seconds || *seconds <= 0, std::string(name) + "=" + text, "it must be a positive number of seconds");
  return std::min(*seconds, static_cast<double>(longest_wait_s));
}

bool is_requeued() { return base::parse_integer(text_from_environment("SLURM_RESTART_COUNT")).value_or(0) > 0; }

std::string granted_gpus() {
  // The first two list numbers of GPUs, so that 0 is one; the others count them.
  constexpr std::array names = {"SLURM_JOB_GPUS",       "SLURM_STEP_GPUS",     "SLURM_GPUS",
                                "SLURM_GPUS_ON_NODE",   "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK",
                                "SLURM_GPUS_PER_SOCKET"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto value = text_from_environment(names[i]); !value.empty() && (i < 2 || value != "0")) {
      return std::string(names[i]) + "=" + value;
    }
  }
  return "";
}

std::string utc_now() {
  std::array<char, 32> text{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::filesystem::path python_of_build() {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path().parent_path() / "python";
}

std::string own_python() {
  const auto named = text_from_environment("STEREOSWEEP_PYTHON");
  const auto python = python_of_build();
  const bool can_start = is_file(python) && ::access(python.c_str(), X_OK) == 0;
  return named.empty() && can_start ? python.string() : named;
}

namespace {

std::optional<std::size_t> columns_of(int descriptor, std::size_t otherwise) {
  if (::isatty(descriptor) != 1) {
    return std::nullopt;
  }
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const auto columns = parse_integer(text_from_environment("COLUMNS")).value_or(0);
  return columns > 0 ? static_cast<std::size_t>(columns) : otherwise;
}

}  // namespace

std::optional<std::size_t> terminal_columns(int stream, std::size_t otherwise) {
  if (text_from_environment("OMPI_COMM_WORLD_SIZE").empty()) {
    return columns_of(stream, otherwise);
  }
  // Ranks have pipes, and a pseudo terminal for standard output even where mpirun's own goes to a file.
  const auto path = "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(stream);
  return columns_of(*open_descriptor(path, O_WRONLY | O_NOCTTY | O_NONBLOCK), otherwise);
}

}  // namespace stereosweep::base
