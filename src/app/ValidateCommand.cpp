#include "app/ValidateCommand.hpp"

#include <filesystem>
#include <iostream>

#include "app/CommandLine.hpp"
#include "app/ProbeCommands.hpp"
#include "base/Error.hpp"
#include "config/JobLoader.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

std::string summary(const domain::Job& job) {
  std::string text = job.name + ": " + commands_of(job.probe_name()).summary(job);
  std::error_code error;
  if (!std::filesystem::is_directory(job.model.path, error)) {
    text += "\n  note: the model '" + job.model.path + "' is not on this machine; run will need it";
  }
  return text;
}

}  // namespace

int validate_command(const Arguments& arguments) {
  options::options_description visible("stereosweep validate JOB [key=value ...]: check a job; no model is read");
  const auto line = read_command_line(arguments, "validate", visible, Places::one_and_overrides, "job");
  if (!line) {
    return static_cast<int>(base::ExitCode::done);
  }
  for (const auto& job : config::load_jobs(line->place, line->overrides)) {
    std::cout << summary(job) << '\n';
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
