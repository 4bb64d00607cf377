#include "app/ValidateCommand.hpp"

#include <filesystem>
#include <iostream>
#include <utility>
#include <vector>

#include "app/CommandLine.hpp"
#include "base/Error.hpp"
#include "config/JobLoader.hpp"
#include "probes/ProbeKind.hpp"
#include "run/ModelCheck.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

std::string job_summary(const sweep::Job& job, const run::ModelReport& model) {
  std::string text = job.name + ": " + probes::kind_of(job).summary(job);
  for (const auto& note : model.notes) {
    text += "\n  note: " + note;
  }
  for (const auto& [kind, path] : probes::kind_of(job).inputs(job)) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      text += "\n  note: the " + kind + " '" + path + "' is not on this machine; run will need it";
    }
  }
  return text;
}

}  // namespace

int validate_command(const Arguments& arguments) {
  options::options_description visible(
      "stereosweep validate JOB [key=value ...]: check a job and the kind of its model;\n"
      "weights are not read. JOB is a file, or - for standard input");
  const auto line = read_command_line(arguments, "validate", visible, Places::one_and_overrides, "job");
  if (!line) {
    return static_cast<int>(base::ExitCode::done);
  }
  run::ModelCheck models;
  const auto check = [&](const sweep::Job& job) { return models.examine(job).faults; };
  for (const auto& job : config::load_jobs(config::read_job_file(line->place), line->overrides, check)) {
    std::cout << job_summary(job, models.examine(job)) << '\n';
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
