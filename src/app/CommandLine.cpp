#include "app/CommandLine.hpp"

#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

#include <iostream>

#include "base/Error.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

constexpr const char* places_key = "places";

}  // namespace

std::size_t CommandLine::positive(const std::string& option) const {
  const auto value = get<std::int64_t>(option);
  if (value < 1) {
    throw base::InputError(base::describe("--" + option + " must be at least 1", "it is " + std::to_string(value)));
  }
  return static_cast<std::size_t>(value);
}

std::optional<CommandLine> read_command_line(const Arguments& arguments, std::string_view command,
                                             options::options_description visible, Places places,
                                             std::string_view what_place) {
  visible.add_options()("help", "print this");
  const auto hint = "see stereosweep " + std::string(command) + " --help";
  options::options_description all;
  all.add(visible).add_options()(places_key, options::value<std::vector<std::string>>());
  options::positional_options_description positional;
  if (places != Places::none) {
    positional.add(places_key, places == Places::one ? 1 : -1);
  }
  CommandLine line;
  try {
    options::store(options::command_line_parser(arguments).options(all).positional(positional).run(), line.values);
    options::notify(line.values);
  } catch (const options::error& error) {
    throw base::InputError(base::describe(error.what(), hint));
  }
  if (line.has("help")) {
    std::cout << visible;
    return std::nullopt;
  }
  if (places != Places::none) {
    if (!line.has(places_key)) {
      throw base::InputError(base::describe("no " + std::string(what_place) + " is named", hint));
    }
    line.overrides = line.get<std::vector<std::string>>(places_key);
    line.place = line.overrides.front();
    line.overrides.erase(line.overrides.begin());
  }
  return line;
}

}  // namespace stereosweep::app
