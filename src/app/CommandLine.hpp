// The commands, and one way to read their arguments: options, places (arguments without a name), --help.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/Error.hpp"

namespace stereosweep::app {

/// Without program and command name.
using Arguments = std::vector<std::string>;

/// What a command takes besides its options.
enum class Places { none, one, one_and_overrides, any };

struct CommandLine {
  boost::program_options::variables_map values;
  std::vector<std::string> places;     ///< all that has no dash
  std::string place;                   ///< the first, JOB or DIR; empty with Places::none and any
  std::vector<std::string> overrides;  ///< the others: key=value
  bool has(const std::string& option) const { return values.count(option) > 0; }
  template <class T>
  const T& get(const std::string& option) const {
    return values[option].as<T>();
  }
  /// Of an option that takes std::int64_t. Throws InputError unless it lies between these.
  std::uint64_t number(const std::string& option, std::int64_t least, std::int64_t most = INT64_MAX) const;
};

struct Command {
  std::string_view name;
  std::string_view summary;  ///< in the list of commands
  const char* usage;         ///< heads the command's own help
  base::ExitCode (*execute)(const CommandLine& line);
  Places places = Places::none;
  std::string_view what_place = {};  ///< "job", "run directory"
  void (*add_options)(boost::program_options::options_description_easy_init add) = nullptr;
};

/// Reads the arguments and executes, or prints the help that they ask for.
/// Throws InputError for unknown options, wrong values and a missing place.
base::ExitCode execute(const Command& command, const Arguments& arguments);

extern const Command run_command;
extern const Command models_command;
extern const Command parse_command;
extern const Command plan_command;
extern const Command status_command;
extern const Command query_command;
extern const Command export_command;
extern const Command replay_command;
extern const Command report_command;
extern const Command schema_command;
extern const Command show_command;
extern const Command stats_command;
extern const Command tokenize_command;
extern const Command verify_command;
extern const Command validate_command;

}  // namespace stereosweep::app
