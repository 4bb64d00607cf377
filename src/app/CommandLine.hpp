// One way to read a command's arguments: options, places (arguments without a name), --help.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/Commands.hpp"

namespace stereosweep::app {

/// What a command takes besides its options.
enum class Places { none, one, one_and_overrides };

struct CommandLine {
  boost::program_options::variables_map values;
  std::string place;                   ///< JOB or DIR; empty with Places::none
  std::vector<std::string> overrides;  ///< key=value
  bool has(const std::string& option) const { return values.count(option) > 0; }
  template <class T>
  const T& get(const std::string& option) const {
    return values[option].as<T>();
  }
  /// Of an option that takes std::int64_t. Throws InputError unless it is at least 1.
  std::size_t positive(const std::string& option) const;
};

/// The parsed line; nothing where --help was asked for, which prints `visible`.
/// Throws InputError for unknown options, wrong values and a missing place (`what_place`: "job", "run directory").
std::optional<CommandLine> read_command_line(const Arguments& arguments, std::string_view command,
                                             boost::program_options::options_description visible, Places places,
                                             std::string_view what_place = "");

}  // namespace stereosweep::app
