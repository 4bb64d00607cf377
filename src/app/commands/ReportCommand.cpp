#include <boost/program_options/value_semantic.hpp>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ResultPath.hpp"
#include "base/Error.hpp"
#include "base/process/Environment.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;
constexpr const char* package_command = "stereosweep-analysis";

/// How the analysis package is started: by the program's own Python, else by the command of an installed package.
Arguments package_start() {
  const auto python = base::own_python();
  return python.empty() ? Arguments{package_command} : Arguments{python, "-m", "stereosweep_analysis"};
}

void add_report_options(options::options_description_easy_init add) {
  add("out", options::value<std::string>(), "default: report.html in the first directory");
}

base::ExitCode execute_report(const CommandLine& line) {
  const auto& places = line.places;
  for (const auto& place : places) {
    if (runs_in(place).empty()) {
      find_result(place);  // which says what is wrong with it
    }
  }
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  auto words = package_start();
  words.emplace_back("report");
  if (line.has("out")) {
    words.push_back("--out=" + line.get<std::string>("out"));
  } else if (places.size() == 1 && !std::filesystem::exists(places.front())) {  // the name of a sweep
    words.push_back("--out=" + beside_runs(places, "report.html").string());
  }
  words.emplace_back("--");
  words.insert(words.end(), places.begin(), places.end());  // a folder of runs stays one: its page compares them
  ::setenv("STEREOSWEEP_PROGRAM", program.c_str(), 1);      // it computes statistics that are missing
  std::vector<char*> arguments;
  for (auto& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  const int reason = errno;
  base::refuse_if(words.front() == package_command && reason == ENOENT, "the report cannot be written",
                  "it is made by the Python package in 'analysis', and there is no STEREOSWEEP_PYTHON, no '" +
                      base::python_of_build().string() + "' and no " + package_command + " on the path",
                  "Run env/setup.sh, or install the package with 'pip install ./analysis'.");
  throw base::Error("'" + words.front() + "' cannot be started: " + std::strerror(reason));
}

}  // namespace

const Command report_command{"report",
                             "one HTML file: what was asked, of what, and what was found",
                             "stereosweep report DIR... [--out FILE.html]: write a page about one or several runs that "
                             "needs no network.\nStatistics that are missing are computed first. The Python package in "
                             "'analysis' writes it: that of\n$STEREOSWEEP_PYTHON, else of build/python, else "
                             "stereosweep-analysis on the path",
                             execute_report,
                             Places::one_and_overrides,
                             "run directory",
                             add_report_options};

}  // namespace stereosweep::app
