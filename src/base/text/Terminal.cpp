#include "base/text/Terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "base/process/Environment.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::base {
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
  const int launcher = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (launcher < 0) {
    return std::nullopt;
  }
  const auto columns = columns_of(launcher, otherwise);
  ::close(launcher);
  return columns;
}

}  // namespace stereosweep::base
