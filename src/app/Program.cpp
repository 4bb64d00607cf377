#include "app/Program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "app/Commands.hpp"
#include "base/Error.hpp"
#include "base/FaultInjection.hpp"
#include "base/Text.hpp"

namespace stereosweep::app {
namespace {

using base::ExitCode;

int print_help(std::ostream& out) {
  out << "Usage: stereosweep COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const auto& command : commands()) {
    out << "  " << command.name << std::string(12 - std::min<std::size_t>(11, command.name.size()), ' ')
        << command.summary << '\n';
  }
  out << "\n`stereosweep COMMAND --help` explains one command.\n"
         "Exit status: 0 done, 1 error, 2 usage or bad input, 75 stopped cleanly: resume.\n";
  return static_cast<int>(ExitCode::done);
}

int run_command(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name.empty() || name == "--help" || name == "help") {
    return name.empty() ? (print_help(std::cerr), static_cast<int>(ExitCode::usage)) : print_help(std::cout);
  }
  if (name == "--version") {
    std::cout << "stereosweep " << STEREOSWEEP_VERSION << '\n';
    return static_cast<int>(ExitCode::done);
  }
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    if (command.name == name) {
      return command.execute({argv + 2, argv + argc});
    }
    names.emplace_back(command.name);
  }
  throw base::InputError(
      base::describe("unknown command '" + name + "'", "see stereosweep --help", base::did_you_mean(name, names)));
}

// Lines that could not be read or written must not look like success.
int checked(int code) {
  if (code != static_cast<int>(ExitCode::done) && code != static_cast<int>(ExitCode::error)) {
    return code;  // says more already
  }
  std::cout.flush();
  if (std::cin.bad() || std::ferror(stdin) != 0) {
    throw base::Error("cannot read standard input");
  }
  if (!std::cout || std::ferror(stdout) != 0) {
    throw base::Error("cannot write to standard output");
  }
  return code;
}

/// A standard stream that was closed would be the number of the next file that is opened: messages would go into a
/// journal. Opened the wrong way round, so that using it stays an error.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) {
      ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  keep_standard_streams();
  try {
    const char* faults = std::getenv("STEREOSWEEP_INJECT");
    base::set_faults(faults == nullptr ? "" : faults);
    return checked(run_command(argc, argv));
  } catch (const base::Error& error) {
    std::cerr << "stereosweep: " << base::printable(error.what()) << '\n';
    return static_cast<int>(error.exit_code());
  } catch (const std::bad_alloc&) {
    std::cerr << "stereosweep: there is not enough memory\n";
    return static_cast<int>(ExitCode::error);
  } catch (const std::exception& error) {
    std::cerr << "stereosweep: " << base::printable(error.what()) << '\n';
    return static_cast<int>(ExitCode::error);
  }
}

}  // namespace stereosweep::app
