#include <string>

#include "answers/AnswerJson.hpp"
#include "app/CommandLine.hpp"
#include "base/text/Text.hpp"

namespace stereosweep::app {
namespace {

base::ExitCode execute_parse(const CommandLine& /*line*/) {
  return answer_lines([](const std::string& line, std::string& out) { out += answers::parse_line(line); },
                      base::printable);
}

}  // namespace

const Command parse_command{
    "parse", "sampled answers -> ratings, keywords, reasons",
    "stereosweep parse: one JSON line for each of standard input. {\"kind\":\"rating\",\"text\":\"..\",\"low\":1,"
    "\"high\":5} (or \"options\":[..]), {\"kind\":\"ratings\",\"items\":[..],..}, "
    "{\"kind\":\"keywords\",\"text\":\"..\","
    "\"most\":10}, {\"kind\":\"reasons\",\"keywords\":[..],\"text\":\"..\"}; \"finished\":false: the text was cut "
    "off",
    execute_parse};

}  // namespace stereosweep::app
