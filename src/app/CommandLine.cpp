#include "app/CommandLine.hpp"

#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <iostream>
#include <span>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

constexpr const char* places_key = "places";

/// An option that is none of the command's: a key of the job with dashes before it, or misspelt.
[[noreturn]] void refuse_option(const options::unknown_option& error, const options::options_description& visible,
                                const Arguments& arguments, Places places, std::string_view hint) {
  const auto whole = error.get_option_name();  // "--key=value" where the key holds a dash
  const auto given = whole.substr(0, whole.find('='));
  auto name = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  const auto known = base::mapped(visible.options(), [](const auto& option) { return option->long_name(); });
  const auto problem = "there is no option '" + given + "'";
  auto advice = base::did_you_mean(name, known);
  std::ranges::replace(name, '-', '_');
  const auto keys = places == Places::one_and_overrides ? config::general_keys() : std::span<const std::string>();
  const auto key =
      std::ranges::find_if(keys, [&](const std::string& full) { return full == name || full.ends_with("." + name); });
  base::refuse_if(key == keys.end(), problem, hint, advice);
  std::string value = "VALUE";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_apart =
        arguments[i] == given && i + 1 < arguments.size() && arguments[i + 1].find_first_of("=-") == std::string::npos;
    value = arguments[i].starts_with(given + "=") ? arguments[i].substr(given.size() + 1)
            : is_apart                            ? arguments[i + 1]
                                                  : value;
  }
  base::refuse(problem, "'" + *key + "' is a key of the job, and keys have no dashes",
               "Write " + *key + "=" + value + ".");
}

}  // namespace

std::uint64_t CommandLine::number(const std::string& option, std::int64_t least, std::int64_t most) const {
  const auto value = get<std::int64_t>(option);
  base::refuse_if(value < least,
                  "--" + option + (least == 0 ? " must not be negative" : " must be at least " + std::to_string(least)),
                  "it is " + std::to_string(value));
  base::refuse_if(value > most, "--" + option + " must be at most " + std::to_string(most),
                  "it is " + std::to_string(value));
  return static_cast<std::uint64_t>(value);
}

base::ExitCode execute(const Command& command, const Arguments& arguments) {
  const auto hint = "see stereosweep " + std::string(command.name) + " --help";
  options::options_description visible(command.usage);
  if (command.add_options != nullptr) {
    command.add_options(visible.add_options());
  }
  visible.add_options()("help", "print this");
  options::options_description all;
  all.add(visible).add_options()(places_key, options::value<std::vector<std::string>>());
  options::positional_options_description positional;
  if (command.places != Places::none) {
    positional.add(places_key, command.places == Places::one ? 1 : -1);
  }
  CommandLine line;
  try {
    options::store(options::command_line_parser(arguments).options(all).positional(positional).run(), line.values);
    options::notify(line.values);
  } catch (const options::unknown_option& error) {
    refuse_option(error, visible, arguments, command.places, hint);
  } catch (const options::invalid_option_value& error) {  // a text is never one
    base::refuse(error.what(), "a number is expected; " + hint);
  } catch (const options::error& error) {
    base::refuse(error.what(), hint);
  }
  if (line.has("help")) {
    std::cout << visible;
    return base::ExitCode::done;
  }
  if (line.has(places_key)) {
    line.places = line.get<std::vector<std::string>>(places_key);
  }
  if (command.places != Places::none && command.places != Places::any) {
    base::refuse_if(line.places.empty(), "no " + std::string(command.what_place) + " is named", hint);
    line.place = line.places.front();
    line.overrides.assign(line.places.begin() + 1, line.places.end());
  }
  return command.execute(line);
}

}  // namespace stereosweep::app
