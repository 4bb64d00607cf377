#include "app/CommandLine.hpp"

#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <span>

#include "base/Lists.hpp"
#include "base/text/Text.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

constexpr const char* places_key = "places";

/// The next line of standard input, without its \n; a last line without one counts. Nothing behind the last, nor where
/// reading fails (std::cin is bad then). What a line holds beyond `most` bytes is passed over.
std::optional<std::string> next_line(std::size_t most) {
  constexpr auto end = std::char_traits<char>::eof();
  auto& input = *std::cin.rdbuf();
  try {
    if (input.sgetc() == end) {
      return std::nullopt;
    }
    std::string line;
    for (auto byte = input.sbumpc(); byte != end && byte != '\n'; byte = input.sbumpc()) {
      if (line.size() < most) {
        line += static_cast<char>(byte);
      }
    }
    return line;
  } catch (const std::ios_base::failure&) {
    std::cin.setstate(std::ios_base::badbit);
    return std::nullopt;
  }
}

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

base::ExitCode answer_lines(const std::function<void(std::string line, std::string& out)>& answer,
                            std::string (*readable)(std::string_view message), std::size_t most_kept) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  auto code = base::ExitCode::done;
  std::string out;
  while (auto line = next_line(most_bytes + 1)) {
    const auto start = out.size();
    try {
      base::refuse_if(line->size() > most_bytes, "a line of more than 256 MiB", "it would have to fit into memory");
      answer(std::move(*line), out);
    } catch (const base::Error& error) {
      out.resize(start);
      out += R"({"error":)" + base::json_quote(readable(error.what())) + "}";
      code = base::ExitCode::error;
    }
    out += '\n';
    if (out.size() >= most_kept || std::cin.rdbuf()->in_avail() <= 0) {  // do not let a waiting user wait
      std::cout << out << std::flush;
      out.clear();
    }
  }
  std::cout << out << std::flush;
  return code;
}

}  // namespace stereosweep::app
