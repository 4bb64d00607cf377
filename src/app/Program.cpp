#include "app/Program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/Lists.hpp"
#include "base/process/Environment.hpp"
#include "base/process/FaultInjection.hpp"
#include "base/text/Text.hpp"
#include "hdf5/File.hpp"
#include "parallel/RankGuard.hpp"
#include "results/tables/TerminalTable.hpp"

namespace stereosweep::app {
namespace {

using base::ExitCode;

/// In the order of `--help`.
constexpr std::array commands = {&run_command,   &plan_command,     &status_command, &query_command,  &export_command,
                                 &show_command,  &stats_command,    &replay_command, &report_command, &tokenize_command,
                                 &parse_command, &validate_command, &models_command, &verify_command, &schema_command};

void print_help(std::ostream& out) {
  out << "Usage: stereosweep COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const auto* command : commands) {
    out << "  " << command->name << std::string(12 - command->name.size(), ' ') << command->summary << '\n';
  }
  out << "\n`stereosweep COMMAND --help` explains one command.\n"
         "Exit status: 0 done, 1 error, 2 usage or bad input, 75 stopped cleanly: resume.\n";
}

ExitCode run_one_of_all(const Arguments& arguments) {
  const auto name = arguments.empty() ? "" : arguments.front();
  if (name.empty() || name == "--help" || name == "help") {
    print_help(name.empty() ? std::cerr : std::cout);
    return name.empty() ? ExitCode::usage : ExitCode::done;
  }
  if (name == "--version") {
    std::cout << "stereosweep " << STEREOSWEEP_VERSION << '\n';
    return ExitCode::done;
  }
  const auto found = std::ranges::find(commands, name, [](const Command* command) { return command->name; });
  if (found != commands.end()) {
    return execute(**found, {arguments.begin() + 1, arguments.end()});
  }
  const auto names = base::mapped(commands, [](const auto* command) { return std::string(command->name); });
  base::refuse("unknown command '" + name + "'", "see stereosweep --help", base::did_you_mean(name, names));
}

/// Lines that could not be read or written must not look like success.
void check_streams() {
  std::cout.flush();
  base::fail_if(std::cin.bad() || std::ferror(stdin) != 0, "cannot read standard input");
  base::fail_if(!std::cout || std::ferror(stdout) != 0, "cannot write to standard output");
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

ExitCode exit_code_of_all(const Arguments& arguments) {
  hdf5::switch_off_file_locks();
  try {
    base::set_faults(base::text_from_environment("STEREOSWEEP_INJECT"));
    results::set_screen_width(
        base::terminal_columns(STDOUT_FILENO, results::widest_screen).value_or(results::widest_screen));
    const auto code = run_one_of_all(arguments);
    if (code == ExitCode::done || code == ExitCode::error) {  // others say more already
      check_streams();
    }
    return code;
  } catch (const std::exception& error) {
    std::cerr << "stereosweep: " << base::printable(base::message_of(error)) << '\n';
    return base::exit_code_of(error);
  }
}

}  // namespace

void run_program(int argc, char** argv) {
  keep_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // a file over its limit then fails with EFBIG, which is told with advice
  const parallel::RankGuard guard;
  const auto status = static_cast<int>(exit_code_of_all({argv + std::min(argc, 1), argv + argc}));
  guard.leave(status);
  std::cout.flush();
  std::quick_exit(status);  // torch would take back the registration of its operators one by one: 0.1 s
}

}  // namespace stereosweep::app
