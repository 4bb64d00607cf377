#include "app/ValidateCommand.hpp"

#include <filesystem>
#include <iostream>
#include <utility>
#include <vector>

#include "app/CommandLine.hpp"
#include "app/ProbeCommands.hpp"
#include "base/Error.hpp"
#include "config/JobLoader.hpp"
#include "run/ModelCheck.hpp"

namespace stereosweep::app {
namespace {

namespace options = boost::program_options;

/// Files besides the model that a run will read, by kind: "corpus" -> path.
std::vector<std::pair<std::string, std::string>> sources_of(const domain::Job& job) {
  std::vector<std::pair<std::string, std::string>> sources;
  if (const auto* contexts = std::get_if<domain::Contexts>(&job.probe)) {
    if (!contexts->is_static()) {
      for (const auto& file : contexts->contextual().corpus.files) {
        sources.emplace_back("corpus", file);
      }
    } else if (!contexts->needs_model()) {
      sources.emplace_back("file of vectors", contexts->from_table().file);
    }
  }
  return sources;
}

std::string job_summary(const domain::Job& job, const run::ModelReport& model) {
  std::string text = job.name + ": " + commands_of(job.probe_name()).summary(job);
  for (const auto& note : model.notes) {
    text += "\n  note: " + note;
  }
  for (const auto& [kind, path] : sources_of(job)) {
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
  const auto check = [&](const domain::Job& job) { return models.examine(job).faults; };
  for (const auto& job : config::load_jobs(config::read_job_file(line->place), line->overrides, check)) {
    std::cout << job_summary(job, models.examine(job)) << '\n';
  }
  return static_cast<int>(base::ExitCode::done);
}

}  // namespace stereosweep::app
