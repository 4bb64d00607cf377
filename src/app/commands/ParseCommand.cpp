#include <iostream>
#include <string>

#include "answers/AnswerJson.hpp"
#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::app {
namespace {

base::ExitCode execute_parse(const CommandLine& /*line*/) {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  bool all_good = true;
  for (std::string line; std::getline(std::cin, line);) {  // ends at \n alone; a last line without one counts
    try {
      std::cout << answers::parse_line(line) << '\n';
    } catch (const base::Error& error) {
      std::cout << R"({"error":)" << base::json_quote(base::printable(error.what())) << "}\n";
      all_good = false;
    }
    if (std::cin.rdbuf()->in_avail() <= 0) {  // do not let a waiting user wait
      std::cout << std::flush;
    }
  }
  std::cout << std::flush;
  return all_good ? base::ExitCode::done : base::ExitCode::error;
}

}  // namespace

const Command parse_command{
    "parse",
    "sampled answers -> ratings, keywords, reasons",
    "stereosweep parse: one JSON line for each of standard input. {\"kind\":\"rating\",\"text\":\"..\",\"low\":1,"
    "\"high\":5} (or \"options\":[..]), {\"kind\":\"ratings\",\"items\":[..],..}, "
    "{\"kind\":\"keywords\",\"text\":\"..\","
    "\"most\":10}, {\"kind\":\"reasons\",\"keywords\":[..],\"text\":\"..\"}; \"finished\":false: the text was cut off",
    Places::none,
    "",
    [](boost::program_options::options_description_easy_init /*add*/) {},
    execute_parse};

}  // namespace stereosweep::app
